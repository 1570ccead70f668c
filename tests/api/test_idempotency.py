"""Idempotency-Key on requests that open their own transactions; those of one transaction are in the notes' and tokens' tests."""

import asyncio

from tests.client import Client
from tests.people import Company


def _draft(company: Company, name: str) -> dict[str, object]:
    slug = f"{name}-{company.org.id.hex[-8:]}"
    return {"name": name, "slug": slug, "owner": {"username": f"{slug}-owner"}}


async def test_founding_a_company_twice_with_one_key_founds_it_once(operator: Client, company: Company) -> None:
    draft, once = _draft(company, "once"), {"idempotency-key": f"found-{company.org.id}"}

    first = await operator.post("/api/orgs", draft, headers=once)
    again = await operator.post("/api/orgs", draft, headers=once)

    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    assert again.headers["idempotent-replay"] == "true"


async def test_the_key_belongs_to_its_first_request(operator: Client, company: Company) -> None:
    once = {"idempotency-key": f"other-{company.org.id}"}
    await operator.post("/api/orgs", _draft(company, "one"), headers=once)

    other = await operator.post("/api/orgs", _draft(company, "two"), headers=once)

    assert (other.status, other.code) == (409, "idempotency.reused")


async def test_a_refused_request_gives_its_key_back(operator: Client, company: Company) -> None:
    once = {"idempotency-key": f"refused-{company.org.id}"}
    taken = {**_draft(company, "taken"), "slug": company.org.slug}
    assert (await operator.post("/api/orgs", taken, headers=once)).status == 409

    corrected = await operator.post("/api/orgs", _draft(company, "corrected"), headers=once)

    assert corrected.status == 201


async def test_of_twenty_at_once_one_works_and_nobody_hears_something_else(operator: Client, company: Company) -> None:
    draft, once = _draft(company, "crowd"), {"idempotency-key": f"crowd-{company.org.id}"}

    answers = await asyncio.gather(*(operator.post("/api/orgs", draft, headers=once) for _ in range(20)))

    made = [answer for answer in answers if answer.status == 201]
    assert made
    assert {answer.code for answer in answers if answer.status != 201} <= {"idempotency.unfinished"}
    assert {answer.raw for answer in made} == {made[0].raw}
    assert [answer.headers.get("idempotent-replay") for answer in made].count(None) == 1

"""Idempotency-Key on requests that open their own transactions; those of one transaction are in the notes' and tokens' tests."""

import asyncio

from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company


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


async def test_a_key_whose_request_died_is_the_same_requests_again(alice: Client, company: Company) -> None:
    ask, once = {"prompt": "three plain words"}, {"idempotency-key": f"died-{company.org.id}"}
    await alice.post("/api/ai/echo", ask, headers=once)
    await _as_if_it_had_died(company, once, "298 seconds")
    waiting = await alice.post("/api/ai/echo", ask, headers=once)
    await _as_if_it_had_died(company, once, "301 seconds")
    other = await alice.post("/api/ai/echo", {"prompt": "others"}, headers=once)

    again = await alice.post("/api/ai/echo", ask, headers=once)

    assert (waiting.status, waiting.code) == (409, "idempotency.unfinished")
    assert waiting.headers["retry-after"] in ("1", "2")
    assert (other.status, other.code) == (409, "idempotency.reused")
    assert again.status == 200
    assert "idempotent-replay" not in again.headers


async def _as_if_it_had_died(company: Company, once: dict[str, str], ago: str) -> None:
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE idempotency_keys SET reply_sealed = NULL, created_at = now() - $2::text::interval WHERE key = $1",
        once["idempotency-key"],
        ago,
    )

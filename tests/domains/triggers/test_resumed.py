"""Going on with a run that a trigger fired: it stays bound, and sends elsewhere only what may be sent now."""

from typing import Any
from uuid import UUID

from tests.domains.triggers.flows import arm, done, publish, upload
from tests.domains.triggers.test_firing import runs_of
from tests.support.client import Client
from tests.support.people import Company


async def cancelled(company: Company, writer: Client, trigger: Any, visibility: str = "private") -> Any:
    """A run that an upload fired, and that was cancelled before it began."""
    await upload(writer, "a.txt", visibility=visibility)
    run = (await runs_of(company, trigger))[-1]
    await done(writer.post(f"/api/runs/{run['id']}/cancel"))
    return run


async def resume(person: Client, run: Any, **more: Any) -> None:
    await done(
        person.post(f"/api/workflows/{run['slug']}/run", {"resume": {"run_id": str(run["id"]), "step": "count"}} | more)
    )


async def test_a_resumed_run_is_bound_as_the_fired_one_was(company: Company, admin: Client) -> None:
    maker, mia = await company.join("admin"), await company.join("member")
    trigger = await arm(maker, await publish(admin))
    run = await cancelled(company, mia, trigger)

    await resume(mia, run)

    [before, after] = await runs_of(company, trigger)
    bound = ("bound_to", "fired_by", "egress", "trigger_id", "ancestry", "depth")
    assert [after[name] for name in bound] == [before[name] for name in bound]
    assert after["bound_to"] == sorted([UUID(maker.user_id), UUID(admin.user_id)])


async def test_whoever_resumes_a_run_takes_the_writers_place(company: Company, admin: Client) -> None:
    maker, mia = await company.join("admin"), await company.join("member")
    trigger = await arm(maker, await publish(admin))
    run = await cancelled(company, mia, trigger, "team")

    await resume(maker, run)

    after = (await runs_of(company, trigger))[-1]
    assert (after["user_id"], after["bound_to"]) == (UUID(maker.user_id), [UUID(admin.user_id)])


async def test_a_run_that_is_resumed_on_another_version_is_bound_by_who_published_that_too(
    company: Company, admin: Client
) -> None:
    other, mia = await company.join("admin"), await company.join("member")
    slug = await publish(admin)
    trigger = await arm(admin, slug)
    run = await cancelled(company, mia, trigger)
    await publish(other, slug)

    await resume(mia, run, version=2)

    after = (await runs_of(company, trigger))[-1]
    assert (after["version"], after["bound_to"]) == (2, sorted([UUID(admin.user_id), UUID(other.user_id)]))


async def test_a_resumed_run_sends_elsewhere_what_may_be_sent_now(company: Company, admin: Client) -> None:
    trigger, at = await arm(admin, await publish(admin), allow_egress=True), "/api/doc-triggers"
    run = await cancelled(company, admin, trigger)

    await resume(admin, run)
    await done(admin.patch(f"{at}/{trigger['id']}", {"allow_egress": False}))
    await resume(admin, run)
    await done(admin.patch(f"{at}/{trigger['id']}", {"allow_egress": True}))
    await resume(admin, run)
    await publish(admin, run["slug"])
    await resume(admin, run, version=2)

    # The second one was under way when the word was taken back.
    assert [one["egress"] for one in await runs_of(company, trigger)] == [True, False, False, True, False]


async def test_a_run_that_a_person_started_is_resumed_unbound(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    started = await done(admin.post(f"/api/workflows/{slug}/run", {"input": {}}))
    await done(admin.post(f"/api/runs/{started['id']}/cancel"))

    again = await done(admin.post(f"/api/workflows/{slug}/run", {"resume": {"run_id": started["id"], "step": "count"}}))

    assert (again["trigger_id"], again["resumed_from"]["run_id"]) == (None, started["id"])


async def test_another_persons_version_is_resumed_on_once_it_was_looked_at(company: Company, admin: Client) -> None:
    other, mia = await company.join("admin"), await company.join("member")
    slug = await publish(admin)
    run = await cancelled(company, mia, await arm(admin, slug))
    looked = (await mia.get(f"/api/workflows/{slug}"))["digest"]
    await publish(other, slug)
    newest = (await mia.get(f"/api/workflows/{slug}"))["digest"]
    body = {"version": 2, "resume": {"run_id": str(run["id"]), "step": "count"}}

    refused = await mia.post(f"/api/workflows/{slug}/run", {**body, "accept": looked})
    resumed = await mia.post(f"/api/workflows/{slug}/run", {**body, "accept": newest})

    assert (refused.status, refused.code, resumed.status) == (409, "workflows.review", 202)
    assert (await mia.get(f"/api/workflows/{slug}"))["accepted"] is True

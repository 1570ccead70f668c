"""What a version starts, as whom, and why not; the upload itself never fails because of a trigger."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from atrium.boot.wiring import DOMAINS
from atrium.engine.repository import writes
from atrium.engine.repository.model import DerivationSource, ObjectDraft, ObjectWritten, Provenance
from atrium.engine.workflows import service as workflows
from atrium.ground.identity import service as identity
from atrium.kit.errors import Conflict
from atrium.kit.ids import new_id
from atrium.product.triggers import fire_rows, fires
from atrium.seams.context import Context, HoldLevel, Operation, RunStep
from atrium.seams.wiring import Domain, Listener
from tests.domains.triggers.flows import arm, done, history, outcomes, publish, upload
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

OPTIONAL_ID = {"object_id": {"type": "string", "optional": True}}


async def runs_of(company: Company, trigger: Any) -> list[Any]:
    return await sql(company, "SELECT * FROM runs WHERE trigger_id = $1 ORDER BY id", UUID(trigger["id"]))


async def sql(company: Company, statement: str, *values: object) -> list[Any]:
    rows: list[Any] = await run_as_owner(company.house.services.settings.database_url, statement, *values)
    return rows


async def acting(company: Company, person: Client, **who: Any) -> Operation:
    """What a route that writes gives to the domains, for this person."""
    house = company.house
    async with house.services.database.begin(UUID(person.org_id)) as db:
        found = (await identity.list_principals(db, UUID(person.org_id), [UUID(person.user_id)]))[UUID(person.user_id)]
    return Operation(who=msgspec.structs.replace(found, **who), services=house.services, holding=HoldLevel.WRITING)


async def test_a_version_starts_a_run_with_what_the_trigger_gives(
    company: Company, admin: Client, alice: Client
) -> None:
    declared = {name: {"type": "string"} for name in ("object_id", "key", "version", "name", "type")} | {
        "more": {"type": "array"}
    }
    given = {
        "key": {"$": "object.key"},
        "version": {"$": "object.version_id"},
        "name": {"$": "object.filename"},
        "type": {"$": "object.content_type"},
        "more": [1, {"id": {"$": "object.id"}}],
    }
    trigger = await arm(admin, await publish(admin, inputs=declared), input=given)

    written = await upload(alice, "in/a.txt", filename="b.txt")

    [run] = await runs_of(company, trigger)
    assert (str(run["user_id"]), run["slug"], run["depth"]) == (alice.user_id, trigger["workflow_slug"], 0)
    assert json.loads(run["input"]) == {
        "object_id": written["id"],
        "key": "in/a.txt",
        "version": written["version"]["id"],
        "name": "b.txt",
        "type": "text/plain",
        "more": [1, {"id": written["id"]}],
    }
    [fire] = await history(alice, trigger)
    shown = await alice.get(f"/api/runs/{run['id']}")
    assert fire.pop("standing") == {name: shown[name] for name in ("outcome", "failed_items", "waiting")}
    assert fire | {"id": "", "at": ""} == {
        "id": "",
        "at": "",
        "object_id": written["id"],
        "key": "in/a.txt",
        "version": {"id": written["version"]["id"], "number": 1},
        "outcome": "fired",
        "reason": None,
        "run_id": str(run["id"]),
        "run_state": "running",
        "by": {"user_id": alice.user_id, "username": alice.username},
    }


async def test_an_object_id_that_is_given_is_not_replaced(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin, inputs=OPTIONAL_ID), input={"object_id": "another"})

    await upload(admin, "a.txt")

    [run] = await runs_of(company, trigger)
    assert run["input"] == '{"object_id": "another"}'


async def test_a_run_acts_within_the_scope_of_the_credential_that_wrote(company: Company, admin: Client) -> None:
    scope = ["files:write", "workflows:run"]
    narrow = await company.join("member", scope=scope)
    trigger = await arm(admin, await publish(admin))

    await upload(narrow, "a.txt")

    [job] = await sql(
        company,
        "SELECT j.scope, j.user_id FROM jobs j WHERE j.team_id = $1 AND kind = 'workflows.step'",
        company.team.id,
    )
    assert (sorted(job["scope"]), str(job["user_id"])) == (scope, narrow.user_id)
    assert await outcomes(admin, trigger) == ["fired"]


async def test_each_version_fires_and_each_trigger_by_itself(company: Company, admin: Client) -> None:
    triggers = [await arm(admin, await publish(admin), name=str(n)) for n in range(3)]

    for _ in range(2):
        await upload(admin, "a.txt")

    histories = [await history(admin, trigger) for trigger in triggers]
    assert [[fire["version"]["number"] for fire in fires] for fires in histories] == [[2, 1]] * 3
    assert len({fire["run_id"] for fires in histories for fire in fires}) == 6


async def test_reasons_of_the_writer(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    narrow = await company.join("member", scope=["files:write", "files:read"])
    await upload(narrow, "a.txt")
    await done(admin.post("/api/features/workflows", {"enabled": False}))
    await upload(await company.join("member"), "b.txt")
    await done(admin.post("/api/features/workflows", {"enabled": True}))
    op = await acting(company, admin, suspended="org", credential="")
    async with op.begin(held=False) as ctx:
        await writes.write_small(ctx, ObjectDraft(key="c.txt", content_type="text/plain"), b"x")

    assert await outcomes(admin, trigger) == ["suspended", "feature_off", "no_permission"]
    assert await runs_of(company, trigger) == []


async def test_a_person_of_another_team_starts_nothing_here(company: Company, admin: Client) -> None:
    guest = await company.join("admin", team=await company.add_team())
    own = await arm(guest, await publish(guest))
    document = await done(admin.post("/api/documents", {"title": "Shared", "body": "x", "visibility": "shared"}))
    trigger = await arm(admin, await publish(admin))
    share = {"principal_type": "user", "principal_id": guest.user_id, "capability": "edit"}
    await done(admin.post(f"/api/repo-obj/{document['id']}/share", share))

    await done(guest.put(f"/api/documents/{document['id']}", {"body": "changed"}))

    assert await outcomes(admin, trigger) == ["no_permission"]
    assert await history(guest, own) == []


async def test_a_disabled_trigger_says_so(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin), enabled=False)

    await upload(admin, "a.txt")

    assert await outcomes(admin, trigger) == ["disabled"]


async def test_a_workflow_that_asks_for_more_than_before_refuses(admin: Client) -> None:
    slug = await publish(admin)
    trigger = await arm(admin, slug)
    await publish(admin, slug, {"reason": {"type": "string"}})

    await upload(admin, "a.txt")

    assert await outcomes(admin, trigger) == ["bad_input"]


async def test_a_workflow_that_is_gone_is_missed(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    trigger = await arm(admin, slug)
    await sql(company, "DELETE FROM workflows WHERE team_id = $1 AND slug = $2", company.team.id, slug)

    await upload(admin, "a.txt")

    assert await outcomes(admin, trigger) == ["workflow_missing"]


async def test_a_team_with_too_many_runs_starts_no_more(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = await arm(admin, await publish(admin))
    monkeypatch.setattr(workflows, "MOST_OPEN", 0)

    await upload(admin, "a.txt")

    assert await outcomes(admin, trigger) == ["too_many"]


async def test_one_version_starts_so_many_runs_and_no_more(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    slug = await publish(admin)
    off, *triggers = [await arm(admin, slug, enabled=n > 0) for n in range(4)]
    monkeypatch.setattr(fires, "MOST_AT_ONCE", 2)

    await upload(admin, "a.txt")

    assert [await outcomes(admin, one) for one in (off, *triggers)] == [
        ["disabled"],
        ["fired"],
        ["fired"],
        ["too_many"],
    ]


async def test_a_derived_version_fires_where_the_trigger_asks_for_it(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    quiet, loud = await arm(admin, slug, match_prefix="made/"), await arm(admin, slug, fire_on_derived=True)
    source = await upload(admin, "a.txt")
    made_from = Provenance((DerivationSource(UUID(source["id"]), UUID(source["version"]["id"])),))

    async with (await acting(company, admin)).begin(held=False) as ctx:
        draft = ObjectDraft(key="made/a.txt", content_type="text/plain")
        await writes.write_small(ctx, draft, b"x", provenance=made_from)

    assert (await outcomes(admin, quiet), await outcomes(admin, loud)) == (["derived"], ["fired", "fired"])


async def write_in_run(company: Company, admin: Client, run_id: UUID, key: str) -> None:
    """What a step of this run writes."""
    op = await acting(company, admin)
    op.step = RunStep(run_id=run_id, name="write", index=None)
    async with op.begin(held=False) as ctx:
        await writes.write_small(ctx, ObjectDraft(key=key, content_type="text/plain"), b"x")


async def test_what_a_run_writes_never_fires_a_trigger_that_it_descends_from(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    first, second = [await arm(admin, slug, match_prefix=prefix, fire_on_derived=True) for prefix in ("a", "b")]
    await upload(admin, "a1")
    [run] = await runs_of(company, first)

    await write_in_run(company, admin, run["id"], "a2")
    await write_in_run(company, admin, run["id"], "b1")
    [below] = await runs_of(company, second)
    await write_in_run(company, admin, below["id"], "a3")
    await write_in_run(company, admin, below["id"], "b2")

    assert [str(one) for one in below["ancestry"]] == [first["id"], second["id"]]
    assert (below["depth"], below["trigger_id"]) == (1, UUID(second["id"]))
    assert (await outcomes(admin, first), await outcomes(admin, second)) == (
        ["loop", "loop", "fired"],
        ["loop", "fired"],
    )


async def test_nothing_fires_below_the_depth_of_the_setting(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    chain = [await arm(admin, slug, match_prefix=f"{n}/", fire_on_derived=True) for n in range(8)]
    await upload(admin, "0/x")

    for n in range(7):
        runs = await runs_of(company, chain[n])
        if not runs:
            break
        await write_in_run(company, admin, runs[0]["id"], f"{n + 1}/x")

    assert [await outcomes(admin, one) for one in chain] == [["fired"]] * 6 + [["depth"], []]


async def test_the_same_object_fires_the_same_trigger_twenty_times_in_ten_minutes(
    company: Company, admin: Client
) -> None:
    slug = await publish(admin)
    trigger, other = await arm(admin, slug), await arm(admin, slug, match_prefix="a")
    bob = await company.join("member")
    await upload(admin, "a.txt", visibility="team")
    for writer in [admin, bob] * 11:
        await upload(writer, "a.txt")
    await upload(admin, "b.txt")

    before = await outcomes(admin, trigger)
    await sql(
        company, "UPDATE trigger_fires SET at = at - interval '10 minutes' WHERE trigger_id = $1", UUID(trigger["id"])
    )
    await upload(admin, "a.txt")

    assert before == ["fired"] + ["storm"] * 3 + ["fired"] * 20
    assert (await outcomes(admin, trigger))[0] == "fired"
    assert (await outcomes(admin, other)).count("fired") == 20


async def test_a_storm_is_counted_right_when_all_write_at_once(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await upload(admin, "a.txt")

    await asyncio.gather(*(upload(admin, "a.txt", str(n).encode()) for n in range(40)))

    found = await outcomes(admin, trigger)
    assert (found.count("fired"), found.count("storm"), len(found)) == (20, 21, 41)


Failing = Callable[..., Awaitable[UUID]]


async def _raise(ctx: Context, *_: object, **__: object) -> UUID:
    raise RuntimeError("a defect")


async def _break_the_transaction(ctx: Context, *_: object, **__: object) -> UUID:
    await fire_rows.list_fires(ctx.db, ctx.who.org_id, new_id(), None, -1)
    return new_id()


@pytest.mark.parametrize("failing", [_raise, _break_the_transaction])
async def test_a_defect_of_ours_is_logged_and_the_upload_stands(
    company: Company,
    admin: Client,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failing: Failing,
) -> None:
    slug = await publish(admin)
    broken = await arm(admin, slug, match_prefix="a")
    monkeypatch.setattr(workflows, "start_run", failing)

    written = await upload(admin, "a.txt")

    monkeypatch.undo()
    assert (await admin.get(f"/api/repo-obj/{written['id']}")).status == 200
    assert (await outcomes(admin, broken), await runs_of(company, broken)) == ([], [])
    assert "trigger.failed" in "".join(capsys.readouterr())


async def test_a_deadlock_costs_no_fire(company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger, start_run = await arm(admin, await publish(admin)), workflows.start_run
    met: list[UUID] = []

    async def sometimes(ctx: Context, *given: Any, **named: Any) -> UUID:
        run_id = await start_run(ctx, *given, **named)
        if not met:
            met.append(run_id)
            raise asyncpg.DeadlockDetectedError("deadlock detected")
        return run_id

    monkeypatch.setattr(workflows, "start_run", sometimes)
    await upload(admin, "a.txt")

    [run] = await runs_of(company, trigger)
    assert await outcomes(admin, trigger) == ["fired"]
    assert met not in ([], [run["id"]])


async def test_one_trigger_that_fails_leaves_the_others(
    company: Company, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await publish(admin), await publish(admin)
    before, failing, after = [await arm(admin, slug) for slug in (good, bad, good)]
    start_run = workflows.start_run

    async def broken(ctx: Context, slug: str, *given: Any, **named: Any) -> UUID:
        run_id = await start_run(ctx, slug, *given, **named)
        if slug == bad:
            raise RuntimeError("a defect")
        return run_id

    monkeypatch.setattr(workflows, "start_run", broken)
    await upload(admin, "a.txt")

    assert [await outcomes(admin, one) for one in (before, failing, after)] == [["fired"], [], ["fired"]]
    assert [len(await runs_of(company, one)) for one in (before, failing, after)] == [1, 0, 1]


async def test_a_version_announced_twice_fires_once(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    op = await acting(company, admin)

    async with op.begin(held=False) as ctx:
        written = await writes.write_small(ctx, ObjectDraft(key="a.bin", content_type="image/x-any"), b"x")
        await ctx.announce(ObjectWritten(written, written.version, derived=False))

    assert (await outcomes(admin, trigger), len(await runs_of(company, trigger))) == (["fired"], 1)


async def test_version_fire_and_run_commit_together_or_not_at_all(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Another listener refuses after the trigger has fired."""

    async def refuse(ctx: Context, event: ObjectWritten) -> None:
        if event.object.key == "refused.txt":
            raise Conflict("something goes wrong later in the transaction")

    last = Domain("last", listeners=(Listener(ObjectWritten, refuse),))
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("together"))
        async with open_application(settings, domains=(*map(replace, DOMAINS), last)) as house:
            company = await found_company(house)
            admin = await company.join("admin")
            trigger = await arm(admin, await publish(admin))

            refused = await admin.put("/api/repo/refused.txt", b"x")
            await upload(admin, "kept.txt")

            assert refused.status == 409
            assert [fire["key"] for fire in await history(admin, trigger)] == ["kept.txt"]
            assert len(await runs_of(company, trigger)) == 1
            assert (await admin.get("/api/repo", prefix="refused"))["items"] == []


async def test_deleting_a_trigger_while_versions_are_written_loses_neither(company: Company, admin: Client) -> None:
    slug = await publish(admin)
    for _ in range(5):
        trigger = await arm(admin, slug)
        uploads = [upload(admin, f"{n}.txt") for n in range(4)]
        answers = await asyncio.gather(*uploads, admin.delete(f"/api/doc-triggers/{trigger['id']}"))

        assert answers[-1].status == 200
        left = await sql(company, "SELECT FROM trigger_fires WHERE trigger_id = $1", UUID(trigger["id"]))
        assert left == []

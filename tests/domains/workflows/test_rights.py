"""What a run may do and who sees what it did: rights of now, no further than the credential of then, values only for who may."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.jobs import service as jobs
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand, job_of
from tests.domains.workflows.test_runs import notes_called
from tests.support.client import Client
from tests.support.patience import PATIENCE

SEND = spec_of(tool("send", "send", {"value": "mail"}), tool("after", "echo"))


async def run_of(person: Client, slug: str = "probe", **body: Any) -> UUID:
    reply = await person.post(f"/api/workflows/{slug}/run", body)
    assert reply.status == 202, reply.body
    return UUID(reply["id"])


async def begun_sending(engine: Engine, starter: Starter, **step: Any) -> tuple[UUID, Hand, "asyncio.Task[Any]"]:
    await starter.publish(spec_of({**SEND["steps"][0], **step}, SEND["steps"][1]))
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    sending = asyncio.create_task(hand.perform(attempt))
    async with asyncio.timeout(PATIENCE):
        while "mail" not in probes.CALLS:
            await asyncio.sleep(0.01)
    return id, hand, sending


@pytest.mark.parametrize("lost", ["its lease ran out", "its server handed it back"])
async def test_an_effect_elsewhere_whose_end_was_not_seen_is_not_repeated(
    engine: Engine, starter: Starter, lost: str
) -> None:
    id, hand, sending = await begun_sending(engine, starter)
    sending.cancel()
    await _lose(engine, id, lost)
    await hand.work()
    run = await starter.read(id)

    assert probes.CALLS == ["mail"]
    assert (run["state"], run["error"]["code"], run["error"]["step"]) == ("failed", "jobs.lapsed", "send")
    assert "may have happened" in run["error"]["message"]
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("lost", ["its lease ran out", "its server handed it back"])
async def test_it_is_repeated_where_the_step_says_so(engine: Engine, starter: Starter, lost: str) -> None:
    id, hand, sending = await begun_sending(engine, starter, retry=1)
    sending.cancel()
    await _lose(engine, id, lost)
    probes.GATES["mail"].set()
    await hand.work()

    assert probes.CALLS == ["mail", "mail"]
    assert (await starter.read(id))["state"] == "succeeded"


async def test_it_is_repeated_when_the_run_is_resumed_there(engine: Engine, starter: Starter) -> None:
    id, hand, sending = await begun_sending(engine, starter)
    sending.cancel()
    await _lose(engine, id, "its lease ran out")
    await hand.work()
    again = await starter.start("probe", resume={"run_id": str(id), "step": "send"})
    probes.GATES["mail"].set()
    await hand.work()

    assert (await starter.read(again))["state"] == "succeeded"
    assert probes.CALLS == ["mail", "mail"]


async def _lose(engine: Engine, id: UUID, how: str) -> None:
    if how == "its lease ran out":
        await engine.expire()
        await jobs.sweep(engine.server.services)
        return
    # As a stopping server reports it: uncounted.
    from atrium.engine.jobs import remote

    rows = await engine.sql("SELECT worker FROM jobs WHERE state = 'running'")
    for row in rows:
        assert await remote.return_held(engine.server.services, row[0]) == 1


TWO_WRITES = spec_of(tool("first", "write", {"value": "one"}), tool("second", "write", {"value": "two"}))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("role", "access.denied"),
        ("tool", "tools.disabled"),
        ("feature", "features.off"),
    ],
)
async def test_what_a_person_may_no_longer_do_fails_the_step_and_is_not_tried_again(
    engine: Engine, starter: Starter, change: str, code: str
) -> None:
    second = {**TWO_WRITES["steps"][1], "retry": 3}
    await starter.publish({**TWO_WRITES, "steps": [TWO_WRITES["steps"][0], second]})
    person = await starter.company.join("member")
    id = await run_of(person)
    hand = Hand(engine)
    [attempt] = await hand.claim()
    await hand.do(attempt)
    owner = await starter.company.join("owner", org_role="org_owner")
    try:
        if change == "role":
            reply = await owner.patch(f"/api/members/{person.user_id}", {"role": "viewer"})
        elif change == "tool":
            reply = await owner.post("/api/tools/probe_write", {"enabled": False})
        else:
            reply = await owner.post("/api/features/workflows", {"enabled": False})
        assert reply.status == 200, reply.raw
        attempts = await hand.work()
    finally:
        if change == "feature":
            await owner.post("/api/features/workflows", {"enabled": True})
        await owner.post("/api/tools/probe_write", {"enabled": True})
    run = await starter.read(id)

    assert attempts == 1
    assert (run["state"], run["error"]["step"]) == ("failed", "second")
    assert run["error"]["code"] == code
    assert await notes_called(starter, "two") == 0
    assert await engine.broken_promises() == []


async def test_a_handed_on_step_has_the_rights_of_now_too(engine: Engine, starter: Starter) -> None:
    await starter.publish(TWO_WRITES)
    person = await starter.company.join("member")
    id = await run_of(person)
    hand = Hand(engine)
    [attempt] = await hand.claim()
    report = await hand.perform(attempt)
    owner = await starter.company.join("owner", org_role="org_owner")
    await owner.patch(f"/api/members/{person.user_id}", {"role": "viewer"})
    _, following = await hand.settle(report, take=True)
    assert following is not None
    await hand.do(following)

    assert (await starter.read(id))["error"]["code"] == "access.denied"
    assert await notes_called(starter, "two") == 0


async def test_a_tokens_scope_holds_in_every_later_step(engine: Engine, starter: Starter) -> None:
    await starter.publish(
        spec_of(
            tool("first", "echo"),
            {"name": "which", "kind": "choice", "when": {"equals": [1, 1]}, "then": "second", "else": "second"},
            tool("second", "echo"),
            tool("third", "write", {"value": "out of scope"}),
        )
    )
    person = await starter.company.join("member", scope=["workflows:run", "workflows:read", "notes:read"])
    id = await run_of(person)
    await Hand(engine).work()
    run = await starter.read(id)

    assert [step["state"] for step in run["steps"]] == ["succeeded"] * 3 + ["failed"]
    assert run["error"]["code"] == "access.denied"
    assert await notes_called(starter, "out of scope") == 0
    scopes = await engine.sql("SELECT DISTINCT scope FROM jobs")
    assert [sorted(row[0]) for row in scopes] == [["notes:read", "workflows:read", "workflows:run"]]


SECRET = "the words that only its starter knows"


async def secret_run(engine: Engine, starter: Starter, person: Client, value: str) -> dict[str, Any]:
    await starter.publish(
        spec_of(
            tool("first", "echo", {"value": ref("input.value")}),
            {"name": "each", "kind": "map", "over": [ref("input.value")], "tool": "probe_echo", "with": {"value": ref("item")}},
            inputs={"value": {"type": "string"}},
            output={"all": ref("steps.each.output.results", default=[])},
        )
    )  # fmt: skip
    id = await run_of(person, input={"value": value})
    await Hand(engine).work()
    reply = await person.get(f"/api/runs/{id}")
    assert (reply["state"], reply["redacted"]) == ("succeeded", False)
    assert reply["output"]["all"][0]["result"] == value
    return dict(reply.body)


async def seen_of(reader: Client, run: dict[str, Any]) -> tuple[str, bool]:
    """All that a person can get of a run: the run, its items, its jobs, listings; and whether it says that something is left out."""
    whole = await reader.get(f"/api/runs/{run['id']}")
    pages = [whole, await reader.get("/api/runs"), await reader.get(f"/api/runs/{run['id']}", step="each")]
    ids = [step["job_id"] for step in run["steps"] if step["job_id"]]
    ids += [item["job_id"] for step in run["steps"] for item in step["items"] or [] if item["job_id"]]
    pages += [await reader.get(f"/api/jobs/{id}") for id in ids]
    pages += [await reader.get("/api/jobs", kind="workflows.step"), await reader.get("/api/jobs")]
    return json.dumps([page.body for page in pages]), whole["redacted"]


async def test_a_colleague_sees_the_run_and_none_of_its_values(engine: Engine, starter: Starter) -> None:
    person, colleague = await starter.company.join("member"), await starter.company.join("member")
    run = await secret_run(engine, starter, person, SECRET)
    text, redacted = await seen_of(colleague, run)
    admin_text, admin_redacted = await seen_of(await starter.company.join("admin"), run)

    assert (SECRET in text, redacted) == (False, True)
    assert (SECRET in admin_text, admin_redacted) == (True, False)


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        (["workflows:read", "chat:use"], False),
        (["workflows:read", "chat:use", "files:read"], False),
        (["workflows:read", "notes:read"], True),
    ],
)
async def test_a_token_sees_only_values_of_tools_that_it_may_use(
    engine: Engine, starter: Starter, scope: list[str], shown: bool
) -> None:
    person = await starter.company.join("admin")
    run = await secret_run(engine, starter, person, SECRET)
    text, redacted = await seen_of(await token_of(person, scope), run)

    assert (SECRET in text, redacted) == (shown, not shown)


@pytest.mark.parametrize("reads", [False, True])
async def test_a_token_sees_what_came_from_files_only_if_it_may_read_files(
    engine: Engine, starter: Starter, reads: bool
) -> None:
    person = await starter.company.join("admin")
    run = await secret_run(engine, starter, person, f"{SECRET} {await private_object(person)}")
    scope = ["workflows:read", "notes:read", *(["files:read"] if reads else [])]
    text, redacted = await seen_of(await token_of(person, scope), run)

    assert (SECRET in text, redacted) == (reads, not reads)


async def token_of(person: Client, scope: list[str]) -> Client:
    """The same person by an API token with a scope."""
    made = await person.post("/api/tokens", {"name": "narrow", "scope": scope})
    assert made.status == 201, made.raw
    return Client(person.app, made["token"], person.user_id, person.team_id, person.org_id, person.username)


async def private_object(person: Client) -> str:
    made = await person.post("/api/documents", {"title": "mine", "body": "mine", "visibility": "private"})
    assert made.status == 201, made.raw
    return str(made["id"])


async def test_e14_a_runs_tag_is_of_what_its_reader_is_shown(engine: Engine, starter: Starter) -> None:
    person, colleague, admin = [await starter.company.join(role) for role in ("member", "member", "admin")]
    document = await private_object(person)
    await person.post(f"/api/repo-obj/{document}/visibility", {"visibility": "team"})
    run = await secret_run(engine, starter, person, f"{SECRET} {document}")
    at = f"/api/runs/{run['id']}"

    shown = {reader.user_id: (await reader.get(at)).headers["etag"] for reader in (person, colleague, admin)}
    await person.post(f"/api/repo-obj/{document}/visibility", {"visibility": "private"})
    known = {"if-none-match": shown[admin.user_id]}
    after = await admin.get(at, headers=known)

    assert shown[person.user_id] == shown[admin.user_id] != shown[colleague.user_id]
    assert (after.status, after["redacted"]) == (200, True)
    assert after.headers["etag"] == shown[colleague.user_id]
    assert (await person.get(at, headers=known)).status == 304
    [step] = [step for step in run["steps"] if step["name"] == "first"]
    assert len({(await one.get(f"/api/jobs/{step['job_id']}")).headers["etag"] for one in (person, colleague)}) == 2


@pytest.mark.parametrize("spelling", ["as it is", "upper case", "without hyphens"])
async def test_an_admin_who_cannot_read_an_object_of_the_run_sees_no_values(
    engine: Engine, starter: Starter, spelling: str
) -> None:
    person, admin = await starter.company.join("member"), await starter.company.join("admin")
    id = await private_object(person)
    spelled = {"as it is": id, "upper case": id.upper(), "without hyphens": id.replace("-", "")}[spelling]
    run = await secret_run(engine, starter, person, f"{SECRET} {spelled}")
    text, redacted = await seen_of(admin, run)

    assert (SECRET in text, redacted) == (False, True)
    refused = await admin.post("/api/workflows/probe/run", {"resume": {"run_id": run["id"], "step": "each"}})
    assert (refused.status, refused.code) == (409, "workflows.cannot_resume")


@pytest.mark.parametrize("called", ["name", "name_read"])
async def test_an_object_that_only_a_result_names_counts_too(engine: Engine, starter: Starter, called: str) -> None:
    """Also where the result was kept with the step's effect, and is not looked at again."""
    person, admin = await starter.company.join("member"), await starter.company.join("admin")
    probes.NAMED.append(await private_object(person))
    await starter.publish(spec_of(tool("only", called)))
    id = await run_of(person)
    await Hand(engine).work()
    run = dict((await person.get(f"/api/runs/{id}")).body)
    text, redacted = await seen_of(admin, run)

    assert run["output"] == {"result": {"object": probes.NAMED[0]}}
    assert (probes.NAMED[0] in text, redacted) == (False, True)


async def test_a_job_of_a_step_shows_its_arguments_to_its_owner_only(engine: Engine, starter: Starter) -> None:
    person = await starter.company.join("member")
    run = await secret_run(engine, starter, person, SECRET)
    path = f"/api/jobs/{job_of(run, 'first')}"
    mine, admins = await person.get(path), await starter.client.get(path)

    assert SECRET in json.dumps(mine.body["input"])
    assert (admins.status, admins["input"], admins["result"]) == (200, None, None)

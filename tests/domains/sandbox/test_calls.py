"""What a guest's process keeps, for whom it works, and what it may ask for."""

import asyncio
import base64
import contextlib
import time
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.ground.identity import sessions
from atrium.ground.identity.credential_model import TokenTerms
from atrium.seams.context import ANONYMOUS, Operation
from tests.domains.sandbox.guests import call, value_of
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, uuid_of


async def test_words_that_a_guest_keeps_reach_no_other_person_or_company(
    alice: Client, bob: Client, stranger: Client
) -> None:
    first = await value_of(alice, "odd", "remember", words="alice's")
    found = [await value_of(person, "odd", "remember", words="x") for person in (bob, stranger)]
    again = await value_of(alice, "odd", "remember", words="more")

    assert first["memory"] == ["alice's"]
    assert [(one["memory"], one["disk"]) for one in found] == [(["x"], ["x"])] * 2
    assert again["memory"] == ["alice's", "more"]


async def narrowed(company: Company, person: Client, scope: list[str]) -> Client:
    """The same person with a token of a narrower scope."""
    org, team = company.org, company.team
    async with Operation(who=ANONYMOUS, services=company.house.services).begin_system() as ctx:
        issued = await sessions.issue(ctx, uuid_of(person), team.id, org.id, TokenTerms(kind="token", scope=scope))
    return Client(person.app, issued.token, person.user_id, person.team_id, person.org_id, person.username)


async def test_a_narrower_token_of_the_same_person_finds_no_words_of_the_wider_one(
    company: Company, alice: Client
) -> None:
    narrow = await narrowed(company, alice, ["chat:use", "notes:read"])

    await value_of(alice, "odd", "remember", words="wider")
    found = await value_of(narrow, "odd", "remember", words="narrow")

    assert (found["memory"], found["disk"]) == (["narrow"], ["narrow"])


async def test_a_guest_stands_still_between_calls(hosting: Application, alice: Client) -> None:
    await value_of(alice, "odd", "tick")
    pool = hosting.services.started["sandbox"].pool
    (process,) = [kept[0] for key, kept in pool._idle.items() if key.user_id == uuid_of(alice)]
    group, until = process._confined._group, time.monotonic() + PATIENCE
    while {state for state, _ in _processes_in(group)} != {"T"} and time.monotonic() < until:
        await asyncio.sleep(0.02)
    before = _processes_in(group)
    await asyncio.sleep(0.3)

    # Stopped, and not a tick of the processor later although a thread of it counts all the time.
    assert {state for state, _ in before} == {"T"}
    assert _processes_in(group) == before


def _processes_in(group: int) -> list[tuple[str, str]]:
    """State and time of the processor of each process of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            facts = path.read_text().rpartition(")")[2].split()
            if int(facts[2]) == group:
                found.append((facts[0], facts[11]))
    return found


async def test_a_second_answer_is_no_answer_to_the_next_call(alice: Client) -> None:
    assert await value_of(alice, "odd", "answer_twice") == "first"
    assert await value_of(alice, "odd", "echo", words="mine") == {"words": "mine"}


async def test_calls_of_one_person_wait_for_each_other(alice: Client) -> None:
    found = await asyncio.gather(*(value_of(alice, "odd", "echo", number=number) for number in range(10)))

    assert found == [{"number": number} for number in range(10)]


async def test_a_capability_acts_as_the_person_of_the_call(
    company: Company, alice: Client, bob: Client, stranger: Client
) -> None:
    note = await alice.post("/api/notes", {"title": "Mine", "body": "three words here", "visibility": "private"})
    wanted = {"capability": "notes.read", "params": {"id": note["id"]}}

    mine = await value_of(alice, "odd", "use", **wanted)
    others = [await value_of(person, "odd", "use", **wanted) for person in (bob, stranger)]

    assert mine["body"] == "three words here"
    assert [(one["code"], one["data"]["code"]) for one in others] == [(-32001, "notes.missing")] * 2


async def test_a_capability_needs_the_permission_of_the_person(company: Company) -> None:
    narrow = await company.join("member", scope=["chat:use", "notes:read"])

    found = await value_of(narrow, "odd", "use", capability="notes.write", params={"title": "x", "body": "x"})

    assert found["data"]["code"] == "access.permission_missing"
    assert (await narrow.get("/api/notes"))["items"] == []


async def test_each_capability_does_what_it_says(alice: Client) -> None:
    await alice.put("/api/repo/a.txt", b"0123456789", headers={"content-type": "text/plain"})
    stored = (await alice.get("/api/repo"))["items"][0]
    document = await alice.post("/api/documents", {"title": "Plan", "body": "# Plan"})

    async def use(capability: str, **params: object) -> dict[str, object]:
        found: dict[str, object] = await value_of(alice, "odd", "use", capability=capability, params=params)
        return found

    written = await use("notes.write", title="New", body="words")
    changed = await use("notes.write", id=written["id"], body="other words")
    read = await use("notes.read", id=written["id"])
    piece = await use("files.read", id=stored["id"], offset=2, length=3)

    assert (changed["version"], read["title"], read["body"]) == (2, "New", "other words")
    assert [one["id"] for one in (await use("notes.read", q="other"))["items"]] == [written["id"]]  # type: ignore[attr-defined]
    assert (base64.b64decode(str(piece["data"])), piece["size"]) == (b"234", 10)
    assert [one["key"] for one in (await use("files.read", prefix="a"))["items"]] == ["a.txt"]  # type: ignore[attr-defined]
    assert (await use("documents.read", id=document["id"]))["body"] == "# Plan"
    assert (await use("ai.turn", prompt="Good morning", max_tokens=20))["text"]
    assert [one["id"] for one in (await use("search", q="other words"))["items"]] == [written["id"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("capability", "params", "says"),
    [
        ("notes.write", {"title": "x"}, "title"),
        ("notes.read", {"id": "x"}, "do not fit"),
        ("notes.read", {"org_id": "x"}, "do not fit"),
        ("files.read", {"id": "00000000-0000-0000-0000-000000000000"}, ""),
        ("files.write", {}, "there is no capability"),
        ("__class__", {}, "there is no capability"),
    ],
)
async def test_a_request_that_does_not_fit_is_refused_with_a_reason(
    alice: Client, capability: str, params: dict[str, object], says: str
) -> None:
    found = await value_of(alice, "odd", "use", capability=capability, params=params)

    assert found["code"] == -32001
    assert says in found["message"]


async def test_a_capability_needs_the_manifest_and_the_operator(alice: Client) -> None:
    asked_only = await value_of(alice, "plain", "use", capability="notes.write", params={"title": "x", "body": "x"})
    granted_only = await value_of(alice, "plain", "use", capability="notes.read")

    assert [one["data"]["code"] for one in (asked_only, granted_only)] == ["sandbox.not_granted"] * 2
    assert (await alice.get("/api/notes"))["items"] == []


async def test_a_tool_that_only_reads_writes_nothing(hosting: Application, alice: Client) -> None:
    tools = {tool["name"]: tool for tool in (await alice.get("/api/tools"))["items"]}

    assert [tools[f"oop_odd_{name}"]["effect"] for name in ("echo", "use", "spin")] == ["read", "write", "egress"]
    assert all(tool["untrusted"] for tool in tools.values() if tool["source"] == "oop:odd")


async def test_a_capability_works_only_while_its_call_runs(alice: Client) -> None:
    assert await value_of(alice, "odd", "use_after") == "ended"
    await asyncio.sleep(0.3)
    assert await value_of(alice, "odd", "echo") == {}
    refused = await value_of(alice, "odd", "use_before", capability="notes.write", params={"title": "x", "body": "x"})
    foreign = await value_of(alice, "odd", "use", call="other", capability="notes.read")

    assert [one["code"] for one in (refused, foreign)] == [-32002] * 2
    assert (await alice.get("/api/notes"))["items"] == []


async def test_a_call_that_is_given_up_leaves_the_guest_usable(alice: Client) -> None:
    asked = asyncio.ensure_future(call(alice, "odd", "slow", seconds=1))
    await asyncio.sleep(0.3)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)

    assert await value_of(alice, "odd", "echo", words="still") == {"words": "still"}


async def test_a_result_that_is_too_long_is_refused(alice: Client) -> None:
    found = await call(alice, "odd", "echo", words="x" * 990_000)
    longer = await value_of(alice, "odd", "echo", words="short")

    assert found.status in (200, 502)
    assert longer == {"words": "short"}


async def test_a_tool_that_the_team_has_not_turned_on_is_missing(
    hosting: Application, company: Company, alice: Client
) -> None:
    owner = await company.join("owner")
    await owner.post("/api/tools/oop_odd_echo", {"enabled": False})

    assert (await call(alice, "odd", "echo")).status == 404

"""How runs are said to stand: nothing is done that failed, nothing runs that waits, and every reader is told the same."""

import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.workflows.outcome import OpenJobs, outcome_of, waiting_of
from atrium.ground.identity import service as identity
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Dimension
from atrium.seams.context import Operation
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand

# The console's words are held to the same cases (console/src/app/outcome.test.tsx).
CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("outcome_cases.json").read_text())
RUNS = 60
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
ITEMS: dict[str, Any] = {"inputs": {"items": {"type": "array"}}}


def a_map(tool: str, **more: Any) -> dict[str, Any]:
    """A map over the input's items that goes on after failures."""
    with_ = {"value": ref("item")} if tool != "spend" else {}
    return {
        "name": "each", "kind": "map", "over": ref("input.items"), "tool": f"probe_{tool}", "with": with_,
        "on_item_error": "collect", **more,
    }  # fmt: skip


async def limit(starter: Starter, most: int | None, dimension: Dimension = "ai.requests") -> None:
    """How much of a dimension the team may have, at once or each day."""
    services, company = starter.engine.server.services, starter.company
    async with services.database.begin(company.org.id) as db:
        people = await identity.list_principals(db, company.org.id, [UUID(starter.client.user_id)])
    async with Operation(who=next(iter(people.values())), services=services).begin() as ctx:
        window = "total" if dimension == "jobs.concurrency" else "day"
        await quotas.set_limit(ctx, company.org.id, company.team.id, dimension, window, most)  # type: ignore[arg-type]


async def listed(starter: Starter, id: UUID) -> dict[str, Any]:
    """The run as the listing has it."""
    found = await starter.client.get("/api/runs", limit=200)
    return dict(next(run for run in found["items"] if run["id"] == str(id)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['state']} {case['failed_items']} {case['reason']}")
def test_each_case_has_the_outcome_that_the_console_shows(case: dict[str, Any]) -> None:
    open_job = OpenJobs(UUID(int=1), "step", UUID(int=2), None, MOMENT, {})
    own = None if case["reason"] == "turn" else case["reason"]
    waiting = waiting_of([(open_job, "queued", own)]) if case["reason"] else None

    assert outcome_of(case["state"], case["failed_items"], waiting) == case["outcome"]


def test_what_a_person_can_do_most_about_is_told_first() -> None:
    def job(reason: str | None, at: int) -> OpenJobs:
        return OpenJobs(UUID(int=1), "each", UUID(int=at), reason, MOMENT.replace(day=at), {"dimension": "ai.requests"})

    waiting = waiting_of(
        [
            (job(None, 3), "queued", None),
            (job("quota", 2), "queued", "scheduled"),
            (job(None, 1), "queued", "no_worker"),
        ]
    )

    assert waiting is not None
    assert (waiting.reason, waiting.dimension, waiting.since) == ("quota", "ai.requests", MOMENT.replace(day=3))
    assert waiting_of([(job("quota", 2), "queued", "quota"), (job(None, 3), "running", None)]) is None
    assert waiting_of([(job(None, 3), None, None)]) is None
    assert waiting_of([]) is None


async def test_p2_a_run_with_failed_items_is_not_simply_done(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES |= {"b": 1, "c": 1}
    run = await starter.run(spec_of(a_map("stumble"), **ITEMS, title="Read all"), {"items": ["a", "b", "c"]})

    summary = await listed(starter, UUID(run["id"]))
    last = (await starter.client.get("/api/workflows"))["items"]
    for told in (run, summary, next(one for one in last if one["slug"] == "probe")["last_run"]):
        assert (told["state"], told["outcome"], told["failed_items"]) == ("succeeded", "done_with_failures", 2)
    assert (run["title"], summary["title"]) == ("Read all", "Read all")
    assert run["steps"][0]["counts"] == {
        "total": 3, "succeeded": 1, "failed": 2, "cancelled": 0, "waiting": 0, "running": 0,
    }  # fmt: skip
    entries = run["steps"][0]["output"]["results"]
    assert (
        [entry["state"] for entry in entries]
        == [entry["status"] for entry in entries]
        == ["succeeded", "failed", "failed"]
    )


async def test_p2_items_of_runs_that_the_last_release_ended_are_counted(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["b"] = 1
    run = await starter.run(spec_of(a_map("stumble"), **ITEMS), {"items": ["a", "b"]})
    await engine.sql("UPDATE runs SET failed_items = NULL")

    assert (await listed(starter, UUID(run["id"])))["outcome"] == "done_with_failures"


async def test_p3_a_run_that_waits_for_a_limit_says_which_and_until_when(engine: Engine, starter: Starter) -> None:
    await limit(starter, 1)
    await starter.publish(spec_of(a_map("spend"), **ITEMS))
    id, hand = await starter.start("probe", {"items": [1, 2, 3]}), Hand(engine)
    await hand.work()

    run, summary = await starter.read(id), await listed(starter, id)
    [step] = run["steps"]
    for told in (run, summary):
        assert (told["state"], told["outcome"]) == ("running", "waiting")
    assert run["waiting"] == summary["waiting"] == step["waiting"]
    told = run["waiting"]
    assert (told["reason"], told["dimension"], told["level"], told["limit"], told["used"]) == (
        "quota",
        "ai.requests",
        "team",
        1,
        1,
    )
    assert told["since"] < told["resets_at"]
    assert (step["counts"]["succeeded"], step["counts"]["waiting"], step["counts"]["running"]) == (1, 2, 0)
    since = told["since"]
    # It waits since it began to, however often it looks.
    await hand.stage()
    await hand.work()
    assert (await starter.read(id))["waiting"]["since"] == since
    await limit(starter, None)
    await hand.work()
    assert (await starter.read(id))["outcome"] == "done"


async def test_p3_a_map_of_which_one_item_runs_does_not_wait(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(a_map("echo"), **ITEMS))
    id, hand = await starter.start("probe", {"items": ["a", "b"]}), Hand(engine)
    before = await starter.read(id)
    [attempt] = await hand.claim()
    during = await starter.read(id)
    await hand.do(attempt)

    assert (before["outcome"], before["waiting"]["reason"]) == ("waiting", "no_worker")
    assert (during["outcome"], during["waiting"], during["steps"][0]["waiting"]) == ("running", None, None)
    assert during["steps"][0]["counts"]["running"] == 1


async def test_items_are_called_by_name_and_lead_to_what_they_are_about(engine: Engine, starter: Starter) -> None:
    note = await starter.client.post("/api/notes", {"title": "Berth plan", "body": "", "visibility": "private"})
    await starter.publish(spec_of(a_map("echo"), **ITEMS))
    items = [note["id"], {"object_id": note["id"]}, "plain", {"title": "x" * 200}, 7, ["a"]]
    id = await starter.start("probe", {"items": items})

    [step] = (await starter.read(id))["steps"]
    ref = {"kind": "note", "id": note["id"]}
    assert [item["label"] for item in step["items"][:3]] == ["Berth plan", "Berth plan", "plain"]
    assert [item["ref"] for item in step["items"]] == [ref, ref, None, None, None, None]
    assert [len(step["items"][3]["label"]), step["items"][4]["label"], step["items"][5]["label"]] == [120, "7", None]


async def test_a_label_of_what_the_viewer_cannot_read_is_null(engine: Engine, starter: Starter) -> None:
    note = await starter.client.post("/api/notes", {"title": "Only mine", "body": "", "visibility": "private"})
    given = [note["id"], {"id": note["id"], "title": "Only mine"}, "Only mine"]
    await starter.publish(spec_of(a_map("echo"), **ITEMS))
    id = await starter.start("probe", {"items": given})
    admin = await starter.company.join("admin")

    told = await admin.get(f"/api/runs/{id}")
    assert told["redacted"]
    assert "Only mine" not in json.dumps(told.body)
    assert {(item["label"], json.dumps(item["ref"])) for item in told["steps"][0]["items"]} == {(None, "null")}
    await starter.client.delete(f"/api/notes/{note['id']}")
    mine = (await starter.read(id))["steps"][0]["items"]
    assert [(item["label"], item["ref"]) for item in mine] == [(None, None), (None, None), ("Only mine", None)]


def plain_outcome(state: str, items: list[str], jobs: list[tuple[str, str | None]]) -> str:
    """What a person would say who looks at everything: the state of the run, of its items, and of the jobs that have not ended."""
    if state == "succeeded":
        return "done_with_failures" if "failed" in items else "done"
    if state == "running":
        return "running" if any(job == "running" for job, _ in jobs) else "waiting"
    return state


async def _failing(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    values = [f"{chance.random()}" for _ in range(chance.randint(1, 5))]
    probes.STUMBLES |= {value: 1 for value in values if chance.random() < 0.5}
    await starter.publish(spec_of(a_map("stumble", **chance.choice(({}, {"on_item_error": "fail"}))), **ITEMS))
    id = await starter.start("probe", {"items": values})
    await hand.work(chance.randint(0, len(values)))
    return id


async def _retried(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    value = f"{chance.random()}"
    probes.STUMBLES[value] = 1
    await starter.publish(spec_of(tool("only", "stumble", {"value": value}, retry=2)))
    id = await starter.start("probe")
    await hand.work(chance.randint(0, 1))
    return id


async def _limited(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    most = chance.randint(0, 3)
    await limit(starter, most)
    await starter.publish(spec_of(a_map("spend"), **ITEMS))
    id = await starter.start("probe", {"items": list(range(chance.randint(1, 4)))})
    await hand.work(chance.choice((1, 20)))
    return id


async def _suspended(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    await starter.publish(spec_of(a_map("echo"), **ITEMS))
    id = await starter.start("probe", {"items": ["a", "b", "c"]})
    await hand.work(chance.randint(0, 2))
    await starter.company.suspend()
    return id


async def _crowded(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    await limit(starter, 1, "jobs.concurrency")
    await starter.publish(spec_of(tool("only", "echo", {"value": "a"})))
    first, second = await starter.start("probe"), await starter.start("probe")
    claimed = await hand.claim(2)
    assert len(claimed) == 1
    return chance.choice((first, second))


async def _cancelled(starter: Starter, hand: Hand, chance: random.Random) -> UUID:
    id = await _failing(starter, hand, chance)
    held = await hand.claim(chance.randint(0, 2))
    await starter.client.post(f"/api/runs/{id}/cancel")
    for attempt in held:
        await hand.do(attempt)
    return id


WAYS: tuple[Callable[[Starter, Hand, random.Random], Awaitable[UUID]], ...] = (
    _failing, _retried, _limited, _suspended, _crowded, _cancelled,
)  # fmt: skip


async def test_every_outcome_is_what_a_plain_look_at_all_states_says(engine: Engine) -> None:
    starters = [await engine.company() for _ in WAYS]
    chance, seen, wrong = random.Random(20_263), set[tuple[str, bool, str | None]](), list[str]()
    for turn in range(RUNS):
        await engine.empty()
        if turn // len(WAYS) % 2:
            await engine.sql("INSERT INTO job_workers (id, pools) VALUES (gen_random_uuid(), '{workflows.step}')")
        # What was spent today stays spent.
        starter = starters[turn % len(WAYS)] if turn % len(WAYS) != WAYS.index(_limited) else await engine.company()
        await starter.company.suspend(False)
        id = await WAYS[turn % len(WAYS)](starter, Hand(engine), chance)
        reader = starter.client
        told = dict((await reader.get(f"/api/runs/{id}")).body)
        summary = await listed(starter, id)
        [[state, kept]] = await engine.sql("SELECT state, failed_items FROM runs WHERE id = $1", id)
        items = await engine.sql("SELECT state FROM run_steps WHERE run_id = $1 AND place >= 0", id)
        open_jobs = await engine.sql(
            "SELECT j.state, j.put_off_for FROM run_steps s JOIN jobs j ON j.id = s.job_id WHERE s.run_id = $1 AND s.state = 'open'", id
        )  # fmt: skip
        expected = plain_outcome(state, [one for (one,) in items], [(job, why) for job, why in open_jobs])
        if (told["outcome"], summary["outcome"]) != (expected, expected) or told["waiting"] != summary["waiting"]:
            wrong.append(f"{turn}: {expected}, but {told['outcome']} and {summary['outcome']}")
        reason = told["waiting"] and told["waiting"]["reason"]
        assert (expected == "waiting") is (reason is not None)
        assert (kept is None) is (state == "running")
        assert told["failed_items"] == summary["failed_items"] == sum(one == "failed" for (one,) in items)
        seen.add((state, told["failed_items"] > 0, reason))
        assert await engine.broken_promises() == []

    assert wrong == []
    # Whatever came up, the console is asked for its words about it.
    assert seen <= {(case["state"], case["failed_items"] > 0, case["reason"]) for case in CASES}
    reasons = {reason for _, _, reason in seen}
    assert reasons >= {None, "turn", "scheduled", "quota", "org_suspended", "team_cap", "no_worker"}
    assert {state for state, _, _ in seen} == {"running", "succeeded", "failed", "cancelled"}

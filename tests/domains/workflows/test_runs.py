"""Runs: every step once, whatever happens to its attempts."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.workflows import chores, run_rows
from atrium.seams import retention
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.support.patience import PATIENCE


async def notes_called(starter: Starter, title: str) -> int:
    rows = await starter.engine.sql(
        "SELECT count(*) FROM notes WHERE org_id = $1 AND title = $2", starter.company.org.id, title
    )
    return int(rows[0][0])


async def test_steps_follow_each_other_and_their_outputs_can_be_used(engine: Engine, starter: Starter) -> None:
    run = await starter.run(
        spec_of(
            tool("first", "echo", {"value": ref("input.word")}),
            {"name": "is_long", "kind": "choice", "when": {"equals": [ref("steps.first.output.result"), "long"]},
             "then": "long", "else": "short"},
            tool("long", "echo", {"value": "it is long"}, terminal=True),
            tool("short", "echo", {"value": ref("steps.first.output.result")}),
            inputs={"word": {"type": "string"}},
        ),
        {"word": "tiny"},
    )  # fmt: skip

    assert run["state"] == "succeeded"
    assert run["output"] == {"result": "tiny"}
    assert [(step["name"], step["state"]) for step in run["steps"]] == [
        ("first", "succeeded"), ("is_long", "succeeded"), ("short", "succeeded"), ("long", "skipped"),
    ]  # fmt: skip
    assert run["steps_used"] == 3
    assert run["steps"][0]["input"] == {"value": "tiny"}
    assert await engine.broken_promises() == []


async def test_a_map_calls_its_tool_for_every_item_and_keeps_their_order(engine: Engine, starter: Starter) -> None:
    run = await starter.run(
        spec_of(
            {"name": "each", "kind": "map", "over": ref("input.words"), "tool": "probe_write", "with": {"value": ref("item")}},
            tool("last", "echo", {"items": ref("steps.each.output.results")}),
            inputs={"words": {"type": "array"}},
        ),
        {"words": [f"word {n}" for n in range(60)]},
    )  # fmt: skip

    assert run["state"] == "succeeded"
    results = run["output"]["result"]
    assert [entry["index"] for entry in results] == list(range(60))
    assert [entry["item"] for entry in results] == [f"word {n}" for n in range(60)]
    assert run["steps_used"] == 62
    assert [await notes_called(starter, f"word {n}") for n in range(60)] == [1] * 60
    assert await engine.broken_promises() == []


async def test_a_map_over_nothing_is_done_at_once(engine: Engine, starter: Starter) -> None:
    run = await starter.run(
        spec_of(
            tool("first", "echo"),
            {"name": "each", "kind": "map", "over": ref("input.words"), "tool": "probe_echo", "with": {"value": ref("item")}},
            tool("last", "echo", {"items": ref("steps.each.output.results")}),
            inputs={"words": {"type": "array"}},
        ),
        {"words": []},
    )  # fmt: skip

    assert (run["state"], run["output"]) == ("succeeded", {"result": []})


async def test_what_passes_is_tried_again_as_often_as_the_step_says(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["once"] = 1
    run = await starter.run(spec_of(tool("step", "stumble", {"value": "once"}, retry=1)))

    assert run["state"] == "succeeded"
    [step] = run["steps"]
    assert [attempt["state"] for attempt in step["attempts"]] == ["failed", "succeeded"]
    assert step["attempts"][0]["error"]["message"] == "not just now"
    assert run["steps_used"] == 1


async def test_a_step_that_stumbles_too_often_fails_its_run_and_says_why(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["twice"] = 2
    run = await starter.run(spec_of(tool("step", "stumble", {"value": "twice"}, retry=1), tool("never", "echo")))

    assert run["state"] == "failed"
    assert run["error"] == {
        "code": "instance.unavailable",
        "title": "Not available right now",
        "message": "not just now",
        "redacted": False,
        "step": "step",
    }
    assert [(step["name"], step["state"]) for step in run["steps"]] == [("step", "failed"), ("never", "skipped")]
    assert probes.CALLS == ["twice", "twice"]
    assert await engine.broken_promises() == []


@pytest.mark.parametrize(
    ("called", "code"),
    [
        ("refuse", "request.invalid"),
        ("break", "tool.failed"),
        ("nul", "tool.failed"),
    ],
)
async def test_a_refusal_and_a_defect_fail_the_run(engine: Engine, starter: Starter, called: str, code: str) -> None:
    run = await starter.run(spec_of(tool("step", called, {"value": "x"}, retry=0)))

    assert (run["state"], run["error"]["code"], run["error"]["step"]) == ("failed", code, "step")
    assert await engine.broken_promises() == []


async def test_an_attempt_whose_server_died_is_repeated_and_its_effect_is_there_once(
    engine: Engine, starter: Starter
) -> None:
    await starter.publish(
        spec_of(tool("wait", "wait", {"value": "gate"}), tool("write", "write", {"value": "once only"}))
    )
    id = await starter.start("probe")
    async with engine.working():
        await asyncio.sleep(0.3)
        await engine.expire()
        await asyncio.sleep(0.5)
        probes.GATES["gate"].set()
        run = await starter.ended(id)

    assert run["state"] == "succeeded"
    assert await notes_called(starter, "once only") == 1
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("called", ["write", "write_slowly"])
async def test_a_second_attempt_takes_what_the_first_has_kept(engine: Engine, starter: Starter, called: str) -> None:
    """The effect committed, and the server died before it could say so."""
    await starter.publish(spec_of(tool("write", called, {"value": f"kept by {called}"})))
    id = await starter.start("probe")
    async with engine.working():
        run = await starter.ended(id)
    # As if nothing after the effect had happened.
    await engine.sql("UPDATE jobs SET state = 'queued', attempt = 1, finished_at = NULL, result = NULL")
    await engine.sql("UPDATE run_steps SET state = 'open', finished_at = NULL")
    await engine.sql("UPDATE runs SET state = 'running', finished_at = NULL, output_step = NULL")
    await engine.sql("INSERT INTO job_wakes (org_id, team_id, pool) SELECT org_id, team_id, pool FROM jobs")
    async with engine.working():
        again = await starter.ended(id)

    assert again["state"] == "succeeded"
    assert again["output"] == run["output"]
    assert await notes_called(starter, f"kept by {called}") == 1


async def test_cancelling_starts_nothing_more_and_lets_the_running_step_finish(
    engine: Engine, starter: Starter
) -> None:
    await starter.publish(
        spec_of(
            tool("wait", "wait", {"value": "held"}),
            tool("write", "write", {"value": "after cancel"}),
        )
    )
    id = await starter.start("probe")
    async with engine.working():
        async with asyncio.timeout(PATIENCE):
            while "held" not in probes.GATES:
                await asyncio.sleep(0.01)
        reply = await starter.client.post(f"/api/runs/{id}/cancel")
        assert (reply.status, reply["state"]) == (200, "cancelled")
        probes.GATES["held"].set()
        await asyncio.sleep(0.5)

    run = await starter.read(id)
    assert run["state"] == "cancelled"
    assert [(step["name"], step["state"], step["output"]) for step in run["steps"]] == [
        ("wait", "succeeded", {"result": "held"}), ("write", "skipped", None),
    ]  # fmt: skip
    assert await notes_called(starter, "after cancel") == 0
    assert (await starter.client.post(f"/api/runs/{id}/cancel")).code == "workflows.ended"
    assert await engine.broken_promises() == []


async def states_at_rest(starter: Starter, id: UUID) -> set[str]:
    """How the items of an ended run's map stand once those that were at work then, or were handed back, are over."""
    async with starter.engine.working(), asyncio.timeout(PATIENCE):
        while (states := {item["state"] for item in (await starter.read(id))["steps"][0]["items"]}) & {
            "running",
            "queued",
        }:
            await asyncio.sleep(0.02)
    return states


async def test_a_failed_item_cancels_what_waits_and_collects_where_the_map_says_so(
    engine: Engine, starter: Starter
) -> None:
    def over(how: str) -> dict[str, object]:
        return spec_of(
            {"name": "each", "kind": "map", "over": [f"i{n}" for n in range(40)], "tool": "probe_stumble", "with": {"value": ref("item")},
             "on_item_error": how},
            slug=f"map-{how}",
        )  # fmt: skip

    probes.STUMBLES["i3"] = 1
    failed = await starter.run(over("fail"))
    probes.STUMBLES["i3"] = 1
    collected = await starter.run(over("collect"))

    assert (failed["state"], failed["error"]["step"]) == ("failed", "each")
    assert "failed" in (states := await states_at_rest(starter, UUID(failed["id"])))
    assert states <= {"succeeded", "failed", "cancelled"}
    assert collected["state"] == "succeeded"
    entries = collected["output"]["results"]
    assert [entry["status"] for entry in entries] == ["succeeded"] * 3 + ["failed"] + ["succeeded"] * 36
    assert entries[3]["error"]["message"] == "not just now"
    assert await engine.broken_promises() == []


async def test_a_run_ends_when_its_starter_leaves(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(tool("first", "echo"), tool("second", "echo")))
    person = await starter.company.join("admin")
    reply = await person.post("/api/workflows/probe/run", {})
    id = UUID(reply["id"])
    owner = await starter.company.join("owner", org_role="org_owner")
    gone = await owner.delete(f"/api/members/{person.user_id}")
    assert gone.status in (200, 204), gone.raw

    async with engine.working():
        run = await starter.ended(id)

    assert (run["state"], run["error"]["code"]) == ("failed", "workflows.owner_gone")
    assert await engine.broken_promises() == []


async def test_an_item_that_cannot_be_kept_ends_its_own_run_only(engine: Engine, starter: Starter) -> None:
    """Arguments are larger than they may be when they are bound."""
    await starter.publish(
        spec_of(
            tool("first", "echo", {"value": ref("input.word")}),
            tool("second", "echo", {"items": [ref("steps.first.output.result")] * 20}),
            inputs={"word": {"type": "string"}},
        )
    )
    large = await starter.start("probe", {"word": "x" * 200_000})
    small = await starter.start("probe", {"word": "x"})
    async with engine.working():
        failed, fine = await starter.ended(large), await starter.ended(small)

    assert (failed["state"], failed["error"]["code"]) == ("failed", "workflows.too_large")
    assert fine["state"] == "succeeded"
    assert await engine.broken_promises() == []


async def test_runs_that_ended_91_days_ago_are_forgotten_with_their_steps_a_batch_per_transaction(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await starter.publish(spec_of(tool("first", "echo"), tool("second", "echo")))
    ids = [await starter.start("probe") for _ in range(6)]
    async with engine.working():
        for one in ids:
            await starter.ended(one)
    await engine.sql("UPDATE runs SET finished_at = now() - interval '91 days' WHERE id = ANY($1)", ids[:5])
    batches: list[tuple[Any, int]] = []

    async def counted(db: Any, *given: Any) -> int:
        forgotten = await forget_ended(db, *given)
        batches.append((db, forgotten))
        return forgotten

    forget_ended = run_rows.forget_ended
    monkeypatch.setattr(retention, "BATCH", 2)
    await replace(chores.ENDED, forget=counted).run(engine.server.services)

    assert [forgotten for _, forgotten in batches] == [2, 2, 1]
    assert len({id(db) for db, _ in batches}) == 3
    assert {row["id"] for row in await engine.sql("SELECT id FROM runs")} == {ids[5]}
    steps = await engine.sql("SELECT run_id, step FROM run_steps ORDER BY step")
    assert [(row["run_id"], row["step"]) for row in steps] == [(ids[5], "first"), (ids[5], "second")]
    assert (await starter.client.get(f"/api/runs/{ids[0]}")).status == 404
    assert (await starter.read(ids[5]))["state"] == "succeeded"

"""What holds of runs whatever happens: invariants 22 to 26, cancelling, and what a crash leaves behind."""

import asyncio
import itertools
from typing import Any
from uuid import UUID

import pytest

from atrium.engine.jobs import service as jobs
from atrium.engine.workflows import interpreter, map_rows, progress, run_rows
from tests.domains.workflows import probes
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand, job_of
from tests.domains.workflows.test_runs import notes_called
from tests.support.patience import PATIENCE

THREE = spec_of(
    tool("first", "write", {"value": "first"}),
    tool("second", "write_slowly", {"value": "second"}),
    tool("third", "write", {"value": "third"}),
)


def each(over: Any, called: str = "stumble", **more: Any) -> dict[str, Any]:
    """A map step."""
    return {
        "name": "each",
        "kind": "map",
        "over": over,
        "tool": f"probe_{called}",
        "with": {"value": ref("item")},
        **more,
    }


async def opened(value: str) -> None:
    """Until the tool that waits for this gate has come to it."""
    async with asyncio.timeout(PATIENCE):
        while value not in probes.GATES:
            await asyncio.sleep(0.01)


def states_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["name"], step["state"]) for step in run["steps"]]


async def test_22_a_step_has_one_job_however_often_the_advancer_crashes(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection dies right before the advance is written, and right after, again and again."""
    written, moments = run_rows.write, iter(["before", "after", "before", "before", "after"])

    async def crash(db: Any) -> None:
        await engine.sql("SELECT pg_terminate_backend($1)", await db.value("SELECT pg_backend_pid()"))
        await db.value("SELECT 1")

    async def write(db: Any, *given: Any) -> None:
        moment = next(moments, None)
        if moment == "before":
            await crash(db)
        await written(db, *given)
        if moment == "after":
            await crash(db)

    await starter.publish(THREE)
    id = await starter.start("probe")
    monkeypatch.setattr(run_rows, "write", write)
    async with engine.working():
        async with asyncio.timeout(PATIENCE):
            for waited in itertools.count():
                if (await starter.read(id))["state"] != "running":
                    break
                # Not at every look: a healthy attempt needs its time on a busy machine.
                if waited % 20 == 19:
                    await engine.expire()
                await asyncio.sleep(0.1)

    assert (await starter.read(id))["state"] == "succeeded"
    assert next(moments, None) is None
    assert [await notes_called(starter, title) for title in ("first", "second", "third")] == [1, 1, 1]
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("end", ["succeeds", "fails", "lapses for good", "is cancelled", "loses its owner"])
async def test_23_every_way_a_job_ends_reaches_its_run_in_the_same_transaction(
    engine: Engine, starter: Starter, end: str
) -> None:
    """The commit of anything else is refused by the triggers that all tests here have."""
    await starter.publish(spec_of(tool("only", "refuse" if end == "fails" else "echo")))
    person = await starter.company.join("admin")
    id = UUID((await person.post("/api/workflows/probe/run", {}))["id"])
    hand = Hand(engine)
    if end in ("succeeds", "fails"):
        await hand.work()
    elif end == "lapses for good":
        for _ in range(16):
            assert len(await hand.claim()) == 1
            await engine.expire()
            await jobs.sweep(engine.server.services)
    elif end == "is cancelled":
        reply = await person.post(f"/api/jobs/{job_of(await starter.read(id), 'only')}/cancel")
        assert reply["state"] == "cancelled"
    else:
        await _leave(starter, person)
    run = await starter.read(id)

    code = {"fails": "request.invalid", "lapses for good": "jobs.lapsed", "is cancelled": "jobs.cancelled"}
    assert run["state"] == ("succeeded" if end == "succeeds" else "failed")
    assert (run["error"] or {}).get("code") == {**code, "loses its owner": "workflows.owner_gone"}.get(end)
    assert await engine.broken_promises() == []


async def test_23_a_commit_that_ends_a_job_without_its_run_is_found(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: nothing follows from a job that ended."""

    async def nothing(*_: Any) -> list[UUID]:
        return []

    monkeypatch.setattr(progress, "_advance", nothing)
    monkeypatch.setattr(progress, "break_off", nothing)
    await starter.publish(spec_of(tool("only", "echo")))
    await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()

    with pytest.raises(Exception, match="TRIPPED"):
        await hand.do(attempt)


@pytest.mark.parametrize("count", [0, 1, 2, 40])
async def test_24_a_map_completes_once_whoever_ends_its_last_items(
    engine: Engine, starter: Starter, count: int
) -> None:
    await starter.publish(
        spec_of(each(ref("input.words"), "write"), tool("after", "write", {"value": "after"}), inputs={"words": {"type": "array"}})
    )  # fmt: skip
    id = await starter.start("probe", {"words": [f"word {n}" for n in range(count)]})
    hands = [Hand(engine) for _ in range(8)]

    async def work(hand: Hand) -> None:
        while (await starter.read(id))["state"] == "running":
            if not await hand.work():
                await asyncio.sleep(0.02)

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*map(work, hands))
    run = await starter.read(id)

    assert run["state"] == "succeeded"
    assert await notes_called(starter, "after") == 1
    assert len(run["steps"][0]["output"]["results"]) == count
    assert run["steps_used"] == count + 2
    assert await engine.broken_promises() == []


async def test_24_items_that_end_in_one_settlement_complete_their_map_once(engine: Engine, starter: Starter) -> None:
    await starter.publish(spec_of(each(list("abcd"), "echo"), tool("after", "write", {"value": "after"})))
    id = await starter.start("probe")
    hand = Hand(engine)
    reports = [await hand.perform(attempt) for attempt in await hand.claim(10)]
    await asyncio.gather(*(hand.settle(report, take=True) for report in reports))
    await engine.expire()
    await jobs.sweep(engine.server.services)
    await hand.work()

    assert (await starter.read(id))["state"] == "succeeded"
    assert await notes_called(starter, "after") == 1
    assert await engine.broken_promises() == []


@pytest.fixture
def stumbling_interpreter(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Raises for the runs that are put into the list."""
    unlucky: list[UUID] = []
    go_on, results_of = interpreter.enter_next, interpreter.results_of

    def fails(run: Any, *given: Any) -> Any:
        if run.id in unlucky:
            raise ZeroDivisionError("a defect")
        return go_on(run, *given)

    monkeypatch.setattr(interpreter, "enter_next", fails)
    monkeypatch.setattr(interpreter, "results_of", results_of)
    return unlucky


async def test_25_an_interpreter_error_fails_its_own_run_only(
    engine: Engine, starter: Starter, stumbling_interpreter: list[UUID]
) -> None:
    """Six runs settle together; one of them cannot be gone on with."""
    await starter.publish(THREE)
    ids = [await starter.start("probe") for _ in range(6)]
    stumbling_interpreter.append(ids[2])
    hand = Hand(engine)
    reports = [await hand.perform(attempt) for attempt in await hand.claim(10)]
    assert len(reports) == 6
    await asyncio.gather(*(hand.settle(report) for report in reports))
    await hand.work()
    runs = [await starter.read(id) for id in ids]

    assert [run["state"] for run in runs] == ["succeeded"] * 2 + ["failed"] + ["succeeded"] * 3
    assert runs[2]["error"]["code"] == "workflows.broken"
    assert states_of(runs[2]) == [("first", "failed"), ("second", "skipped"), ("third", "skipped")]
    assert await engine.broken_promises() == []


async def test_25_a_map_that_cannot_be_gone_on_with_leaves_no_item_waiting(
    engine: Engine, starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The defect shows with the first item; the others wait in the queue."""
    await starter.publish(spec_of(each([f"late {n}" for n in range(5)], "write")))
    id = await starter.start("probe")

    async def fails(*_: Any) -> Any:
        raise ZeroDivisionError("a defect")

    hand = Hand(engine)
    [attempt] = await hand.claim()
    with monkeypatch.context() as planted:
        planted.setattr(map_rows, "count_down", fails)
        await hand.do(attempt)
    assert await engine.broken_promises() == []
    await hand.work()
    run = await starter.read(id)

    assert (run["state"], run["error"]["code"]) == ("failed", "workflows.broken")
    assert [await notes_called(starter, f"late {n}") for n in range(1, 5)] == [0] * 4
    assert await engine.broken_promises() == []


async def test_26_cancelling_cancels_what_waits_of_a_map_and_starts_nothing_more(
    engine: Engine, starter: Starter
) -> None:
    await starter.publish(
        spec_of(each([f"item {n}" for n in range(6)], "write"), tool("after", "write", {"value": "after"}))
    )
    id = await starter.start("probe")
    hand = Hand(engine)
    running = await hand.claim(2)
    reply = await starter.client.post(f"/api/runs/{id}/cancel")
    assert (reply.status, reply["state"]) == (200, "cancelled")
    assert await engine.broken_promises() == []
    for attempt in running:
        await hand.do(attempt)
    await hand.work()
    run = await starter.read(id)

    assert run["state"] == "cancelled"
    assert sorted(item["state"] for item in run["steps"][0]["items"]) == ["cancelled"] * 4 + ["succeeded"] * 2
    assert [await notes_called(starter, f"item {n}") for n in range(6)] == [1, 1, 0, 0, 0, 0]
    assert await notes_called(starter, "after") == 0
    assert await engine.broken_promises() == []


@pytest.mark.parametrize("end", ["fails", "lapses", "is put off"])
async def test_26_an_executing_step_of_a_cancelled_run_is_not_tried_again(
    engine: Engine, starter: Starter, end: str
) -> None:
    called = {"fails": "stumble", "lapses": "stumble", "is put off": "exhaust"}[end]
    probes.STUMBLES["x"] = 1
    await starter.publish(spec_of(tool("only", called, {"value": "x"}, retry=3)))
    id = await starter.start("probe")
    hand = Hand(engine)
    [attempt] = await hand.claim()
    await starter.client.post(f"/api/runs/{id}/cancel")
    if end == "lapses":
        await engine.expire()
        await jobs.sweep(engine.server.services)
    else:
        await hand.do(attempt)
    called_before = len(probes.CALLS)
    assert await engine.broken_promises() == []
    await hand.stage()
    await hand.work()
    run = await starter.read(id)

    assert len(probes.CALLS) == called_before
    assert (run["state"], run["steps"][0]["state"]) == ("cancelled", run["steps"][0]["state"])
    assert run["steps"][0]["state"] in ("failed", "cancelled")
    assert await engine.broken_promises() == []


async def test_26_cancelling_while_everything_settles_never_waits_for_a_lock_in_a_circle(
    engine: Engine, starter: Starter
) -> None:
    await starter.publish(
        spec_of(each([f"{n}" for n in range(12)], "write"), tool("after", "write", {"value": "after"}))
    )
    ids = [await starter.start("probe") for _ in range(6)]
    hands = [Hand(engine) for _ in range(6)]

    async def work(hand: Hand) -> None:
        for _ in range(10):
            await hand.work()
            await asyncio.sleep(0.01)

    async def cancel(id: UUID, after: float) -> int:
        await asyncio.sleep(after)
        return (await starter.client.post(f"/api/runs/{id}/cancel")).status

    answers = await asyncio.gather(
        *(cancel(id, 0.15 * n) for n, id in enumerate(ids[:4])), *map(work, hands), return_exceptions=True
    )
    await hands[0].stage()
    await hands[0].work()
    runs = [await starter.read(id) for id in ids]

    assert set(answers[:4]) <= {200, 409}
    assert [answer for answer in answers[4:] if isinstance(answer, BaseException)] == []
    assert all(run["state"] in ("cancelled", "succeeded") for run in runs)
    assert [run["state"] for run in runs[4:]] == ["succeeded"] * 2
    assert await engine.broken_promises() == []


async def test_a_map_that_fails_says_so_and_why(engine: Engine, starter: Starter) -> None:
    probes.STUMBLES["b"] = 1
    run = await starter.run(spec_of(each(list("abcdef")), tool("after", "echo")))

    [step, _] = run["steps"]
    assert (step["name"], step["state"]) == ("each", "failed")
    assert (step["error"]["code"], step["error"]["message"]) == ("instance.unavailable", "not just now")
    assert run["error"] == {**step["error"], "step": "each"}


async def test_a_run_ends_when_its_starter_leaves_while_a_step_executes(engine: Engine, starter: Starter) -> None:
    """The step ends well, and nothing may follow in the name of a person who is gone."""
    await starter.publish(spec_of(tool("wait", "wait", {"value": "gone"}), tool("after", "echo")))
    person = await starter.company.join("admin")
    id = UUID((await person.post("/api/workflows/probe/run", {}))["id"])
    async with engine.working():
        await opened("gone")
        await _leave(starter, person)
        probes.GATES["gone"].set()
        run = await starter.ended(id)

    assert (run["state"], run["error"]["code"]) == ("failed", "workflows.owner_gone")
    assert await engine.broken_promises() == []


async def test_a_choice_says_what_came_out_and_what_follows(engine: Engine, starter: Starter) -> None:
    run = await starter.run(
        spec_of(
            {"name": "which", "kind": "choice", "when": {"equals": [1, 1]}, "then": "yes", "else": "no"},
            tool("yes", "echo", terminal=True),
            tool("no", "echo"),
        )
    )

    assert run["steps"][0]["output"] == {"result": True, "next": "yes"}


@pytest.mark.parametrize("text", ["a\\u0000b", "\\\\u0000", "back\\slash"])
async def test_text_that_only_looks_like_an_escape_is_kept(engine: Engine, starter: Starter, text: str) -> None:
    run = await starter.run(
        spec_of(tool("only", "echo", {"value": ref("input.text")}), inputs={"text": {"type": "string"}}), {"text": text}
    )

    assert (run["state"], run["output"]) == ("succeeded", {"result": text})


async def test_a_result_that_cannot_be_kept_undoes_its_effect_and_is_not_tried_again(
    engine: Engine, starter: Starter
) -> None:
    run = await starter.run(spec_of(tool("only", "write_nul", {"value": "never"})))

    assert (run["state"], run["error"]["code"]) == ("failed", "tool.failed")
    assert await notes_called(starter, "never") == 0


async def _leave(starter: Starter, person: Any) -> None:
    owner = await starter.company.join("owner", org_role="org_owner")
    reply = await owner.delete(f"/api/members/{person.user_id}")
    assert reply.status in (200, 204), reply.raw

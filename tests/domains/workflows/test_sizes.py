"""Sizes: what is larger than it may be fails its own step, and no spec keeps the event loop to itself."""

import asyncio
import time
from typing import Any

import pytest

from atrium.engine.workflows import interpreter
from atrium.engine.workflows.interpreter import RunSnapshot, Spec
from atrium.kit.ids import new_id
from atrium.seams.workflows import read_workflow
from tests.domains.workflows.engine import Engine, Starter, ref, spec_of, tool
from tests.domains.workflows.hand import Hand
from tests.domains.workflows.test_runs import notes_called
from tests.support.machine import slowness

LARGE = 1 << 20


def situation(document: dict[str, Any], input: dict[str, Any], outputs: dict[str, Any] | None = None) -> RunSnapshot:
    spec = Spec(read_workflow(document))
    return RunSnapshot(
        id=new_id(), spec=spec, input=input, facts={}, used=0, outputs=outputs or {}, looked_for=set(spec.names)
    )  # fmt: skip


def took(run: RunSnapshot, name: str | None = None) -> tuple[interpreter.Transition, float]:
    best, moves = 1e9, None
    for _ in range(3):
        started = time.perf_counter()
        moves = interpreter.begin(run, name)
        best = min(best, time.perf_counter() - started)
    assert moves is not None
    return moves, best


def mapped(over: Any, with_: dict[str, Any]) -> dict[str, Any]:
    return {"name": "each", "kind": "map", "over": over, "tool": "probe_echo", "with": with_}


MANY = spec_of(tool("first", "echo"), tool("second", "echo", {"items": [ref("steps.first.output.result")] * 9_900}))
EACH_LARGE = spec_of(tool("first", "echo"), mapped(list(range(900)), {"value": ref("steps.first.output.result")}))
EACH_LONG = spec_of(tool("first", "echo"), mapped(list(range(900)), {"items": [0] * 15_000}))
EACH_WIDE = spec_of(tool("first", "echo"), mapped(list(range(900)), {"items": [ref("index")] * 6_000}))


@pytest.mark.parametrize(
    "document",
    [MANY, EACH_LARGE, EACH_LONG, EACH_WIDE],
    ids=["many names", "a large value", "a long list", "many indexes"],
)
def test_what_is_too_large_is_refused(document: dict[str, Any]) -> None:
    refused(document)


@pytest.mark.proof
@pytest.mark.parametrize(("document", "most"), [(MANY, 0.05), (EACH_LARGE, 0.15), (EACH_LONG, 0.15), (EACH_WIDE, 0.15)])
def test_what_is_too_large_is_refused_within_50_milliseconds(document: dict[str, Any], most: float) -> None:
    assert refused(document) < most * slowness()


def refused(document: dict[str, Any]) -> float:
    """Seconds that it takes to refuse what is too large."""
    outputs = {"first": {"result": "x" * (LARGE - 100)}}
    moves, seconds = took(situation(document, {}, outputs), document["steps"][1]["name"])

    assert moves.end is not None
    assert (moves.end.state, (moves.end.error or {})["code"]) == ("failed", "workflows.too_large")
    return seconds


def test_a_choice_about_large_values_is_made() -> None:
    assert chosen()[0] is False


@pytest.mark.proof
def test_a_choice_about_large_values_is_made_within_50_milliseconds() -> None:
    assert chosen()[1] < 0.05 * slowness()


def chosen() -> tuple[Any, float]:
    """What was found about large values, and in how many seconds."""
    large = [[n] * 10 for n in range(20_000)]
    document = spec_of(
        {"name": "which", "kind": "choice", "when": {"in": [ref("input.one"), ref("input.many")]}, "then": "a", "else": "b"},
        tool("a", "echo", terminal=True), tool("b", "echo"), inputs={"one": {"type": "array"}, "many": {"type": "array"}},
    )  # fmt: skip
    moves, seconds = took(situation(document, {"one": [-1] * 10, "many": large}))
    return moves.entered[0].input, seconds


async def test_a_spec_that_names_a_large_value_many_times_fails_its_step(engine: Engine, starter: Starter) -> None:
    await named_many_times(engine, starter)


@pytest.mark.proof
async def test_a_spec_that_names_a_large_value_many_times_leaves_others_room(engine: Engine, starter: Starter) -> None:
    """Another task is never held up for longer than what a settlement takes."""
    assert max(await named_many_times(engine, starter)) < 0.1 * slowness()


async def named_many_times(engine: Engine, starter: Starter) -> list[float]:
    """The same through a server: for how long another task was held up, each time."""
    spec = spec_of(tool("first", "grow", {"value": str(LARGE - 100)}), MANY["steps"][1])
    await starter.publish(spec)
    id = await starter.start("probe")
    gaps: list[float] = []
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            started = time.perf_counter()
            await asyncio.sleep(0)
            gaps.append(time.perf_counter() - started)

    watching = asyncio.create_task(watch())
    await Hand(engine).work()
    done.set()
    await watching
    run = await starter.read(id)

    assert (run["state"], run["error"]["code"], run["error"]["step"]) == ("failed", "workflows.too_large", "second")
    assert await engine.broken_promises() == []
    return gaps


async def test_a_result_of_a_mebibyte_is_kept_and_a_larger_one_fails_its_step(engine: Engine, starter: Starter) -> None:
    fits = await starter.run(spec_of(tool("only", "grow", {"value": str(LARGE - 2)}), slug="fits"))
    over = await starter.run(spec_of(tool("only", "grow", {"value": str(LARGE + 1)}), slug="over"))

    assert (fits["state"], len(fits["output"]["result"])) == ("succeeded", LARGE - 2)
    assert (over["state"], over["error"]["step"]) == ("failed", "only")
    assert over["error"]["code"] == "workflows.too_large"


async def test_a_result_of_ten_megabytes_fails_its_step_and_is_kept_nowhere(engine: Engine, starter: Starter) -> None:
    run = await starter.run(spec_of(tool("only", "grow", {"value": str(10_000_000)}), tool("after", "echo")))

    kept = await engine.sql("SELECT max(pg_column_size(t)) FROM (SELECT * FROM jobs) AS t")
    assert (run["state"], run["error"]["code"], run["error"]["step"]) == ("failed", "workflows.too_large", "only")
    assert [step["output"] for step in run["steps"]] == [None, None]
    assert kept[0][0] < 10_000
    assert await engine.broken_promises() == []


async def test_results_of_a_map_that_are_too_large_together_fail_it(engine: Engine, starter: Starter) -> None:
    run = await starter.run(
        spec_of({**mapped(["600000"] * 2, {"value": ref("item")}), "tool": "probe_grow"}, tool("after", "echo"))
    )

    assert (run["state"], run["error"]["code"], run["error"]["step"]) == ("failed", "workflows.too_large", "each")
    assert [(step["name"], step["state"]) for step in run["steps"]] == [("each", "failed"), ("after", "skipped")]
    assert await engine.broken_promises() == []


async def test_g9_a_page_of_a_run_is_bounded_in_bytes_that_are_sent(engine: Engine, starter: Starter) -> None:
    """What PostgreSQL keeps of a letter that is repeated is a hundredth of what is sent."""
    steps = [tool(f"step{number}", "grow", {"value": str(LARGE - 100)}) for number in range(8)]
    await starter.run(spec_of(*steps))
    id = (await starter.client.get("/api/runs"))["items"][0]["id"]

    page = await starter.client.get(f"/api/runs/{id}")

    assert len(page.raw) < 6 * LARGE
    assert [step["omitted"] for step in page["steps"]] == [False] * 4 + [True] * 4


@pytest.mark.parametrize(("size", "status"), [(256 * 1024 - 12, 202), (256 * 1024, 413)])
async def test_an_input_has_at_most_256_kibibytes(engine: Engine, starter: Starter, size: int, status: int) -> None:
    await starter.publish(spec_of(tool("only", "echo"), inputs={"word": {"type": "string"}}))
    reply = await starter.client.post("/api/workflows/probe/run", {"input": {"word": "x" * size}})

    assert reply.status == status, reply.raw[:200]


async def test_a_map_of_as_many_items_as_a_run_may_take_runs_and_one_more_is_refused(
    engine: Engine, starter: Starter
) -> None:
    document = spec_of(mapped(ref("input.items"), {"value": "x"}), inputs={"items": {"type": "array"}})
    await starter.publish(document)
    most, over = await starter.start("probe", {"items": [0] * 999}), await starter.start("probe", {"items": [0] * 1000})
    hand = Hand(engine)
    while attempts := await hand.claim(100):
        await asyncio.gather(*(hand.do(attempt) for attempt in attempts))
    fine, refused = await starter.read(most), await starter.read(over)

    assert (fine["state"], fine["steps_used"], len(fine["output"]["results"])) == ("succeeded", 1000, 999)
    assert (refused["state"], refused["error"]["code"]) == ("failed", "workflows.max_steps")
    seen = [item["index"] for item in fine["steps"][0]["items"]]
    cursor = fine["steps"][0]["next_cursor"]
    while cursor:
        page = (await starter.client.get(f"/api/runs/{most}", step="each", cursor=cursor))["steps"][0]
        seen += [item["index"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == list(range(999))
    assert await engine.broken_promises() == []


async def test_values_nested_as_deep_as_json_may_be_end_one_run_at_most(engine: Engine, starter: Starter) -> None:
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    document = spec_of(
        tool("first", "echo", {"items": ref("input.deep")}),
        {"name": "which", "kind": "choice", "when": {"equals": [ref("steps.first.output.result"), ref("input.deep")]},
         "then": "same", "else": "other"},
        tool("same", "write", {"value": "the same"}, terminal=True), tool("other", "echo"), inputs={"deep": {"type": "array"}},
    )  # fmt: skip
    run = await starter.run(document, {"deep": deep})

    assert run["state"] == "succeeded"
    assert await notes_called(starter, "the same") == 1

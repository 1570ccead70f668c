"""What the agent keeps of a call is kept in the transaction of the call's effect, also where its tool waits and writes later."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.engine.tools.calls import call_tool
from atrium.kit.errors import Unavailable
from atrium.product.notes import service as notes
from atrium.seams.context import Operation
from atrium.seams.tools import RecordedResult, Tool
from tests.domains.agent.test_api import TASK, calls, run, says, taken_for_dead, titles
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.reader import Reader
from tests.support.speaker import Line, Speaker
from tests.support.spoken_house import reserved

Perform = Callable[[Operation, dict[str, Any]], Awaitable[RecordedResult[str]]]
SLOW: tuple[str, dict[str, Any]] = ("slow_write", {})


@contextmanager
def offering(houses: list[Application], perform: Perform) -> Iterator[None]:
    """Both processes have a tool that opens its own transactions and writes here."""
    tool = Tool(
        name="slow_write",
        description="Write.",
        permission="notes:write",
        effect="write",
        untrusted=False,
        perform=perform,
    )
    for house in houses:
        house.services.registry.tools[tool.name] = tool
    try:
        yield
    finally:
        for house in houses:
            del house.services.registry.tools[tool.name]


async def write(op: Operation) -> RecordedResult[str]:
    """The effect, and what the call comes to."""
    async with op.begin() as ctx:
        await notes.create_note(ctx, "Slowly", "", "team")
        return await ctx.record_result("written")


@asynccontextmanager
async def under_way(alice: Client, speaker: Speaker, begun: asyncio.Event) -> AsyncIterator[Reader]:
    """A run whose model has called the tool, from when the tool says so."""
    reader = await Reader(alice, TASK | {"stream": True, "on_disconnect": "finish"}, path="/api/agent").open()
    (await speaker.line()).call(SLOW, usage=(5, 3))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    yield reader


async def test_an_effect_that_was_recorded_is_not_repeated_when_its_process_is_lost(
    alice: Client, elsewhere: Client, speaker: Speaker, houses: list[Application]
) -> None:
    written, released = asyncio.Event(), asyncio.Event()

    async def slowly(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        result = await write(op)
        written.set()
        await released.wait()
        return result

    with offering(houses, slowly):
        async with under_way(alice, speaker, written) as reader:
            await taken_for_dead(houses)
            reply = await run(elsewhere, speaker, says("Written once."), run=reader.turn)
            released.set()
            last = await reader.ended()

    assert [(step["status"], step["result"]) for step in reply["steps"]] == [("ok", "written")]
    assert (last.name, last.data["code"]) == ("error", "agent.taken_over")
    assert (await titles(alice), await reserved(alice)) == (["Slowly"], 0)


@pytest.mark.parametrize("gone_on", [True, False], ids=["gone on with", "not gone on with"])
async def test_a_tool_that_waits_in_a_process_taken_for_dead_writes_nothing(
    alice: Client, elsewhere: Client, speaker: Speaker, houses: list[Application], gone_on: bool
) -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    async def slowly(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        begun.set()
        await released.wait()
        return await write(op)

    with offering(houses, slowly):
        async with under_way(alice, speaker, begun) as reader:
            await taken_for_dead(houses)
            if gone_on:
                reply = await run(elsewhere, speaker, says("I do not know."), run=reader.turn)
                assert [step["status"] for step in reply["steps"]] == ["unknown"]
            released.set()
            await reader.ended()

    assert await titles(alice) == []


async def test_a_call_that_breaks_off_after_its_effect_is_told_as_done(
    alice: Client, speaker: Speaker, houses: list[Application]
) -> None:
    async def breaks_off(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        await write(op)
        raise Unavailable("not just now")

    with offering(houses, breaks_off):
        reply = await run(alice, speaker, calls(SLOW), says("Written."))

    assert [(step["status"], step["result"]) for step in reply["steps"]] == [("ok", "written")]
    assert await titles(alice) == ["Slowly"]


async def test_what_was_recorded_and_undone_is_told_as_refused(
    alice: Client, speaker: Speaker, houses: list[Application]
) -> None:
    async def undone(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        async with op.begin() as ctx:
            await ctx.record_result("written")
            raise Unavailable("not just now")

    with offering(houses, undone):
        reply = await run(alice, speaker, calls(SLOW), says("It did not work."))

    assert [(step["status"], step["result"]) for step in reply["steps"]] == [("error", "not just now")]


async def test_what_a_tools_own_tool_comes_to_is_not_what_the_call_comes_to(
    alice: Client, speaker: Speaker, houses: list[Application]
) -> None:
    async def outer(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        await call_tool(op, "notes_create", {"title": "Inside", "body": ""})
        return await write(op)

    with offering(houses, outer):
        reply = await run(alice, speaker, calls(SLOW), says("Written."))

    assert [(step["status"], step["result"]) for step in reply["steps"]] == [("ok", "written")]
    assert sorted(await titles(alice)) == ["Inside", "Slowly"]


async def test_a_tool_that_changed_after_the_question_is_not_called(
    alice: Client, speaker: Speaker, houses: list[Application]
) -> None:
    async def writes(op: Operation, arguments: dict[str, Any]) -> RecordedResult[str]:
        return await write(op)

    tools = houses[0].services.registry.tools
    with offering(houses, writes):

        def call_what_changed(line: Line) -> None:
            tools["slow_write"] = replace(tools["slow_write"], description="Write something else.")
            line.call(SLOW, usage=(5, 3))

        reply = await run(alice, speaker, call_what_changed, says("It has changed."))

    assert [step["status"] for step in reply["steps"]] == ["denied"]
    assert await titles(alice) == []


async def test_a_tool_that_writes_and_records_nothing_fails(
    alice: Client, speaker: Speaker, houses: list[Application]
) -> None:
    """The boot refuses one that does not say that it records; this one only says so."""

    async def forgets(op: Operation, arguments: dict[str, Any]) -> Any:
        return "written"

    with offering(houses, forgets):
        reply = await run(alice, speaker, calls(SLOW), says("It did not work."))

    assert [step["status"] for step in reply["steps"]] == ["error"]
    assert "has not recorded its result" in reply["steps"][0]["result"]

"""One way to call a tool, for every caller: agents, workflow steps, MCP clients and plugins."""

import asyncio
import hashlib
from collections.abc import Awaitable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

import msgspec

from atrium.engine.tools import service, store
from atrium.engine.tools.model import (
    BadArguments,
    EffectRefused,
    EgressConfined,
    EgressRefused,
    ResultTooLarge,
    ToolFailed,
    ToolResult,
    ToolTimedOut,
    UnboundRead,
)
from atrium.engine.tools.service import effect_of
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.features import service as features
from atrium.kit.errors import AppError
from atrium.kit.ids import NIL
from atrium.kit.schemas.cost import SchemaRefused
from atrium.kit.schemas.parse import CompiledSchema, ReplyRefused, compile_schema, require_fitting
from atrium.kit.telemetry.log import log
from atrium.seams.context import CallRecord, Context, Operation, RunStep, Services
from atrium.seams.sharing import UNTRACKED
from atrium.seams.tools import Artifact, RecordedResult, Tool, schema_of

LARGEST_RESULT = 1 << 20
# What a model is shown of a result, half of it from the beginning and half from the end.
LONGEST_TEXT = 16_000


class _ToolsRecord(msgspec.Struct, frozen=True):
    """The record of a call as its tool has it: what the tool records is held to the same as what it returns."""

    record: CallRecord
    called: Tool

    def accept(self, tool: Tool) -> None:
        self.record.accept(tool)

    async def begin(self, ctx: Context, tool: Tool) -> None:
        await self.record.begin(ctx, tool)

    async def end(self, ctx: Context, result: Any) -> None:
        await self.record.end(ctx, _result(self.called, result))


async def call_tool(
    op: Operation, name: str, arguments: Any, record: CallRecord | None = None, *, via: str | None = None
) -> ToolResult:
    """Call a tool as the operation's principal.

    Refused: a tool that the team has not turned on, a permission that is missing, a feature that is off, arguments against the
    schema, an effect from a request or a tool that only reads. A call with an effect leaves an audit event: with `run` and `act` in
    the same transaction, with `perform` before the tool begins. A call `via` another protocol leaves one that names it, whatever
    its effect. What has an effect is recorded with it, in this call's own `record`: called by a tool, it is not what that tool comes to.
    """
    op = msgspec.structs.replace(op, record=None)
    own = op.services.registry.tools.get(name)
    reading = via is None and own is not None and effect_of(own) == "read"
    async with op.begin(reading=reading, long=own is not None and own.long) as ctx:
        tool = await service.find_enabled(ctx, name)
        require_callable(ctx, tool, arguments)
        if tool.foreign:
            ctx.touch(UNTRACKED, [NIL])
        if record is not None:
            record.accept(tool)
        if via is not None:
            # First: the transaction of a tool that only reads cannot write once it has begun.
            await record_call(ctx, tool, arguments, via=via)
        if tool.perform is None:
            result = await _run(ctx, tool, arguments, reading=reading)
        if via is None and effect_of(tool) != "read":
            await record_call(ctx, tool, arguments)
        if record is not None and effect_of(tool) != "read":
            await (record.begin(ctx, tool) if tool.perform is not None else record.end(ctx, result))
    if tool.perform is not None:
        only_reads = op.only_reads or effect_of(tool) == "read"
        own_record = None if record is None else _ToolsRecord(record, tool)
        acting = msgspec.structs.replace(op, only_reads=only_reads, record=own_record)
        result = await _watched(op.services, tool, tool.perform(acting, arguments))
    return result


def reads_within(services: Services, name: str) -> bool:
    """Whether this is a tool of ours that only reads, in the transaction of its call: `call_together` takes it."""
    own = services.registry.tools.get(name)
    return own is not None and effect_of(own) == "read" and own.perform is None and not own.long


async def call_together(
    ctx: Context, name: str, calls: Sequence[tuple[RunStep, Any]], seconds: float
) -> list[ToolResult]:
    """Results of calls of a tool that `reads_within` the caller's transaction, which only reads, for some seconds and in their order.

    It ends before the first call that is refused or fails: that one is to be made again, alone.
    """
    tool, until, results = await service.find_enabled(ctx, name), perf_counter() + seconds, list[ToolResult]()
    for step, arguments in calls:
        if perf_counter() > until:
            break
        try:
            require_callable(ctx, tool, arguments)
            results.append(await _run(msgspec.structs.replace(ctx, step=step), tool, arguments, reading=True))
        except AppError:
            break
    return results


def require_callable(ctx: Context, tool: Tool, arguments: Any) -> None:
    """Refuse a permission or a feature that is missing, arguments against the schema, an effect from what only reads, and egress without
    consent."""
    access.require(ctx, tool.permission)
    if tool.feature is not None:
        features.require_feature(ctx, tool.feature)
    _require_egress(ctx, tool)
    _require_arguments(tool, arguments)
    if effect_of(tool) != "read":
        access.require_writing(ctx)
        if ctx.only_reads:
            raise EffectRefused(f"the tool {tool.name} has an effect, and the tool that calls it only reads")


def _require_egress(ctx: Context, tool: Tool) -> None:
    if ctx.bound is None or not tool.sends_out or ctx.bound.egress:
        return
    if ctx.bound.confined:
        raise EgressConfined(
            f"{tool.name} sends something elsewhere, and not everybody who set up this run can read the file that fired it"
        )
    raise EgressRefused(
        f"{tool.name} sends something elsewhere; a person with settings:manage allows that on the trigger, for each version anew"
    )


def _note_untracked(ctx: Context) -> None:
    """No domain knows what a tool reads by statements of its own, so that who else can read it is not known."""
    if ctx.is_bound:
        raise UnboundRead(
            "this tool reads by statements of its own; a run that a trigger of another person started does not use it"
        )
    ctx.touch(UNTRACKED, [NIL])


async def _run(ctx: Context, tool: Tool, arguments: Any, *, reading: bool) -> ToolResult:
    if effect_of(tool) == "read" and not reading:
        await store.forbid_writes(ctx.db)
    if tool.act is not None:
        return await _watched(ctx.services, tool, tool.act(ctx, arguments))
    if tool.run is None:
        raise ToolFailed(f"the tool {tool.name} has no function")
    db = ctx.db.observed(lambda: _note_untracked(ctx)) if ctx.step is not None else ctx.db
    return await _watched(ctx.services, tool, tool.run(db, ctx.who, arguments))


async def record_call(ctx: Context, tool: Tool, arguments: Any, **facts: str) -> None:
    """An audit event with the digest of the arguments: the arguments themselves may be private."""
    try:
        digest = hashlib.sha256(msgspec.json.encode(arguments, order="sorted")).hexdigest()
    except (ValueError, OverflowError, RecursionError) as error:
        raise BadArguments(f"the arguments of {tool.name} are nested too deeply, or not JSON: {error}") from error
    await audit.record(ctx, "tools.called", tool.name, effect=effect_of(tool), arguments=digest, **facts)


async def _watched(services: Services, tool: Tool, called: Awaitable[Any]) -> ToolResult:
    """The result of a call that takes no longer than it may, counted by how it ended."""
    began, end = perf_counter(), "failed"
    try:
        async with asyncio.timeout(tool.seconds):
            result = _result(tool, _returned(tool, await called))
        end = "done"
        return result
    except TimeoutError as error:
        end = "timed_out"
        raise ToolTimedOut(f"the tool {tool.name} took more than {tool.seconds:g} seconds") from error
    except AppError:
        end = "refused"
        raise
    except Exception as error:  # a plugin's tool may raise anything; its call is the boundary
        log.error("tool.failed", tool=tool.name, source=tool.source, exc_info=error)
        raise ToolFailed(f"the tool {tool.name} failed") from error
    finally:
        services.metrics.tool_calls.labels(tool.source, effect_of(tool), end).inc()
        services.metrics.tool_seconds.labels(tool.source).observe(perf_counter() - began)


def _require_arguments(tool: Tool, arguments: Any) -> None:
    try:
        require_fitting(arguments, _compiled(msgspec.json.encode(schema_of(tool)).decode()))
    except ReplyRefused as error:
        raise BadArguments(f"the arguments of {tool.name}: {error}") from error
    except SchemaRefused as error:
        raise ToolFailed(f"the tool {tool.name} cannot be called: {error}") from error


@lru_cache(maxsize=1024)
def _compiled(schema: str) -> CompiledSchema:
    return compile_schema(msgspec.json.decode(schema))


def _returned(tool: Tool, returned: Any) -> Any:
    if isinstance(returned, RecordedResult):
        return returned.value
    if tool.must_record:
        raise ToolFailed(f"the tool {tool.name} writes here and has not recorded its result with that")
    return returned


def _result(tool: Tool, returned: Any) -> ToolResult:
    artifact = returned if isinstance(returned, Artifact) else None
    try:
        encoded = msgspec.json.encode(artifact.as_value() if artifact else returned)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolFailed(f"the result of {tool.name} is not JSON: {error}") from error
    if len(encoded) > LARGEST_RESULT:
        raise ResultTooLarge(
            f"the result of {tool.name} has more than {LARGEST_RESULT} bytes; let it write a file instead"
        )
    text = artifact.as_text() if artifact else returned if isinstance(returned, str) else encoded.decode()
    return ToolResult(
        name=tool.name,
        effect=effect_of(tool),
        untrusted=tool.untrusted,
        # What a workflow step keeps is what its row will hold, whatever types the tool used.
        value=msgspec.json.decode(encoded),
        text=shorten_result(text),
        artifact=artifact,
    )


def shorten_result(text: str) -> str:
    """The beginning and the end of a long text, with how much is left out between them."""
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def digest_of(tool: Tool, arguments: Any) -> bytes:
    """What stands for exactly this tool as it is defined now, called with exactly these arguments."""
    facts = [tool.name, tool.source, tool.description, tool.permission, effect_of(tool), schema_of(tool), arguments]
    return hashlib.sha256(msgspec.json.encode(facts, order="sorted")).digest()

"""One call of the agent: may it run, what came of it, and that it happens at most once."""

from typing import Any

import msgspec

from atrium.engine.agent import store
from atrium.engine.agent.model import AgentCall, CallChanged, CallStatus
from atrium.engine.tools.calls import call_tool, digest_of, require_callable
from atrium.engine.tools.model import BadArguments, ToolMissing, ToolResult, ToolTimedOut
from atrium.engine.turns import service as turns
from atrium.engine.turns.model import NewTurn
from atrium.kit.errors import AppError, Conflict, Forbidden, Suspended, Unauthenticated
from atrium.seams.context import Context, Operation
from atrium.seams.tools import Tool


class CallEnded(msgspec.Struct, frozen=True):
    """What came of a call; `taints` when others may have written some of it."""

    status: CallStatus
    result: str
    artifact: dict[str, Any] | None = None
    taints: bool = False


class TakenOver(Conflict):
    """Another process took this one for dead, and has gone on with its run."""

    code, title = "agent.taken_over", "Another process goes on with this run"


def lost_run() -> TakenOver:
    """What readers are told whose process lost its run."""
    return TakenOver("another process goes on with this run; read it again to follow it there")


async def require_ours(ctx: Context, run: NewTurn) -> None:
    """Refuse once another process has taken the run over; until the commit none can."""
    if not await turns.is_ours(ctx, run):
        raise lost_run()


class AgentCallRecord(msgspec.Struct):
    """Writes down what a call comes to in the transaction in which it happens, so that it never happens twice."""

    run: NewTurn
    call: AgentCall
    # What a transaction has kept that may have been rolled back.
    ended: CallEnded | None = None

    def accept(self, tool: Tool) -> None:
        """Refuse a tool that is not the one the model was offered, and a person may have approved."""
        if digest_of(tool, self.call.arguments) != self.call.digest:
            raise CallChanged(f"the tool {tool.name} was changed since the model asked for it")

    async def begin(self, ctx: Context, tool: Tool) -> None:
        """Its end will be seen in another transaction, or not at all."""
        await require_ours(ctx, self.run)
        if not await store.begin_call(ctx.db, ctx.who.org_id, self.run.id, self.call.number):
            raise TakenOver(f"the call of {tool.name} has begun already")

    async def end(self, ctx: Context, result: ToolResult) -> None:
        """What it changed commits together with this."""
        ended = _ended(result)
        kept = msgspec.structs.replace(self.call, status=ended.status, result=ended.result, artifact=ended.artifact)
        await require_ours(ctx, self.run)
        if not await store.end_call(ctx.db, ctx.who.org_id, self.run.id, kept):
            raise TakenOver(f"the call of {result.name} was made already")
        self.ended = ended

    async def find_end(self, op: Operation) -> CallEnded | None:
        """What is kept of a call that broke off; None where it had recorded nothing by then."""
        if self.ended is None:
            return None
        async with op.begin(held=False) as ctx:
            calls = await store.list_calls(ctx.db, ctx.who.org_id, self.run.id)
        return self.ended if any(one.number == self.call.number and one.status == "ok" for one in calls) else None


async def make_call(
    op: Operation, tool: Tool | None, call: AgentCall, record: AgentCallRecord, *, approved: bool
) -> CallEnded:
    """Make one call as the person whose run it is; what the tool refuses is an answer to the model, not the end of the run."""
    if call.status == "running":
        return CallEnded(
            "unknown", "the server stopped during this call; whether it happened is not known, and it is not repeated"
        )
    if tool is None:
        return CallEnded("denied", f"there is no tool {call.name}")
    try:
        if call.effect != "read" and not approved:
            async with op.begin() as ctx:
                require_callable(ctx, tool, call.arguments)
            return CallEnded("needs_approval", "")
        return await _call_recorded(op, call, record)
    except BadArguments as error:
        return CallEnded("bad_arguments", error.message)
    except (Unauthenticated, Suspended, TakenOver):
        # Not about this call: the run itself has no right to go on.
        raise
    except (Forbidden, ToolMissing, CallChanged) as error:
        return CallEnded("denied", error.message)
    except ToolTimedOut as error:
        return CallEnded("timeout" if tool.perform is None or call.effect == "read" else "unknown", error.message)
    except AppError as error:
        # What a tool that waits for a model or another machine refuses with may be their words, whatever its results are.
        return CallEnded("error", error.message, taints=tool.untrusted or tool.perform is not None)


async def _call_recorded(op: Operation, call: AgentCall, record: AgentCallRecord) -> CallEnded:
    """What came of the call; also where its tool breaks off after its effect."""
    try:
        return _ended(await call_tool(op, call.name, call.arguments, record))
    except AppError:
        if (ended := await record.find_end(op)) is not None:
            return ended
        raise


def _ended(result: ToolResult) -> CallEnded:
    artifact = None if result.artifact is None else msgspec.to_builtins(result.artifact.as_value())
    return CallEnded("ok", result.text.replace("\0", ""), artifact, result.untrusted)

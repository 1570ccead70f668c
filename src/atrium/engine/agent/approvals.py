"""What a person decides about the calls of a run that wait for them."""

from collections.abc import Mapping

from atrium.engine.agent import store
from atrium.engine.agent.model import AgentCall, AlreadyDecided, CallChanged, Decision, DecisionMissing, StoredRun
from atrium.engine.tools.calls import digest_of
from atrium.ground.audit import service as audit
from atrium.seams.context import Context
from atrium.seams.tools import Tool


async def decide(
    ctx: Context, run: StoredRun, calls: list[AgentCall], offered: Mapping[str, Tool], decisions: list[Decision]
) -> None:
    """Keep what the person decided about every call that waits; refused when one is not what they saw."""
    if run.state != "waiting":
        raise AlreadyDecided("this run does not wait for a decision any more")
    waiting = {call.id: call for call in calls if call.status == "needs_approval"}
    if sorted(waiting) != sorted(one.call for one in decisions):
        raise DecisionMissing(f"decide each of these calls, once: {', '.join(waiting)}")
    for one in decisions:
        call = waiting[one.call]
        tool = offered.get(call.name)
        if one.digest.lower() != call.digest.hex():
            raise CallChanged(f"the digest of {one.call} is not that of the call which waits; read the run again")
        if one.approve and (tool is None or digest_of(tool, call.arguments) != call.digest):
            raise CallChanged(f"the tool {call.name} was changed or turned off since; decline it, or ask again")
        call.status = "approved" if one.approve else "rejected"
        call.result = "" if one.approve else f"the person declined this call. {one.note}".strip()
        await store.decide_call(ctx.db, ctx.who.org_id, run.id, call.number, call.status, call.result)
        await audit.record(
            ctx, "agent.decided", call.name, run=run.id, call=one.call, approved=one.approve, digest=call.digest.hex()
        )
    await store.set_state(ctx.db, ctx.who.org_id, run.id, "running")

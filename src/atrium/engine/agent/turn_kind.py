"""What turns are told about runs of the agent that this process does not work on."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.agent import store
from atrium.engine.agent.model import final_event
from atrium.engine.chat.model import OpenTurn
from atrium.engine.executors.turns import paid_for
from atrium.engine.jobs import child_jobs as job_parts
from atrium.engine.turns import lost_turns
from atrium.engine.turns.model import LostTurn, StoredPiece, TurnEnd
from atrium.engine.turns.transcripts import WORDS
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.seams.context import Context, Operation
from atrium.seams.models import TokenUsage
from atrium.seams.turns import TurnKind


async def read_final_event(op: Operation, id: UUID, ending: TurnEnd, text: str) -> dict[str, Any] | None:
    """What the last event of a run carries; None of another turn."""
    if not ending.run:
        return None
    async with op.begin(held=False) as ctx:
        run = await store.find_run(ctx.db, ctx.who, id)
        calls = await store.list_calls(ctx.db, ctx.who.org_id, id)
    return final_event(ending, text, calls, [] if run is None else run.tainted_by())


async def settle_lost(ctx: Context, lost: LostTurn, pieces: list[StoredPiece]) -> bool:
    """Pay the question that was being answered, and end the turn of a run, which can go on later; False of another turn."""
    org_id, usage = ctx.who.org_id, TokenUsage(0, 0)
    asked = await store.find_step(ctx.db, org_id, lost.id)
    if asked is None:
        return False
    if asked.admission_id is not None:
        reserved = asked.reserved or 0
        said = [piece for piece in pieces if piece.at >= (asked.at or 0) and piece.kind in WORDS]
        usage = await lost_turns.usage_of(ctx, asked.prompt or 0, reserved, said)
        step = Admission(asked.admission_id, org_id, lost.team_id, {"ai.tokens.total": reserved})
        if await store.end_step(ctx.db, org_id, lost.id, asked.admission_id, usage):
            await job_parts.end(ctx, asked.admission_id)
            await quotas.settle_within(ctx, step, paid_for(usage) if said else {})
    ending = msgspec.structs.replace(lost_turns.interrupted(usage), run=True, answer_at=asked.at or 0)
    await lost_turns.interrupt(ctx, lost, ending)
    await quotas.settle_within(ctx, Admission(lost.admission_id, org_id, lost.team_id, {"ai.concurrency": 1}), {})
    return True


async def find_open(ctx: Context, conversation_id: UUID) -> OpenTurn | None:
    """The caller's run that works, waits or broke off in a conversation."""
    return await store.find_open_run(ctx.db, ctx.who, conversation_id)


KIND = TurnKind(name="agent", final_event=read_final_event, settle_lost=settle_lost, offers=find_open)

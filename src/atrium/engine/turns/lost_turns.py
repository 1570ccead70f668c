"""Turns of processes that have died: each is ended and paid by its kind."""

from uuid import UUID

import msgspec

from atrium.engine.inference.estimates import Estimator
from atrium.engine.turns import store
from atrium.engine.turns.active_turn import end_of_failure
from atrium.engine.turns.model import Interrupted, LostTurn, StoredPiece, TurnEnd
from atrium.seams.context import Context, Services
from atrium.seams.models import TokenUsage

_MOST_LOST = 500


async def settle_lost(services: Services) -> int:
    """End and pay what processes were asking for that have died since; how many turns."""
    async with services.database.begin_system() as db:
        found = await store.list_lost(db, services.turns.process_id, _MOST_LOST)
    for org_id, id in found:
        async with services.database.begin(org_id) as db:
            await _settle(Context.of_company(services, db, org_id), id)
    return len(found)


async def _settle(ctx: Context, id: UUID) -> None:
    lost = await store.find_lost(ctx.db, ctx.who.org_id, id)
    if lost is None:
        return
    pieces = await store.list_pieces(ctx.db, ctx.who.org_id, id)
    for kind in reversed(ctx.services.registry.turn_kinds):
        if await kind.settle_lost(ctx, lost, pieces):
            return
    raise LookupError(f"turn {id} is of no kind")


async def interrupt(ctx: Context, lost: LostTurn, ending: TurnEnd) -> None:
    """End a lost turn so."""
    told = msgspec.to_builtins(ending)
    await store.end_turn(ctx.db, ctx.who.org_id, lost.id, lost.admission_id, "interrupted", told, [])


def interrupted(usage: TokenUsage) -> TurnEnd:
    """The ending of a turn whose process has died."""
    return end_of_failure(
        Interrupted("the server that asked the model stopped; what was kept until then is here"), usage
    )


async def usage_of(ctx: Context, prompt_tokens: int, reserved: int, pieces: list[StoredPiece]) -> TokenUsage:
    """What was stored of it cost: as told with the last piece, else as it was estimated."""
    if not pieces:
        return TokenUsage(0, 0)
    last = pieces[-1]
    if last.prompt_told is not None and last.reply_told is not None:
        return TokenUsage(last.prompt_told, last.reply_told)
    estimator = Estimator(ctx.services.compute, ctx.who.org_id)
    tokens = max(last.pieces, await estimator.text("".join([piece.body for piece in pieces])))
    prompt = min(prompt_tokens, reserved)
    return TokenUsage(prompt, min(tokens, reserved - prompt), exact=False)

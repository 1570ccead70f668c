"""Upkeep of turns: new output is stored every second, turns of dead processes are settled, old ones are deleted."""

import asyncio
import contextlib
from uuid import UUID

import msgspec

from atrium.engine.ai import agent_rows, store
from atrium.engine.ai.active_turn import ActiveTurn, end_of_failure
from atrium.engine.ai.model import Interrupted, LostTurn, NewPiece, StoredPiece, TurnEnd
from atrium.engine.executors.turns import paid_for
from atrium.engine.inference.estimates import Estimator
from atrium.engine.jobs import child_jobs as job_parts
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Admission
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.kit.postgres.presence import Presence
from atrium.kit.telemetry.log import log
from atrium.kit.transcripts import WORDS
from atrium.seams.context import Context, Services
from atrium.seams.models import TokenUsage

_AT_ONCE = 50
_MOST_LOST, _MOST_FORGOTTEN = 500, 1000
_LOOK_SECONDS = 5.0
# While PostgreSQL is away nothing can be settled; another process does it later.
_STOP_SECONDS = 15.0


async def store_pieces(services: Services) -> None:
    """Store what every turn of this process has said since the last time, in one statement, and say that this process is there."""
    kept, storing, done = list[NewPiece](), list[tuple[ActiveTurn, int]](), asyncio.get_running_loop().create_future()
    turn: ActiveTurn
    try:
        for number, turn in enumerate(services.turns):
            if not number % _AT_ONCE:
                # Requests have their turn in between.
                await asyncio.sleep(0)
            if turn.is_speaking and (pieces := turn.unstored()):
                kept += pieces
                # A turn that ends meanwhile waits before it stores the rest.
                turn.storing = done
                storing.append((turn, len(pieces)))
        async with services.database.begin_system() as db:
            if storing:
                await store.insert_pieces(db, kept)
            await store.note_alive(db, services.turns.process_id)
        for turn, count in storing:
            turn.stored += count
    finally:
        done.set_result(None)


async def settle_lost(services: Services) -> int:
    """End and pay what processes were asking for that have died since; how many turns."""
    async with services.database.begin_system() as db:
        found = await store.list_lost(db, services.turns.process_id, _MOST_LOST)
    for org_id, id in found:
        async with services.database.begin(org_id) as db:
            ctx = Context.of_company(services, db, org_id)
            lost = await store.find_lost(db, org_id, id)
            if lost is not None:
                await _settle(ctx, lost)
    return len(found)


async def _settle(ctx: Context, lost: LostTurn) -> None:
    org_id = ctx.who.org_id
    pieces = await store.list_pieces(ctx.db, org_id, lost.id)
    if lost.run_id is not None:
        await _settle_run(ctx, lost, pieces)
        return
    usage = await _usage_of(ctx, lost.prompt_tokens, lost.reserved_tokens, pieces)
    await _interrupt(ctx, lost, _interrupted(usage))
    await job_parts.end(ctx, lost.id)
    amounts = {"ai.tokens.total": lost.reserved_tokens}
    admission = Admission(lost.admission_id, org_id, lost.team_id, amounts)
    await quotas.settle_within(ctx, admission, paid_for(usage) if pieces else {})


async def _settle_run(ctx: Context, lost: LostTurn, pieces: list[StoredPiece]) -> None:
    """A run of the agent pays the question that was being answered, and can go on later."""
    org_id, usage = ctx.who.org_id, TokenUsage(0, 0)
    if lost.step_admission_id is not None:
        reserved = lost.step_reserved or 0
        said = [piece for piece in pieces if piece.at >= (lost.step_at or 0) and piece.kind in WORDS]
        usage = await _usage_of(ctx, lost.step_prompt or 0, reserved, said)
        step = Admission(lost.step_admission_id, org_id, lost.team_id, {"ai.tokens.total": reserved})
        if await agent_rows.end_step(ctx.db, org_id, lost.id, lost.step_admission_id, usage):
            await job_parts.end(ctx, lost.step_admission_id)
            await quotas.settle_within(ctx, step, paid_for(usage) if said else {})
    ending = msgspec.structs.replace(_interrupted(usage), run=True, answer_at=lost.step_at or 0)
    await _interrupt(ctx, lost, ending)
    await quotas.settle_within(ctx, Admission(lost.admission_id, org_id, lost.team_id, {"ai.concurrency": 1}), {})


async def _interrupt(ctx: Context, lost: LostTurn, ending: TurnEnd) -> None:
    told = msgspec.to_builtins(ending)
    await store.end_turn(ctx.db, ctx.who.org_id, lost.id, lost.admission_id, "interrupted", told, [])


def _interrupted(usage: TokenUsage) -> TurnEnd:
    return end_of_failure(
        Interrupted("the server that asked the model stopped; what was kept until then is here"), usage
    )


async def _usage_of(ctx: Context, prompt_tokens: int, reserved: int, pieces: list[StoredPiece]) -> TokenUsage:
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


async def start(services: Services) -> tuple["asyncio.Task[None]", Presence]:
    """Say that this process is there, and begin to listen for turns that are to stop."""
    services.metrics.open_turns.set_function(lambda: len(services.turns))
    await store_pieces(services)
    presence = Presence(services.settings.database_url, services.turns.process_id, store.BEAT)
    presence.start()
    return asyncio.create_task(_heed(services)), presence


async def stop(services: Services, begun: tuple["asyncio.Task[None]", Presence]) -> None:
    """Interrupt what is still running; all that was said is stored and paid."""
    heeding, presence = begun
    heeding.cancel()
    await asyncio.gather(heeding, return_exceptions=True)
    turn: ActiveTurn
    for turn in services.turns:
        turn.stop("interrupted")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_STOP_SECONDS):
            await services.turns.settled()
    await presence.stop()


async def _heed(services: Services) -> None:
    """Stop turns of this process that another process was asked to stop."""
    process_id: UUID = services.turns.process_id
    with services.notifier.subscribe(frozenset({store.topic_of(process_id)})) as notified:
        while True:
            await wait_for(notified, _LOOK_SECONDS)
            if not len(services.turns):
                continue
            try:
                async with services.database.begin_system() as db:
                    ids = await store.list_to_stop(db, process_id)
            except Exception as error:  # an outermost loop: the next look may find PostgreSQL again
                (log.warning if refusal_of(error) else log.error)("turns.look_failed", error=error)
                continue
            for id in ids:
                found: ActiveTurn | None = services.turns.find(id)
                if found is not None:
                    found.stop()

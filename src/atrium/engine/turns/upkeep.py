"""Upkeep of turns: new output is stored every second, and turns stop that another process was asked to stop."""

import asyncio
import contextlib
from uuid import UUID

from atrium.engine.turns import store
from atrium.engine.turns.active_turn import ActiveTurn, find_active, list_active
from atrium.engine.turns.model import NewPiece
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.kit.postgres.presence import Presence
from atrium.kit.telemetry.log import log
from atrium.seams.context import Services

_AT_ONCE = 50
_LOOK_SECONDS = 5.0
# While PostgreSQL is away nothing can be settled; another process does it later.
_STOP_SECONDS = 15.0


async def store_pieces(services: Services) -> None:
    """Store what every turn of this process has said since the last time, in one statement, and say that this process is there."""
    kept, storing, done = list[NewPiece](), list[tuple[ActiveTurn, int]](), asyncio.get_running_loop().create_future()
    try:
        for number, turn in enumerate(list_active(services)):
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
    for turn in list_active(services):
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
                if (found := find_active(services, id)) is not None:
                    found.stop()

"""Servers that only these tests run: `python -m tests.crash.servers eager|hasty|split serve --port N`."""

import asyncio
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime

from atrium.cli import main
from atrium.ground.audit import service as audit
from atrium.ground.audit.chores import CHORES
from atrium.kit.ids import new_id
from atrium.product.notes import service, store
from atrium.product.notes.model import Note
from atrium.seams.context import Context, Operation

EAGER = ("-m", "tests.crash.servers", "eager")
HASTY = ("-m", "tests.crash.servers", "hasty")
SPLIT = ("-m", "tests.crash.servers", "split")
_tasks: set[asyncio.Task[None]] = set()


async def create_note_later(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """A mistake on purpose: the reply is sent first, the note is written afterwards."""
    now = datetime.now(UTC)
    note = Note(new_id(), ctx.who.team_id, ctx.who.user_id, title, body, "private", 1, now, now)
    _later(_write(_operation(ctx), note))
    return note


async def create_note_and_record_later(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """Another mistake on purpose: the note and its audit event do not stand or fall together."""
    note = await store.insert_note(ctx.db, ctx.who, new_id(), title, body, visibility)
    assert note is not None
    _later(_record(_operation(ctx), note))
    return note


async def _write(op: Operation, note: Note) -> None:
    async with op.begin() as ctx:
        await store.insert_note(ctx.db, ctx.who, note.id, note.title, note.body, note.visibility)
        await audit.record(ctx, "notes.created", note.id)


async def _record(op: Operation, note: Note) -> None:
    async with op.begin() as ctx:
        await audit.record(ctx, "notes.created", note.id)


def _operation(ctx: Context) -> Operation:
    return Operation(who=ctx.who, services=ctx.services)


def _later(work: Coroutine[None, None, None]) -> None:
    task = asyncio.create_task(_after_a_moment(work))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _after_a_moment(work: Coroutine[None, None, None]) -> None:
    await asyncio.sleep(0.05)
    await work


if __name__ == "__main__":
    # Sealing all the time instead of every ten seconds, so that kills also land in the middle of it.
    object.__setattr__(CHORES[0], "seconds", 0.02)
    variant = sys.argv.pop(1)
    if variant != "eager":
        service.create_note = {"hasty": create_note_later, "split": create_note_and_record_later}[variant]
    raise SystemExit(main())

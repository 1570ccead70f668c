"""Servers that only these tests run: `python -m tests.processes.crash.servers eager|hasty|split|careless|hurried serve --port N`."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from atrium.cli import main
from atrium.ground.audit import service as audit
from atrium.ground.audit.chores import CHORES
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction
from atrium.product.notes import service, store
from atrium.product.notes.model import Note
from atrium.product.onboarding import prospect_rows, signup
from atrium.product.onboarding.funnel import Funnel
from atrium.product.onboarding.prospect_rows import NewProspect
from atrium.product.onboarding.signup import SentAnswers
from atrium.seams.context import Context, Operation

EAGER = ("-m", "tests.processes.crash.servers", "eager")
HASTY = ("-m", "tests.processes.crash.servers", "hasty")
SPLIT = ("-m", "tests.processes.crash.servers", "split")
CARELESS = ("-m", "tests.processes.crash.servers", "careless")
HURRIED = ("-m", "tests.processes.crash.servers", "hurried")
keep_prospect, keep_sign_up = prospect_rows.keep_prospect, signup._keep
_tasks: set[asyncio.Task[None]] = set()


async def create_note_later(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """A mistake on purpose: the reply is sent first, the note is written afterwards."""
    now = datetime.now(UTC)
    note = Note(new_id(), ctx.who.team_id, ctx.who.user_id, title, body, "private", 1, now, now, ctx.who.user_id)
    _later(_write(_operation(ctx), note))
    return note


async def create_note_and_record_later(ctx: Context, title: str, body: str, visibility: str) -> Note:
    """Another mistake on purpose: the note and its audit event do not stand or fall together."""
    note = await store.insert_note(ctx.db, ctx.who, new_id(), title, body, visibility)
    assert note is not None
    _later(_record(_operation(ctx), note))
    return note


async def keep_prospect_carelessly(db: Transaction, org_id: UUID, new: NewProspect) -> UUID | None:
    """A third one: whether a proof was spent is asked first, and whether it still was not is not looked at afterwards."""
    if await db.value("SELECT 1 FROM onboarding_proofs WHERE digest = :digest", digest=new.digest):
        return None
    kept = await keep_prospect(db, org_id, new)
    return kept or await keep_prospect(db, org_id, msgspec.structs.replace(new, digest=os.urandom(32)))


async def keep_sign_up_later(op: Operation, funnel: Funnel, sent: SentAnswers) -> None:
    """A fourth one: everybody is told that they were received, and then it is looked at."""
    _later(keep_sign_up(op, funnel, sent))


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
    if variant == "careless":
        prospect_rows.keep_prospect = keep_prospect_carelessly
    elif variant == "hurried":
        signup._keep = keep_sign_up_later
    elif variant != "eager":
        service.create_note = {"hasty": create_note_later, "split": create_note_and_record_later}[variant]
    raise SystemExit(main())

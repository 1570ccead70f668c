"""What a pull executor's worker may do: claim jobs, keep them, end them; and how long its credential counts."""

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

from atrium.engine.executors import store
from atrium.engine.executors.model import ClaimedJob, ClaimReply, LeaseReply, ReplyChunk, SettledReply, StoredExecutor
from atrium.engine.jobs import dispatcher, remote
from atrium.kit.errors import Unauthenticated
from atrium.seams.context import Operation


async def claim_job(op: Operation, kinds: list[str], models: list[str], seconds: float) -> ClaimReply | None:
    """A job this worker can do, as soon as there is one; None after so many seconds without."""
    worker = await _worker(op)
    if worker.capabilities:
        kinds = [kind for kind in kinds if kind in worker.capabilities]
    able = models or ([worker.model] if worker.model else [])
    retired = asyncio.Event()
    gone = partial(_until_gone, op, retired) if seconds > 0 else op.gone
    attempt = await remote.claim_remote(op.services, worker.id, worker.bound_to, kinds, able, seconds, gone)
    if attempt is not None and not await _still_admitted(op):
        await dispatcher.hand_back(op.services, attempt)
        retired.set()
    if retired.is_set():
        raise Unauthenticated("this executor was retired while its worker waited")
    if attempt is None:
        return None
    claim = attempt.claim
    job = ClaimedJob(claim.id, claim.kind, attempt.input, claim.attempt, claim.model)
    return ClaimReply(job, claim.token, claim.lease_until)


async def extend_lease(op: Operation, id: UUID, token: str | None, said: ReplyChunk | None = None) -> LeaseReply:
    """Keep a job for longer, and say how its reply goes on."""
    worker = await _worker(op)
    if said is not None:
        await remote.hear(op.services, worker.id, worker.bound_to, id, token, said.at, said.text)
    lease = await remote.extend_lease(op.services, worker.id, worker.bound_to, id, token)
    return LeaseReply(lease.lease_until, lease.cancel_requested)


async def complete_job(op: Operation, id: UUID, token: str | None, result: Any) -> SettledReply:
    """Hand in a result; the kind's own check may refuse it, and then the job is still held."""
    worker = await _worker(op)
    settled = await remote.complete_remote(op.services, worker.id, worker.bound_to, id, token, result)
    return SettledReply(id, _wire(settled.state))


async def fail_job(op: Operation, id: UUID, token: str | None, error: str) -> SettledReply:
    """Give up on an attempt; another follows while there are attempts left."""
    worker = await _worker(op)
    settled = await remote.fail_remote(op.services, worker.id, worker.bound_to, id, token, error)
    return SettledReply(id, _wire(settled.state))


async def _worker(op: Operation) -> StoredExecutor:
    """The executor that is asking, seen now."""
    async with op.begin_system() as ctx:
        row = await store.find_executor(ctx.db, op.who.credential_id)
        if row is not None and not row.fresh:
            await store.note_seen(ctx.db, row.id)
    if row is None:
        raise Unauthenticated("this executor has just been retired")
    return row


async def _until_gone(op: Operation, retired: asyncio.Event) -> None:
    """Wait until the client disconnects or the executor is retired, here or in another process."""
    leaving = asyncio.ensure_future(op.gone())
    try:
        with op.services.notifier.subscribe(frozenset({store.topic_of(op.who.credential_id)})) as notified:
            while not leaving.done() and not retired.is_set():
                waiting = asyncio.ensure_future(notified.wait())
                await asyncio.wait({leaving, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if notified.is_set():
                    notified.clear()
                    # A ring may be for everybody; all who wait here look together.
                    if not await _still_admitted(op):
                        retired.set()
    finally:
        leaving.cancel()


async def _still_admitted(op: Operation) -> bool:
    """Whether the token that asked still stands: a worker may wait for half a minute, and a retired one gets nothing more."""

    async def look(ids: list[UUID]) -> list[bool | Exception]:
        async with op.begin_system() as ctx:
            standing = await store.list_standing(ctx.db, ids)
        return [id in standing for id in ids]

    return await op.services.combiner.submit("standing workers", op.who.credential_id, look)


def _wire(state: str) -> str:
    return "queued" if state == "scheduled" else state

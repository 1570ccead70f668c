"""The listeners of one process: changes are read once for all of a company's, and each is given what it may hear.

A commit is told to the other processes a little later, many in one notification; a look every few seconds is the net under it.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Coroutine
from datetime import datetime
from typing import Any
from uuid import UUID

from atrium.ground.identity import service as identity
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.kit.telemetry.log import log
from atrium.kit.web.sse import sse_frame
from atrium.kit.work.shares import Capacity, Permit
from atrium.product.changes import store
from atrium.product.changes.model import (
    Change,
    ChangePosition,
    ChangeStreamsFull,
    TooManyStreams,
    before,
    frame_of,
    write_id,
)
from atrium.seams.context import Principal, Services

POLL_SECONDS, MERGE_SECONDS = 5.0, 0.02
# Roles are looked at again as often as credentials are.
JUDGE_SECONDS = 15.0
# After so many that it has not taken a listener is told to read everything anew.
MOST_WAITING = 256
MOST_PER_CREDENTIAL, MOST_PER_PROCESS = 5, 10_000
# How long to wait before looking again for what an open transaction holds back.
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 1.0
_PAGE = 500


class ChangeStream:
    """One open stream: who hears, what, and what waits to be sent."""

    __slots__ = ("_frames", "_ready", "after", "closed", "kinds", "principals", "who")

    def __init__(self, who: Principal, principals: frozenset[UUID], kinds: frozenset[str]) -> None:
        self.who, self.principals, self.kinds = who, principals, kinds
        self.after: ChangePosition | None = None
        self.closed = False
        self._frames: deque[bytes] = deque()
        self._ready: asyncio.Future[None] | None = None

    async def take(self) -> bytes:
        """What has come since; waits for something. Empty once it is closed and everything was taken."""
        while not self._frames and not self.closed:
            self._ready = asyncio.get_running_loop().create_future()
            try:
                await self._ready
            finally:
                self._ready = None
        taken = b"".join(self._frames)
        self._frames.clear()
        return taken

    def give(self, frame: bytes, reset: bytes = b"") -> None:
        """Send this next; a listener that does not keep up gets `reset` in place of all that waits."""
        if reset and len(self._frames) >= MOST_WAITING:
            self._frames.clear()
            frame = reset
        self._frames.append(frame)
        self._wake()

    def close(self, frame: bytes) -> None:
        """Say a last thing."""
        self.closed = True
        self._frames.append(frame)
        self._wake()

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)


class CompanyFeed(asyncio.Event):
    """The listeners of one company in this process, and how far they have been told; set by a notification of its topic."""

    def __init__(self, hub: "Hub", org_id: UUID) -> None:
        super().__init__()
        self._hub, self.org_id = hub, org_id
        self.place: ChangePosition | None = None
        self.listeners: dict[UUID, set[ChangeStream]] = {}
        self.count = self.reads = 0
        self._reading: asyncio.Task[None] | None = None
        self._again = self._closed = False
        self._subscription = hub.services.notifier.subscribe(frozenset({topic_of(org_id)}), self)
        self._subscription.__enter__()

    def set(self) -> None:
        """There may be something new: read it, or once more if that is under way."""
        if self._reading is not None:
            self._again = True
        elif self.place is not None and not self._closed:
            self._reading = self._hub.spawn(self._read())

    def join(self, listener: ChangeStream) -> None:
        """Tell this one, too."""
        for principal in listener.principals:
            self.listeners.setdefault(principal, set()).add(listener)

    def leave(self, listener: ChangeStream) -> None:
        """This one is told no more, if it ever was."""
        for principal in listener.principals:
            group = self.listeners.get(principal, set())
            group.discard(listener)
            if not group:
                self.listeners.pop(principal, None)

    def close(self) -> None:
        """The last listener has left."""
        self._subscription.__exit__(None, None, None)
        self._closed = True

    async def _read(self) -> None:
        wait = _FIRST_WAIT
        try:
            while True:
                self._again = False
                held = await self._read_all()
                if held:
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, _LONGEST_WAIT)
                elif not self._again:
                    return
        except Exception as error:  # an outermost loop: the next look may find PostgreSQL again
            level = log.warning if refusal_of(error) else log.error
            level("changes.failed", error=str(error))
        finally:
            self._reading = None

    async def _read_all(self) -> bool:
        """Tell everything that is settled; whether something waits for an open transaction."""
        services = self._hub.services
        while self.place is not None and not self._closed:
            async with services.database.begin(self.org_id, reading=True) as db:
                found = await store.list_settled(db, self.org_id, self.place, _PAGE)
                held = None if len(found) == _PAGE else await store.find_unsettled(db, self.org_id)
            self.reads += 1
            for change in found:
                self._tell(change)
            if len(found) < _PAGE:
                services.metrics.changes_lag.set(held or 0)
                return held is not None
        return False

    def _tell(self, change: Change) -> None:
        self.place = change.place
        keys, frames, reset = self._hub.services.keys, dict[str, bytes](), b""
        heard = {one for id in {*change.had, *change.has} for one in self.listeners.get(id, ())}
        for listener in heard:
            action = change.told_to(listener.principals)
            if action is None or change.kind not in listener.kinds:
                continue
            if listener.after is not None and change.place <= listener.after:
                continue
            if action not in frames:
                frames[action] = frame_of(keys, self.org_id, change, action)
                reset = reset or self._hub.reset_frame(self.org_id, change.place, "slow")
            listener.give(frames[action], reset)


class Hub:
    """Every listener of this process, by company."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._companies: dict[UUID, CompanyFeed] = {}
        self._per_credential: Counter[UUID] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: set[UUID] = set()
        self._capacity = Capacity(MOST_PER_PROCESS, shared=services.settings.multitenant)
        self._stopped = asyncio.Event()
        self._horizon = 0
        # Up to when shares that came to their date were told of.
        self.expired_until: datetime | None = None

    def start(self) -> None:
        """Begin to look."""
        self.spawn(self._forever(POLL_SECONDS, self._poll))
        self.spawn(self._forever(JUDGE_SECONDS, self._judge))

    @property
    def open(self) -> int:
        """How many streams this process carries."""
        return len(self._capacity)

    async def stop(self) -> None:
        """End every look; streams are ended by the server."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def count_reads(self, org_id: UUID) -> int:
        """How often a company's changes were read since its first listener came."""
        return self._companies[org_id].reads if org_id in self._companies else 0

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run it in a task that ends with the hub."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def committed(self, org_id: UUID) -> None:
        """A company's transaction with changes has been committed: tell every process soon, many commits at once."""
        if not self._due:
            asyncio.get_running_loop().call_later(MERGE_SECONDS, lambda: self.spawn(self._notify()))
        self._due.add(org_id)

    def admit(self, who: Principal) -> Permit:
        """Count one stream more, or refuse it."""
        if self._per_credential[who.credential_id] >= MOST_PER_CREDENTIAL:
            raise TooManyStreams(
                f"this credential has {MOST_PER_CREDENTIAL} streams open; close one, or use one for all tabs",
                retry_after=15,
            )
        permit = None if self.services.state.draining else self._capacity.take(who.org_id)
        if permit is None:
            raise ChangeStreamsFull("this server carries as many streams as it can; try again shortly", retry_after=5)
        self._per_credential[who.credential_id] += 1
        return permit

    def release(self, who: Principal, permit: Permit) -> None:
        """Count one stream less."""
        permit.leave()
        self._per_credential[who.credential_id] -= 1
        if not self._per_credential[who.credential_id]:
            del self._per_credential[who.credential_id]

    async def join(self, listener: ChangeStream) -> ChangePosition:
        """Tell this listener from now on; returns the place after which it is told."""
        org_id = listener.who.org_id
        company = self._companies.get(org_id)
        if company is None:
            company = self._companies[org_id] = CompanyFeed(self, org_id)
        company.count += 1
        if company.place is None:
            async with self.services.database.begin(org_id, reading=True) as db:
                horizon = before(await store.read_horizon(db))
            # Of two who come at once the first one's place counts.
            company.place = company.place or horizon
        company.join(listener)
        company.set()
        return company.place

    def leave(self, listener: ChangeStream) -> None:
        """The stream is over, after it began to join."""
        company = self._companies[listener.who.org_id]
        company.count -= 1
        company.leave(listener)
        if not company.count:
            del self._companies[company.org_id]
            company.close()

    def reset_frame(self, org_id: UUID, place: ChangePosition, reason: str) -> bytes:
        """Read everything anew, and go on from here."""
        return sse_frame(write_id(self.services.keys, org_id, place, time.time()), "reset", {"reason": reason})

    async def _notify(self) -> None:
        due, self._due = self._due, set()
        try:
            async with self.services.database.begin_system(repeatable=True) as db:
                await store.notify(db, [topic_of(org_id) for org_id in due])
        except Exception as error:  # an outermost loop: the look every few seconds finds what this did not tell
            level = log.warning if refusal_of(error) else log.error
            level("changes.not_notified", error=str(error))

    async def _forever(self, seconds: float, look: Any) -> None:
        while not await wait_for(self._stopped, seconds):
            try:
                await look()
            except Exception as error:  # an outermost loop: it must outlive whatever one round meets
                level = log.warning if refusal_of(error) else log.error
                level("changes.failed", error=str(error))

    async def _poll(self) -> None:
        """The net: one look for all companies."""
        if not self._companies:
            return
        async with self.services.database.begin_system() as db:
            horizon = await store.read_horizon(db)
            found = await store.list_orgs_after(db, self._horizon, list(self._companies))
        self._horizon = horizon
        for org_id in found:
            if org_id in self._companies:
                self._companies[org_id].set()

    async def _judge(self) -> None:
        """End the streams of people whose role, team or scope is another by now, or whose credential has ended."""
        listeners = {
            one for company in self._companies.values() for group in company.listeners.values() for one in group
        }
        if not listeners:
            return
        standing = await identity.list_standing_roles(
            self.services.database, list({one.who.credential_id for one in listeners})
        )
        for one in listeners:
            found, who = standing.get(one.who.credential_id), one.who
            if found is None:
                one.close(bye("signed_out"))
            elif found != (who.team_id, who.role, who.org_role, who.operator):
                one.close(bye("permissions"))


def topic_of(org_id: UUID) -> str:
    """What PostgreSQL is told when a company's changes were committed."""
    return f"changes:{org_id}"


def bye(reason: str) -> bytes:
    """The last event of a stream that the server ends; without an id, so that a client goes on after the change before it."""
    return b'event: bye\ndata: {"reason":"%b"}\n\n' % reason.encode()


async def start(services: Services) -> Hub:
    """The hub of a process."""
    hub = Hub(services)
    hub.start()
    return hub


async def stop(services: Services, hub: Hub) -> None:
    """End it with the process."""
    await hub.stop()

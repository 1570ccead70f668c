"""Ends uploads, downloads and streams when the credential they use is revoked, in every process."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import UUID

from atrium.ground.identity import service as identity
from atrium.kit.errors import Unauthenticated
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.postgres.notify import wait_for
from atrium.kit.telemetry.log import log
from atrium.product.s3 import service as s3
from atrium.seams.context import Operation, Services

T = TypeVar("T")
# Also without a notification: an expiring session sends none, and a lost connection to PostgreSQL loses some.
LOOK_SECONDS = 15


class CredentialEnded(Unauthenticated):
    """The credential ended while the request was under way."""


class Watch:
    """One request that may last; whatever it awaits through here is broken off when its credential ends."""

    __slots__ = ("_credential", "_notifications", "_op", "_standing", "_waiting", "ended")

    def __init__(self, standing: "CredentialWatcher", op: Operation) -> None:
        self._standing, self._op, self._notifications = standing, op, standing.notifications
        self._waiting: set[asyncio.Task[Any]] = set()
        self._credential: UUID | None = None
        self.ended = False

    def close(self) -> None:
        """The request is over."""
        if self._credential is not None:
            self._standing.leave(self._credential, self)

    async def during(self, call: Callable[..., Awaitable[T]], *arguments: object) -> T:
        """What the call gives, unless the credential has ended or ends meanwhile."""
        task = asyncio.current_task()
        if task is None or not self._is_joined():
            return await call(*arguments)
        if self.ended:
            raise credential_ended()
        self._waiting.add(task)
        try:
            return await call(*arguments)
        except asyncio.CancelledError:
            # The cancellation was ours, and no other one is pending.
            if self.ended and task.uncancel() == 0:
                raise credential_ended() from None
            raise
        finally:
            self._waiting.discard(task)

    def end(self) -> None:
        """Break off."""
        self.ended = True
        for task in self._waiting:
            task.cancel()

    def _is_joined(self) -> bool:
        """Whether there is a credential to watch: a signature's owner is known only once it was checked."""
        if self._credential is None and self._op.may_end:
            self._credential = self._op.who.credential_id
            self._standing.join(self._credential, self, self._notifications)
        return self._credential is not None


class CredentialWatcher:
    """The requests that last in this process, by their credentials; one look serves them all."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._watches: dict[UUID, set[Watch]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._notified = asyncio.Event()
        self.notifications = 0

    def start(self) -> None:
        """Begin to listen for credentials that end."""
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Stop listening."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    def watch(self, op: Operation) -> Watch:
        """A watch over one request, from before its credential is looked up."""
        return Watch(self, op)

    def join(self, credential: UUID, watch: Watch, notifications: int) -> None:
        """Tell this watch when the credential ends; one that came since `notifications` may have been about it."""
        self._watches.setdefault(credential, set()).add(watch)
        if notifications != self.notifications:
            self._notified.set()

    def leave(self, credential: UUID, watch: Watch) -> None:
        """The request is over."""
        group = self._watches.get(credential)
        if group is not None:
            group.discard(watch)
            if not group:
                del self._watches[credential]

    async def _look(self) -> None:
        with self._services.notifier.subscribe(frozenset({identity.CREDENTIALS_ENDED}), self._notified):
            while True:
                if await wait_for(self._notified, LOOK_SECONDS):
                    self.notifications += 1
                try:
                    await self._end_lapsed()
                except Exception as error:  # an outermost loop: the next look may find PostgreSQL again
                    level = log.warning if refusal_of(error) else log.error
                    level("standing.failed", error=str(error))

    async def _end_lapsed(self) -> None:
        ids = list(self._watches)
        if not ids:
            return
        database = self._services.database
        standing = await identity.list_standing(database, ids) | await s3.list_standing(database, ids)
        for id in ids:
            if id not in standing:
                for watch in list(self._watches.get(id, ())):
                    watch.end()


def credential_ended() -> CredentialEnded:
    """What the caller is told."""
    return CredentialEnded("this credential ended while the request was under way; sign in again")

"""What every verb receives first: who acts and with which long-lived services."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from uuid import UUID

import msgspec

from atrium.kit.bell import Bell
from atrium.kit.combiner import Combiner
from atrium.kit.database import Begun, Database, Transaction
from atrium.kit.ids import NIL
from atrium.kit.keys import Keyring
from atrium.kit.lines import Lines
from atrium.kit.metrics import Metrics
from atrium.kit.outbound import Outbound
from atrium.kit.passwords import Passwords
from atrium.kit.settings import Settings
from atrium.kit.staging import StagingArea
from atrium.seams.blobs import BlobStore
from atrium.seams.wiring import Registry


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """The caller, with everything the gate needs already loaded. `permissions` is role and token scope together."""

    user_id: UUID
    team_id: UUID
    org_id: UUID
    username: str
    role: str
    permissions: frozenset[str]
    features: frozenset[str] = frozenset()
    operator: bool = False
    org_role: str | None = None
    suspended: str | None = None
    credential_id: UUID = NIL
    credential: str = "session"
    scope: frozenset[str] | None = None
    fresh: bool = False

    def within_scope(self, permission: str) -> bool:
        """Whether the credential may be used for this at all; a token's scope narrows even an owner."""
        return self.scope is None or permission in self.scope


ANONYMOUS = Principal(
    user_id=NIL, team_id=NIL, org_id=NIL, username="", role="", permissions=frozenset(), credential=""
)


class ProcessState(msgspec.Struct):
    """Where this process is in its life."""

    draining: bool = False


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Long-lived things, built once in boot/assemble.py."""

    settings: Settings
    database: Database
    keys: Keyring
    passwords: Passwords
    metrics: Metrics
    registry: Registry
    state: ProcessState
    combiner: Combiner
    bell: Bell
    lines: Lines
    blobs: BlobStore
    staging: StagingArea
    outbound: Outbound


class Acting(msgspec.Struct, kw_only=True):
    """Who acts, with what; `checked` remembers which permissions were asked about."""

    who: Principal
    services: Services
    address: str = ""
    request_id: str = ""
    secure: bool = False
    checked: set[str] = msgspec.field(default_factory=set)


class Context(Acting, kw_only=True):
    """Something a principal does inside one open transaction: nearly everything."""

    db: Transaction

    async def announce(self, event: object) -> None:
        """Tell every listener of this event, inside this transaction, in wiring order."""
        for listener in self.services.registry.listeners_of(type(event)):
            await listener.hear(self, event)

    def acting_as(self, who: Principal) -> Context:
        """The same transaction on behalf of someone else; permissions are asked about afresh."""
        return Context(
            who=who,
            services=self.services,
            address=self.address,
            request_id=self.request_id,
            secure=self.secure,
            db=self.db,
        )


async def _never() -> None:
    await asyncio.Event().wait()


class Operation(Acting, kw_only=True):
    """Something that opens its own short transactions: streams, waits, uploads, whatever hashes a password.

    `gone` waits until nobody listens for the answer any more; for whoever waits long before answering.
    """

    gone: Callable[[], Awaitable[None]] = _never

    def begin(self) -> Beginning:
        """A transaction behind the wall of the caller's company."""
        return Beginning(self, self.services.database.begin(self.who.org_id))

    def begin_system(self) -> Beginning:
        """A transaction over the directory of all companies, for what happens before or above a company."""
        return Beginning(self, self.services.database.begin_system())

    def acting_as(self, who: Principal) -> Operation:
        """The same operation on behalf of someone else."""
        return Operation(
            who=who,
            services=self.services,
            address=self.address,
            request_id=self.request_id,
            secure=self.secure,
            gone=self.gone,
        )


class Beginning:
    """Opens a transaction and hands out its Context."""

    __slots__ = ("_begun", "_op")

    def __init__(self, op: Operation, begun: Begun) -> None:
        self._op, self._begun = op, begun

    async def __aenter__(self) -> Context:
        op = self._op
        db = await self._begun.__aenter__()
        return Context(
            who=op.who,
            services=op.services,
            address=op.address,
            request_id=op.request_id,
            secure=op.secure,
            checked=op.checked,
            db=db,
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._begun.__aexit__(kind, error, trace)

"""What every verb receives first: who acts and with which long-lived services."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from enum import Enum
from types import TracebackType
from typing import Any, Protocol, TypeVar
from uuid import UUID

import msgspec

from atrium.kit.crypto.keys import Keyring
from atrium.kit.crypto.passwords import Passwords
from atrium.kit.files.staging_area import StagingArea
from atrium.kit.ids import NIL
from atrium.kit.isolation.sandbox import Sandbox
from atrium.kit.postgres.combiner import Combiner
from atrium.kit.postgres.credential_hold import CredentialHold
from atrium.kit.postgres.database import Database, Long, OpenTransaction, Transaction
from atrium.kit.postgres.notify import Notifier
from atrium.kit.postgres.wait_queues import WaitQueues
from atrium.kit.telemetry.metrics import Metrics
from atrium.kit.telemetry.trace_context import Recorder
from atrium.kit.text.estimates import TokenRatios
from atrium.kit.web.outbound import Outbound
from atrium.kit.work.background import Background
from atrium.kit.work.compute import ComputePool
from atrium.kit.work.threads import Threads
from atrium.seams.blobs import BlobStore
from atrium.seams.settings import Settings
from atrium.seams.sharing import Thing
from atrium.seams.tools import RecordedResult, Tool
from atrium.seams.wiring import Registry

T = TypeVar("T")


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
    hosted: bool = False
    suspended: str | None = None
    credential_id: UUID = NIL
    credential: str = "session"
    scope: frozenset[str] | None = None
    # What every key begins with that the credential may be used for; an access key may be narrowed to a folder.
    prefix: str = ""
    fresh: bool = False
    # Whether a browser sent the credential by itself: then a script may have asked, and not the person.
    cookie: bool = False

    def within_scope(self, permission: str) -> bool:
        """Whether the credential may be used for this at all; a token's scope narrows even an owner."""
        return self.scope is None or permission in self.scope


class HoldLevel(Enum):
    """What has to stand until a transaction commits: nothing, the caller's credential, or also their company's right to write."""

    NOTHING = 0
    CREDENTIAL = 1
    WRITING = 2


# How PostgreSQL is asked whether a credential still stands, or, for a job, which has none, whether its owner is still there. A worker
# answers for each job by its claim.
HOLDS = {
    "session": "hold_token",
    "first": "hold_token",
    "token": "hold_token",
    "s3": "hold_s3_key",
    "job": "hold_person",
}

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
    notifier: Notifier
    wait_queues: WaitQueues
    blobs: BlobStore
    staging: StagingArea
    outbound: Outbound
    turns: Background
    token_ratios: TokenRatios
    sandbox: Sandbox
    # Where work over people's texts is done.
    compute: ComputePool
    # Where work of a bounded size is done that companies ask for.
    threads: Threads
    # None where traces are not recorded.
    telemetry: Recorder | None = None
    # What each domain's `start` returned, by the domain's name.
    started: dict[str, Any]


# Finding an enumeration's member by name takes longer than a comparison.
_NOTHING = HoldLevel.NOTHING


class RunStep(msgspec.Struct, frozen=True, kw_only=True):
    """The step of a workflow's run that something is done for; `index` is of an item in a map.

    `touched` are the things that were read or written for the step, also by tools that its own tool calls, `made` those of them that
    were written.
    """

    run_id: UUID
    name: str
    index: int | None
    touched: set[Thing] = msgspec.field(default_factory=set)
    made: set[Thing] = msgspec.field(default_factory=set)


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """What holds a run that no person started beside its writer's own rights: a trigger is no deputy.

    The run reads what the writer and all `others` can read, and its own: the object that fired it, and what it made itself. Of
    these `own` are those known by now; `list_made` takes (context, things) and finds those that earlier steps made.
    `confined`: one of the others cannot read that object, so that what the run writes is for the writer alone. `egress`: it may
    send something elsewhere.
    """

    others: tuple[Principal, ...] = ()
    own: set[Thing] = msgspec.field(default_factory=set)
    list_made: Callable[[Any, Collection[Thing]], Awaitable[set[Thing]]] | None = None
    confined: bool = False
    egress: bool = False


class CallRecord(Protocol):
    """What a caller who goes on after a crash keeps of one call of a tool, so that no effect of it happens twice.

    A step of a workflow and a call of the agent have one. A tool has its call's; one that it calls itself has none.
    """

    def accept(self, tool: Tool) -> None:
        """Refuse a tool that is not the one that was meant."""

    async def begin(self, ctx: Context, tool: Tool) -> None:
        """Note that a tool with an effect is about to begin; whether it ends will be seen in another transaction, or not at all."""

    async def end(self, ctx: Context, result: Any) -> None:
        """Keep what came of the call in the transaction of its effect, or raise where that was kept before."""


class Actor(msgspec.Struct, kw_only=True):
    """Who acts, with what; `checked` remembers which permissions were asked about."""

    who: Principal
    services: Services
    address: str = ""
    user_agent: str = ""
    request_id: str = ""
    secure: bool = False
    # Whether a session opened now travels as a cookie.
    wants_cookie: bool = False
    holding: HoldLevel = HoldLevel.NOTHING
    # Whether a tool acts that only reads; no tool that it calls may do more.
    only_reads: bool = False
    checked: set[str] = msgspec.field(default_factory=set)
    # What was spent of quotas, by dimension; an operation and its transactions count together.
    spent: Counter[str] = msgspec.field(default_factory=Counter)
    step: RunStep | None = None
    # Of the call whose tool acts; None where no one goes on after a crash.
    record: CallRecord | None = None
    # By whom the caller is bound; None where a person asked for what is done.
    bound: Bound | None = None

    @property
    def may_end(self) -> bool:
        """Whether the caller came with a credential of a person's, which may end while they are served."""
        return self.who.credential_id != NIL and self.who.credential in HOLDS

    @property
    def is_bound(self) -> bool:
        """Whether others bind the caller, so that not all that the caller may read is handed out."""
        return self.bound is not None and bool(self.bound.others)

    def touch(self, kind: str, ids: Iterable[UUID]) -> None:
        """Note things that are handed out or written: what a workflow's step comes to is for those who can read all of them.

        Whatever decides that the caller may read a thing calls this. Outside a workflow it does nothing.
        """
        if self.step is not None:
            self.step.touched.update((kind, id) for id in ids)

    def note_made(self, kind: str, id: UUID) -> None:
        """Note a thing that was written: a run that is bound by others goes on to read what it made itself."""
        self.touch(kind, [id])
        if self.step is not None:
            self.step.made.add((kind, id))
        if self.bound is not None:
            self.bound.own.add((kind, id))

    def hold(self) -> CredentialHold | None:
        """What the caller's writing transactions begin with, so that none commits after its credential has ended."""
        who = self.who
        if self.holding is _NOTHING or not (self.may_end or who.credential == "job"):
            return None
        return CredentialHold(HOLDS[who.credential], who.user_id, who.credential_id, self.holding is HoldLevel.WRITING)


class EndsUnlocked(RuntimeError):
    """Credentials were about to end in a transaction that did not say so at its beginning."""


class Context(Actor, kw_only=True):
    """Something a principal does inside one open transaction: nearly everything."""

    db: Transaction
    ending: Collection[UUID] = ()

    def require_ending(self, person_id: UUID) -> None:
        """Refuse to end a person's credentials unless the transaction began with `ending` them."""
        if person_id not in self.ending:
            raise EndsUnlocked("begin the transaction with ending=(person_id,): writes under way must finish first")

    @classmethod
    def of_company(cls, services: Services, db: Transaction, org_id: UUID, team_id: UUID = NIL) -> Context:
        """A context for background work in a company's transaction; it acts for no person."""
        return cls(who=msgspec.structs.replace(ANONYMOUS, org_id=org_id, team_id=team_id), services=services, db=db)

    async def announce(self, event: object) -> None:
        """Tell every listener of this event, inside this transaction, in wiring order."""
        for listener in self.services.registry.listeners_of(type(event)):
            await listener.hear(self, event)

    async def record_result(self, result: T) -> RecordedResult[T]:
        """Record what a tool comes to in the transaction of its effect, so that a repeated call takes that and does nothing again.

        A tool that has `perform` and the effect `write` calls it before its writing transaction ends, and returns what it gets.
        """
        if self.record is not None:
            await self.record.end(self, result)
        return RecordedResult(result)

    def acting_as(self, who: Principal) -> Context:
        """The same transaction on behalf of someone else; permissions are asked about afresh."""
        return msgspec.structs.replace(self, who=who, checked=set())

    def others_bound(self) -> list[Context]:
        """Everybody by whom the caller is bound, each for themselves."""
        others = self.bound.others if self.bound is not None else ()
        return [msgspec.structs.replace(self.acting_as(one), bound=None) for one in others]

    def each_bound(self, thing: Thing) -> list[Context]:
        """The caller and, where this thing is not their run's own, everybody by whom they are bound, each for themselves."""
        own = self.bound is None or thing in self.bound.own
        return [self] if own else [self, *self.others_bound()]


async def _never() -> None:
    await asyncio.Event().wait()


class Operation(Actor, kw_only=True):
    """Something that opens its own short transactions: streams, waits, uploads, whatever hashes a password.

    `gone` waits until the client disconnects; for handlers that wait long before they reply. `session` is what
    came along as a cookie from our own origin, for what anybody may ask and some get a better answer to.
    """

    session: bytes = b""
    gone: Callable[[], Awaitable[None]] = _never

    def begin(
        self, *, ending: Collection[UUID] = (), held: bool = True, reading: bool = False, long: bool = False
    ) -> TransactionStart:
        """A transaction behind the wall of the caller's company.

        One that ends credentials names their people as `ending`, and waits for what they are writing. Without `held` it
        goes on after the caller's own credential has ended. With `reading` nothing can be changed in it. One whose statements may take
        `long` waits for a place among the few of those.
        """
        hold = self.hold() if held else None
        begun = self.services.database.begin(self.who.org_id, None, hold, ending, reading=reading, long=long)
        return TransactionStart(self, begun, ending)

    def begin_system(self, *, ending: Collection[UUID] = ()) -> TransactionStart:
        """A transaction over the directory of all companies, for what happens before or above a company."""
        return TransactionStart(self, self.services.database.begin_system(hold=self.hold(), ending=ending), ending)

    def acting_as(self, who: Principal) -> Operation:
        """The same operation on behalf of someone else; permissions are asked about afresh."""
        return msgspec.structs.replace(self, who=who, checked=set())

    def within(self, db: Transaction, ending: Collection[UUID] = ()) -> Context:
        """The same caller inside an open transaction; what was checked counts for both."""
        return Context(
            who=self.who,
            services=self.services,
            address=self.address,
            user_agent=self.user_agent,
            request_id=self.request_id,
            secure=self.secure,
            wants_cookie=self.wants_cookie,
            holding=self.holding,
            only_reads=self.only_reads,
            checked=self.checked,
            spent=self.spent,
            step=self.step,
            record=self.record,
            bound=self.bound,
            db=db,
            ending=ending,
        )


class TransactionStart:
    """Opens a transaction and hands out its Context."""

    __slots__ = ("_begun", "_ending", "_op")

    def __init__(self, op: Operation, begun: OpenTransaction | Long, ending: Collection[UUID] = ()) -> None:
        self._op, self._begun, self._ending = op, begun, ending

    async def __aenter__(self) -> Context:
        return self._op.within(await self._begun.__aenter__(), self._ending)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._begun.__aexit__(kind, error, trace)

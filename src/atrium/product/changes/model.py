"""The nouns of the change feed: a change, who is told what of it, and how far a reader has come."""

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from datetime import datetime
from typing import Annotated, Literal, NamedTuple
from uuid import UUID

import msgspec

from atrium.kit.crypto.keys import Keyring, Unsealable
from atrium.kit.errors import AppError, Exhausted, Forbidden, Kind
from atrium.kit.ids import NIL
from atrium.kit.web.sse import sse_frame
from atrium.seams.context import Principal

ThingKind = Literal["note", "document", "object"]
Action = Literal["created", "changed", "moved", "shared", "visibility", "deleted", "restored", "gone"]
Scope = Literal["team", "org"]
Kinds = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(note|document|object)(,(note|document|object)){0,2}$",
        description="Which kinds to tell of, separated by commas: note, document, object.",
    ),
]
After = Annotated[
    str, msgspec.Meta(max_length=200, description="The id of the event to go on after, as `Last-Event-ID` says it too.")
]
KINDS = frozenset({"note", "document", "object"})
# What a scope must hold to be told of a kind.
NEEDED = {"note": "notes:read", "document": "files:read", "object": "files:read"}
# Whom a row is addressed to that everybody hears who reads the whole company.
WIDE = NIL
# The table. Its rows name transactions of this server: a restored database begins without them, and a company that moves leaves them
# behind.
FEED = "change_rows"
RESUMED_SECONDS = 24 * 3600
_PLACE = struct.Struct(">QQQQ")
_LAST = (1 << 63) - 1


class ChangePosition(NamedTuple):
    """How far a reader has come: the transaction and the number of the last change."""

    xid: int
    seq: int


class Change(msgspec.Struct, frozen=True, gc=False):
    """What happened to one thing; never its title or text."""

    xid: int
    seq: int
    kind: ThingKind
    thing_id: UUID
    action: Action
    version: int
    actor_id: UUID | None
    at: datetime
    # Who could read the thing before, and who can now.
    had: list[UUID]
    has: list[UUID]

    @property
    def place(self) -> ChangePosition:
        """Where it stands."""
        return ChangePosition(self.xid, self.seq)

    def told_to(self, principals: frozenset[UUID]) -> Action | None:
        """What a reader who is these principals is told: the change, that they lost the thing, or nothing."""
        if not principals.isdisjoint(self.has):
            # Only another reader's share came to its date.
            return "shared" if self.action == "gone" else self.action
        if principals.isdisjoint(self.had):
            return None
        return "deleted" if self.action == "deleted" else "gone"


class ChangeAuthor(msgspec.Struct, frozen=True):
    """Who did it."""

    id: UUID
    name: str


class ListedChange(msgspec.Struct, frozen=True):
    """A change to something that the caller can read now; `actor` is null when no person did it."""

    kind: ThingKind
    id: UUID
    action: Action
    version: int
    by: UUID | None
    at: datetime
    title: str
    actor: ChangeAuthor | None


class TooManyStreams(Exhausted):
    """The credential has as many streams open as it may."""

    code, title = "changes.streams", "Too many open streams"


class ChangeStreamsFull(AppError):
    """This process carries as many streams as it may, or is stopping."""

    kind, code, title = Kind.UNAVAILABLE, "changes.busy", "Too many streams right now"


class ChangesScopeRefused(Forbidden):
    """Hearing the whole company needs a role in it."""

    code, title = "changes.org_scope", "Company-wide reading needs a company role"


def principals_of(who: Principal, scope: str) -> frozenset[UUID]:
    """What a caller is to the feed."""
    return frozenset({WIDE}) if scope == "org" else frozenset({who.user_id, who.team_id, who.org_id})


def kinds_of(who: Principal, wanted: str | None) -> frozenset[str]:
    """Those of the wanted kinds that the credential may be used for."""
    chosen = KINDS if wanted is None else frozenset(wanted.split(","))
    return frozenset(kind for kind in chosen if who.within_scope(NEEDED[kind]))


def frame_of(keys: Keyring, org_id: UUID, change: Change, action: str) -> bytes:
    """A change as an event of a stream."""
    data: dict[str, object] = {"kind": change.kind, "id": change.thing_id, "action": action, "version": change.version}
    data |= {"by": change.actor_id, "at": change.at}
    return sse_frame(write_id(keys, org_id, change.place, change.at.timestamp()), "change", data)


def write_id(keys: Keyring, org_id: UUID, place: ChangePosition, at: float) -> str:
    """An event's id: a place in one company's feed and one generation, which only this instance can read."""
    raw = _PLACE.pack(keys.generation, place.xid, place.seq, int(at))
    return urlsafe_b64encode(keys.seal(raw, _binding(org_id))).rstrip(b"=").decode()


def read_id(keys: Keyring, org_id: UUID, id: str, now: float) -> ChangePosition | None:
    """The place that an id stands for; None when it is not ours, of another generation, or older than a day."""
    try:
        raw = urlsafe_b64decode(id + "=" * (-len(id) % 4))
        generation, xid, seq, at = _PLACE.unpack(keys.open(raw, _binding(org_id)))
    except (Error, ValueError, Unsealable, struct.error):
        return None
    if generation != keys.generation or now - at > RESUMED_SECONDS:
        return None
    return ChangePosition(xid, seq)


def before(xid: int) -> ChangePosition:
    """The end of everything that transactions before this one told."""
    return ChangePosition(max(0, xid - 1), _LAST)


def _binding(org_id: UUID) -> str:
    return f"change {org_id}"

"""The shape of one row in the route table, and the replies a handler may give."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Generic, Literal, NewType, TypeVar

from atrium.kit.errors import Kind

T = TypeVar("T")
# Filled from the request's headers when a handler asks for them by these types.
IfMatch = NewType("IfMatch", str)
IfNoneMatch = NewType("IfNoneMatch", str)
IfModifiedSince = NewType("IfModifiedSince", str)
IfRange = NewType("IfRange", str)
Range = NewType("Range", str)
Accept = NewType("Accept", str)
AcceptEncoding = NewType("AcceptEncoding", str)
AcceptLanguage = NewType("AcceptLanguage", str)
Authorization = NewType("Authorization", str)
Host = NewType("Host", str)
# A handler that asks for the key keeps its own record of what was asked with it.
IdempotencyKey = NewType("IdempotencyKey", str)
LastEventId = NewType("LastEventId", str)


class Disconnected(Exception):
    """The client disconnected before the reply."""


# The methods that change nothing.
READS = frozenset({"GET", "HEAD", "OPTIONS"})


class Auth(Enum):
    """Who may come in at all; the values are the interface's codes."""

    PUBLIC = "P"
    BEARER = "B"
    PROVISION = "PV"
    SUPERADMIN = "SA"
    ORG_ADMIN = "OA"
    SIGNED = "S3"


class Decides(Enum):
    """Who settles the permission: the role alone at the gate, or the service once it holds the resource."""

    ROLE = "role"
    RESOURCE = "resource"


class CredentialClass(Enum):
    """Which credentials a row without a permission accepts; instead of one, a row may list permissions of which a scope needs one."""

    ANY = "any"
    UNSCOPED = "unscoped"
    SESSION = "session"


class Suspension(Enum):
    """What a suspended company or tenant may still write."""

    CLOSED = "closed"
    # Operators keep the instance running while their own company is suspended.
    OPERATORS = "operators"
    # What ends or hardens credentials must never wait.
    OPEN = "open"


PUBLIC, BEARER, PROVISION, SUPERADMIN, ORG_ADMIN, SIGNED = Auth
RESOURCE = Decides.RESOURCE
ANY, UNSCOPED, SESSION = CredentialClass
CLOSED, OPERATORS, OPEN = Suspension


@dataclass(frozen=True, slots=True)
class Route:
    """One way in."""

    method: str
    path: str
    handler: str
    auth: Auth
    permission: str | None = None
    decides: Decides = Decides.ROLE
    feature: str | None = None
    section: str = ""
    accepts: CredentialClass | frozenset[str] | None = None
    suspension: Suspension = Suspension.CLOSED
    rated: bool = True
    # Whether it gives a credential or power, always or when its body sets the field named here: a session in a cookie then
    # needs the person's password as well.
    gives: bool | str = False
    # Whether its permission is not enough: the owner of a hosted tenant holds instance:manage, and does not run the server.
    operators: bool = False
    # Whether pages of other origins may read its replies (CORS): of every origin, or of those that may use the sign-up form. Only where
    # there is no credential to borrow.
    cors: bool | Literal["funnel"] = False
    # Whether its handler may wait for long before it replies; it is told by `gone` when the client leaves or the credential ends.
    waits: bool = False
    # Whether its statements may take long, always or when the query has the parameter named here: then it waits for one of the places
    # that companies share for such.
    long: bool | str = False
    # The protocol that it speaks instead of ours, and whose own documents describe it. Programs alone call it: a cookie does not
    # count, and a page of another origin is refused.
    protocol: Literal["MCP"] | None = None
    # Whether the token of SERVICE_METRICS_TOKEN is let in as well.
    scraped: bool = False
    # Kinds of refusal that it gives besides those that its shape tells.
    refuses: frozenset[Kind] = frozenset()
    # What its replies carry besides what all replies do.
    headers: tuple[tuple[str, str], ...] = ()


def section(name: str, *rows: Route) -> tuple[Route, ...]:
    """Rows under one heading of the interface."""
    return tuple(replace(row, section=name) for row in rows)


GET, POST, PUT, PATCH, DELETE, OPTIONS = (
    partial(Route, method) for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
)


@dataclass(frozen=True, slots=True)
class Created(Generic[T]):
    """201 with what was made."""

    value: T


@dataclass(frozen=True, slots=True)
class Put(Generic[T]):
    """What is at an address now: 201 when nothing was there before, otherwise 200."""

    value: T
    new: bool


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T]):
    """202 with what was started, and where it can be read from now on."""

    value: T
    at: str | None = None


@dataclass(frozen=True, slots=True)
class SignedIn(Generic[T]):
    """A sign-in: a reply whose `token` is sent as a cookie when the client asks for that."""

    value: T


@dataclass(frozen=True, slots=True)
class SignedOut(Generic[T]):
    """The session that asked has ended; a cookie is forgotten with it."""

    value: T


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes that are not a model: a page, a script, the metrics text.

    A page, and a script that runs by itself, name the content policy they run under; everything else gets the strictest.
    """

    body: bytes
    media_type: str
    policy: str | None = None
    # What a cache may do with it, and how the bytes are packed (`gzip`, `br`); a reply without `cache` is not stored.
    cache: str | None = None
    encoding: str | None = None
    # The request header by which a cache must tell its copies apart.
    vary: str = "Accept-Encoding"
    # Names these bytes: a client that has them is told so instead of being sent them again.
    etag: str | None = None
    # Whether pages of other origins may show or run it; otherwise browsers give it to our own alone.
    shared: bool = False
    # What another protocol says to a message of its own; ours says it by the kind of a refusal.
    status: int = 200


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One server-sent event."""

    name: str
    data: object


@dataclass(frozen=True, slots=True)
class EventStream:
    """Server-sent events, closed at the source however the stream ends. Bytes are events that have their ids and frames already.

    `last_words` are what is sent when the server ends it: because the credential has ended, or because the process stops.
    """

    events: AsyncGenerator[SseEvent | bytes, None]
    last_words: Callable[[Literal["signed_out", "shutdown"]], bytes] | None = None


@dataclass(frozen=True, slots=True)
class Download:
    """Bytes sent as they are read; the source is closed however the sending ends, and is not begun for a HEAD.

    `body` is what was read already: everything when there is no source, otherwise nothing yet or the first piece. An
    unknown length is sent in chunks. A `bare` one comes from a gateway that speaks another protocol and adds its own
    headers; the edge adds only what browsers are held to. `policy` is the content policy where the strictest will not do.
    """

    status: int
    headers: list[tuple[str, str]]
    length: int | None
    source: AsyncGenerator[bytes, None] | None
    bare: bool = False
    body: bytes = b""
    policy: str | None = None


@dataclass(slots=True)
class Wire:
    """A request exactly as it came, for a gateway that speaks another protocol and admits callers its own way."""

    method: str
    raw_path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    chunks: AsyncIterator[bytes]
    secure: bool
    bucket_host: str | None = None
    prefix: bytes = b""


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A whole message of another protocol, from a caller whom the gate has admitted: its bytes, and every header as it came."""

    body: bytes
    headers: list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class RawBody:
    """The unread request body; the handler decides whether to read it."""

    chunks: AsyncIterator[bytes]
    content_type: str
    length: int | None

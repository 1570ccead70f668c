"""The shape of one row in the route table, and the replies a handler may give."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, NewType, TypeVar

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


class Disconnected(Exception):
    """The client left; nobody is there to answer."""


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


PUBLIC, BEARER, PROVISION, SUPERADMIN, ORG_ADMIN, SIGNED = Auth
RESOURCE = Decides.RESOURCE


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


def section(name: str, *rows: Route) -> tuple[Route, ...]:
    """Rows under one heading of the interface."""
    return tuple(replace(row, section=name) for row in rows)


def _verb(method: str) -> Callable[..., Route]:
    def row(
        path: str,
        handler: str,
        auth: Auth,
        permission: str | None = None,
        decides: Decides = Decides.ROLE,
        *,
        feature: str | None = None,
    ) -> Route:
        return Route(method, path, handler, auth, permission, decides, feature)

    return row


GET, POST, PUT, PATCH, DELETE, OPTIONS = map(_verb, ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


@dataclass(frozen=True, slots=True)
class Created(Generic[T]):
    """201 with what was made."""

    value: T


@dataclass(frozen=True, slots=True)
class Accepted(Generic[T]):
    """202 with what was started."""

    value: T


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes that are not a model: a page, a script, the metrics text. A page names the content policy it runs under."""

    body: bytes
    media_type: str
    policy: str | None = None
    # What a cache may do with it, and how the bytes are packed (`gzip`, `br`); an answer without `cache` is kept by nobody.
    cache: str | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: object


@dataclass(frozen=True, slots=True)
class EventStream:
    """Server-sent events, closed at the source however the stream ends."""

    events: AsyncGenerator[Event, None]


@dataclass(frozen=True, slots=True)
class Download:
    """Bytes sent as they are read; the source is not begun for a HEAD, and closed however the sending ends.

    A `bare` one comes from a gateway that speaks another protocol: its headers are all there are, and `body` is what it
    has read already: everything when there is no source, otherwise the first piece. An unknown length is sent in chunks.
    """

    status: int
    headers: list[tuple[str, str]]
    length: int | None
    source: AsyncGenerator[bytes, None] | None
    bare: bool = False
    body: bytes = b""


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
class RawBody:
    """The unread request body; whoever takes it decides whether to read a byte."""

    chunks: AsyncIterator[bytes]
    content_type: str
    length: int | None

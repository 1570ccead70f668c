"""A handler with its signature read once: how to fill its arguments, what it replies."""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from atrium.edge.choices import explain_choice
from atrium.edge.encode import Header
from atrium.edge.request import Request
from atrium.kit.errors import Invalid, Missing, Stale
from atrium.kit.web.strict_json import has_nul
from atrium.seams.context import Context, HoldLevel, Operation
from atrium.seams.routes import (
    BEARER,
    ORG_ADMIN,
    READS,
    Accept,
    AcceptEncoding,
    AcceptLanguage,
    Auth,
    Authorization,
    Content,
    Download,
    EventStream,
    Host,
    IdempotencyKey,
    IfMatch,
    IfModifiedSince,
    IfNoneMatch,
    IfRange,
    LastEventId,
    Range,
    RawBody,
    Route,
    Suspension,
    Wire,
    WireMessage,
)
from atrium.seams.wiring import PluginRequest, PluginRoute

HEADERS: dict[Any, bytes] = {
    IfMatch: b"if-match",
    IfNoneMatch: b"if-none-match",
    IfModifiedSince: b"if-modified-since",
    IfRange: b"if-range",
    Range: b"range",
    Accept: b"accept",
    AcceptEncoding: b"accept-encoding",
    AcceptLanguage: b"accept-language",
    Authorization: b"authorization",
    Host: b"host",
    IdempotencyKey: b"idempotency-key",
    LastEventId: b"last-event-id",
}
# The methods on which If-Match is honoured, or refused.
CHANGES = frozenset({"PUT", "PATCH", "DELETE"})
# Where msgspec says which field it means, and how much of a value that it repeats is repeated.
_AT, _MOST_REPEATED = " - at `", 200
_EMPTY = b"{}"


class NothingToMatch(Stale):
    """If-Match was sent to an address whose things have no version."""

    code = "request.nothing_to_match"
    title = "Nothing to compare"


@dataclass(slots=True)
class Endpoint:
    """A row bound to its handler."""

    route: Route
    call: Callable[..., Any]
    transactional: bool
    path: dict[str, Any]
    query: dict[str, Any]
    headers: dict[str, bytes]
    body: Any
    reply: Any
    decode: Callable[[bytes], Any] | None = None
    plugin: PluginRoute | None = None
    doc: str = ""
    defaults: dict[str, Any] = field(default_factory=dict)
    body_limit: int | None = None
    # Whether it replies with events, always or for some requests.
    streams: bool = False
    # Whether a request may take as long as its bytes do, or as its handler waits.
    lasts: bool = False
    # A change that cannot be tied to what the caller has read: its thing has no version that could be compared.
    blind: bool = False
    # What every reply of the row carries, refusals too.
    reply_headers: list[Header] = field(default_factory=list)
    # Whether all that the row asks for first is a bearer token or a cookie.
    takes_credential: bool = False
    # What a request's transactions hold on to; reading ends by itself.
    holding: HoldLevel = HoldLevel.NOTHING

    def __post_init__(self) -> None:
        self.takes_credential = self.route.auth in (BEARER, ORG_ADMIN) and not self.route.scraped
        if self.route.method not in READS:
            self.holding = HoldLevel.WRITING if self.route.suspension is Suspension.CLOSED else HoldLevel.CREDENTIAL
        self.reply_headers = [(name.encode(), value.encode()) for name, value in self.route.headers]

    @property
    def keeps_key(self) -> bool:
        """Whether the handler itself sees to it that a repeated Idempotency-Key does nothing twice."""
        return b"idempotency-key" in self.headers.values()

    @property
    def reads_json(self) -> bool:
        """Whether the body is read whole before the handler runs."""
        return self.decode is not None

    @property
    def takes_no_body(self) -> bool:
        """Whether a body would say something that nothing here hears; reading has none by itself, gateways read their own."""
        ours = self.plugin is None and self.route.auth is not Auth.SIGNED
        return ours and self.body is None and self.route.method not in READS

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring; a plugin says it in the row."""
        return self.doc or (inspect.getdoc(self.call) or "").partition("\n")[0]


def bind(route: Route, call: Callable[..., Any]) -> Endpoint:
    """Read `(ctx | op, path names..., body, *, query and header names...)` off a handler."""
    hints = get_type_hints(call, include_extras=True)
    parameters = list(inspect.signature(call).parameters.values())
    positional = [p.name for p in parameters[1:] if p.kind is p.POSITIONAL_OR_KEYWORD]
    keywords = {p.name: hints[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
    headers = {name: HEADERS[kind] for name, hint in keywords.items() if (kind := _without_none(hint)) in HEADERS}
    body = hints.get("body")
    return Endpoint(
        route=route,
        call=call,
        transactional=hints[parameters[0].name] is Context,
        path={name: hints[name] for name in positional if name != "body" and hints[name] is not Wire},
        query={name: hint for name, hint in keywords.items() if name not in headers},
        headers=headers,
        body=body,
        reply=_reply_of(hints["return"]),
        streams=EventStream in (hints["return"], *get_args(hints["return"])),
        decode=_decoder_of(body),
        defaults={p.name: p.default for p in parameters if p.default is not p.empty},
        # A request struct that carries a file says how large it may get; the others share the setting.
        body_limit=getattr(body, "__body_limit__", None),
        lasts=route.waits or body is RawBody or _lasts(hints["return"]),
        blind=route.method in CHANGES and b"if-match" not in headers.values(),
    )


def _decoder_of(body: Any) -> Callable[[bytes], Any] | None:
    if body in (None, RawBody):
        return None
    # A message of another protocol is read whole, within the same limits, and understood by its gateway.
    return bytes if body is WireMessage else msgspec.json.Decoder(body).decode


def _lasts(reply: Any) -> bool:
    return Download in (kinds := (reply, *get_args(reply))) or EventStream in kinds


def _reply_of(hint: Any) -> Any:
    """What a handler replies with when it does not stream; `EventStream` when it always does."""
    others = [kind for kind in get_args(hint) if kind is not EventStream]
    return others[0] if EventStream in get_args(hint) and len(others) == 1 else hint


def bind_plugin(plugin_id: str, row: PluginRoute) -> Endpoint:
    """The endpoint of a plugin's route: it gets a PluginRequest and returns what becomes JSON."""
    route = Route(
        row.method,
        f"/api/x/{plugin_id}{row.path}",
        f"{plugin_id}.{row.name}",
        BEARER,
        row.permission,
        section="Plugins",
    )
    reads = row.method in ("POST", "PUT", "PATCH")
    fields = msgspec.structs.fields(row.query) if row.query is not None else ()
    return Endpoint(
        route=route,
        call=_answering(row.handler),
        transactional=_first_hint(row.handler) is not Operation,
        path=dict.fromkeys(re.findall(r":(\w+)", row.path), str),
        query={field.encode_name: field.type for field in fields},
        headers={},
        body=(row.body or Any) if reads else None,
        reply=row.reply,
        decode=msgspec.json.Decoder(row.body or Any).decode if reads else None,
        plugin=row,
        doc=row.doc,
        defaults={field.encode_name: _default_of(field) for field in fields if not field.required},
        blind=row.method in CHANGES,
    )


def _first_hint(handler: Callable[..., Any]) -> Any:
    """How the first parameter is annotated; None when it is not, or by a name that is not there at run time."""
    try:
        hints = get_type_hints(handler)
    except (NameError, TypeError):
        return None
    return hints.get(next(iter(inspect.signature(handler).parameters)))


def _default_of(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default is not msgspec.NODEFAULT else None


def _answering(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def call(*given: Any, **named: Any) -> Any:
        value = await handler(*given, **named)
        # Success is 200 with JSON, also of a handler that has nothing to say.
        return Content(b"null", "application/json") if value is None else value

    return call


def fill(endpoint: Endpoint, request: Request, params: list[str], raw: bytes) -> dict[str, Any]:
    """Turn path, query, headers and body into the handler's arguments; anything malformed is the caller's error."""
    if endpoint.blind and b"if-match" in request.headers:
        raise NothingToMatch("nothing here has a version to compare; send the request without If-Match")
    if endpoint.plugin is not None:
        return _fill_plugin(endpoint, endpoint.plugin, request, params, raw)
    values: dict[str, Any] = {}
    for (name, kind), text in zip(endpoint.path.items(), params, strict=True):
        values[name] = _uuid(text) if kind is UUID else _number(text) if kind is int else _text(text)
    if endpoint.query or request.scope["query_string"]:
        _fill_query(endpoint, request, values)
    for name, header in endpoint.headers.items():
        values[name] = request.header(header)
    if endpoint.body is WireMessage:
        values["body"] = WireMessage(raw, request.scope["headers"])
    elif endpoint.decode is not None:
        values["body"] = _decoded(endpoint.decode, raw, endpoint.body)
    elif endpoint.takes_no_body and raw.strip() not in (b"", _EMPTY):
        raise Invalid("this route takes no body", errors=[{"path": "", "message": "leave it out"}])
    elif endpoint.body is RawBody:
        kind = request.header(b"content-type") or "application/octet-stream"
        values["body"] = RawBody(request.chunks(), kind, request.length)
    return values


def _fill_query(endpoint: Endpoint, request: Request, values: dict[str, Any]) -> None:
    for name, text in request.query().items():
        kind = endpoint.query.get(name)
        if kind is None:
            known = ", ".join(endpoint.query) or "none"
            raise Invalid(
                f"unknown query parameter {name}; this route takes: {known}",
                errors=[{"path": name, "message": "unknown"}],
            )
        try:
            values[name] = msgspec.convert(_text(text), kind, strict=False)
        except msgspec.ValidationError as error:
            message = explain_choice(_message_of(error)[0], _without_none(kind))
            raise Invalid(f"query parameter {name}: {message}", errors=[{"path": name, "message": message}]) from error
    for name in endpoint.query:
        if name not in values and name not in endpoint.defaults:
            raise Invalid(f"query parameter {name} is missing", errors=[{"path": name, "message": "missing"}])


def _fill_plugin(
    endpoint: Endpoint, row: PluginRoute, request: Request, params: list[str], raw: bytes
) -> dict[str, Any]:
    body = None
    if endpoint.decode is not None and (raw or row.body is not None):
        body = _decoded(endpoint.decode, raw, endpoint.body)
    query: Any = {name: _text(text) for name, text in request.query().items()}
    if row.query is not None:
        query = _struct_query(endpoint, row.query, request)
    return {"request": PluginRequest(dict(zip(endpoint.path, map(_text, params), strict=True)), query, body)}


def _struct_query(endpoint: Endpoint, kind: type[msgspec.Struct], request: Request) -> msgspec.Struct:
    values: dict[str, Any] = {}
    _fill_query(endpoint, request, values)
    for name in endpoint.query:
        if name not in values and name not in endpoint.defaults:
            raise Invalid(f"query parameter {name} is missing", errors=[{"path": name, "message": "missing"}])
    return msgspec.convert(values, kind)


def _decoded(decode: Callable[[bytes], Any], raw: bytes, kind: Any = Any) -> Any:
    # PostgreSQL's text cannot hold U+0000; refused here once, instead of as a failure deep in some store.
    if has_nul(raw):
        raise Invalid("text cannot contain the character U+0000")
    try:
        return decode(raw or _EMPTY)
    except msgspec.ValidationError as error:
        message, path = _message_of(error)
        message = explain_choice(message, kind, path)
        where = path.removeprefix("$").lstrip(".")
        raise Invalid(f"{where or 'body'}: {message}", errors=[{"path": where, "message": message}]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"the body is not JSON: {error}") from error


def _message_of(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong, without all of a long value, and with which field."""
    text = str(error)
    message, _, path = text.rpartition(_AT) if text.endswith("`") else (text, "", "$")
    if not message:
        message, path = text, "$"
    if len(message) > _MOST_REPEATED:
        message = f"{message[:_MOST_REPEATED]}…"
    return message, path.removesuffix("`")[:_MOST_REPEATED]


def _uuid(text: str) -> UUID:
    # Only the canonical form: one resource, one address.
    if len(text) == 36:
        try:
            return msgspec.convert(text, UUID)
        except msgspec.ValidationError:
            pass
    raise Missing("this is not the id of anything")


def _number(text: str) -> int:
    # As with ids, one number has one spelling.
    if text.isascii() and text.isdigit() and len(text) < 10 and (text[0] != "0" or text == "0"):
        return int(text)
    raise Missing("this is not the number of anything")


def _text(text: str) -> str:
    if "\0" in text:
        raise Invalid("text cannot contain the character U+0000")
    return text


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        inner = [part for part in get_args(hint) if part is not NoneType]
        return inner[0] if len(inner) == 1 else hint
    return hint

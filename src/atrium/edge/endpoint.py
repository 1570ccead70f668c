"""A handler with its signature read once: how to fill its arguments, what it replies."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from atrium.edge.request import Request
from atrium.kit.errors import Invalid, Missing
from atrium.seams.context import Context
from atrium.seams.routes import (
    Accept,
    AcceptEncoding,
    AcceptLanguage,
    Authorization,
    Host,
    IfMatch,
    IfModifiedSince,
    IfNoneMatch,
    IfRange,
    Range,
    RawBody,
    Route,
    Wire,
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
}
_AT = re.compile(r"^(?P<message>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_EMPTY = b"{}"
# The escape itself, and not a backslash that is escaped and merely followed by the same letters.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


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
    plugin: bool = False
    doc: str = ""
    defaults: dict[str, Any] = field(default_factory=dict)
    body_limit: int | None = None

    @property
    def reads_json(self) -> bool:
        """Whether the body is read whole before the handler runs."""
        return self.decode is not None

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
        reply=hints["return"],
        decode=msgspec.json.Decoder(body).decode if body not in (None, RawBody) else None,
        defaults={p.name: p.default for p in parameters if p.default is not p.empty},
        # A request struct that carries a file says how large it may get; the others share the setting.
        body_limit=getattr(body, "__body_limit__", None),
    )


def bind_plugin(plugin_id: str, row: PluginRoute) -> Endpoint:
    """The endpoint of a plugin's route: it gets a PluginRequest and returns what becomes JSON."""
    from atrium.seams.routes import BEARER

    route = Route(
        row.method, f"/api/x/{plugin_id}{row.path}", f"plugin:{plugin_id}", BEARER, row.permission, section="Plugins"
    )
    path = dict.fromkeys(re.findall(r":(\w+)", row.path), str)
    reads = row.method in ("POST", "PUT", "PATCH")
    return Endpoint(
        route=route,
        call=row.handler,
        transactional=True,
        path=path,
        query={},
        headers={},
        body=Any if reads else None,
        reply=Any,
        decode=msgspec.json.decode if reads else None,
        plugin=True,
        doc=row.doc,
    )


def fill(endpoint: Endpoint, request: Request, params: list[str], raw: bytes) -> dict[str, Any]:
    """Turn path, query, headers and body into the handler's arguments; anything malformed is the caller's error."""
    if endpoint.plugin:
        return _fill_plugin(endpoint, request, params, raw)
    values: dict[str, Any] = {}
    for (name, kind), text in zip(endpoint.path.items(), params, strict=True):
        values[name] = _uuid(text) if kind is UUID else _text(text)
    if endpoint.query or request.scope["query_string"]:
        _fill_query(endpoint, request, values)
    for name, header in endpoint.headers.items():
        values[name] = request.header(header)
    if endpoint.decode is not None:
        values["body"] = _decoded(endpoint.decode, raw)
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
            raise Invalid(f"query parameter {name}: {error}", errors=[{"path": name, "message": str(error)}]) from error


def _fill_plugin(endpoint: Endpoint, request: Request, params: list[str], raw: bytes) -> dict[str, Any]:
    body = _decoded(endpoint.decode, raw) if endpoint.decode and raw else None
    query = {name: _text(text) for name, text in request.query().items()}
    return {"request": PluginRequest(dict(zip(endpoint.path, map(_text, params), strict=True)), query, body)}


def _decoded(decode: Callable[[bytes], Any], raw: bytes) -> Any:
    # PostgreSQL's text cannot hold U+0000; refused here once, instead of as a failure deep in some store.
    if b"\\u0000" in raw and _NUL.search(raw):
        raise Invalid("text cannot contain the character U+0000")
    try:
        return decode(raw or _EMPTY)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        message, path = (found["message"], found["path"]) if found else (str(error), None)
        where = (path or "$").removeprefix("$").lstrip(".")
        raise Invalid(f"{where or 'body'}: {message}", errors=[{"path": where, "message": message}]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"the body is not JSON: {error}") from error


def _uuid(text: str) -> UUID:
    # Only the canonical form: one resource, one address.
    if len(text) == 36:
        try:
            return msgspec.convert(text, UUID)
        except msgspec.ValidationError:
            pass
    raise Missing("this is not the id of anything")


def _text(text: str) -> str:
    if "\0" in text:
        raise Invalid("text cannot contain the character U+0000")
    return text


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        inner = [part for part in get_args(hint) if part is not NoneType]
        return inner[0] if len(inner) == 1 else hint
    return hint

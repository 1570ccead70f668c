"""The OpenAPI 3.1 document, derived from the table and the handlers' signatures."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args, get_origin
from uuid import UUID

import msgspec

from atrium import __version__
from atrium.edge.encode import FAILURE, INTERNAL, STATUS
from atrium.edge.endpoint import Endpoint
from atrium.edge.gate import READS, acts_on_instance
from atrium.kit.errors import AppError, Kind
from atrium.seams.routes import Accepted, Auth, Content, Created, Download, EventStream, RawBody

_REF = "#/components/schemas/{name}"
# Planes that a company's hostname, or an instance outside hosted mode, does not have.
_SOMETIMES_ABSENT = (Auth.SUPERADMIN, Auth.PROVISION)
# Headers a caller may choose to send; the others are of the transport or of signing in.
_HEADER_NAMES = {
    b"if-match": "If-Match",
    b"if-none-match": "If-None-Match",
    b"if-modified-since": "If-Modified-Since",
    b"if-range": "If-Range",
    b"range": "Range",
}


class FieldProblem(msgspec.Struct):
    """One field that was refused."""

    path: str
    message: str


class Problem(msgspec.Struct, omit_defaults=True):
    """A refusal (RFC 9457): people read `detail`, programs read `code`."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[FieldProblem] = []


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The whole interface; equal tables give equal documents."""
    # What speaks another protocol is described by that protocol's own documents.
    endpoints = [endpoint for endpoint in endpoints if endpoint.route.auth is not Auth.SIGNED]
    types = _types(endpoints)
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    schema_of = {id(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        path = re.sub(r"[:*](\w+)", r"{\1}", endpoint.route.path)
        paths.setdefault(path, {})[endpoint.route.method.lower()] = _operation(endpoint, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Atrium", "version": __version__, "description": "Team workspace server."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A session token or an API token."}
            },
        },
    }


def _types(endpoints: Sequence[Endpoint]) -> list[Any]:
    found: list[Any] = [Problem]
    for endpoint in endpoints:
        _, kind = _reply_of(endpoint)
        found += [kind, *endpoint.query.values(), *endpoint.path.values()]
        if endpoint.reads_json:
            found.append(endpoint.body)
    unique = {id(kind): kind for kind in found if kind not in (Content, Download, EventStream)}
    return list(unique.values())


def _operation(endpoint: Endpoint, schema_of: dict[int, Any]) -> dict[str, Any]:
    route = endpoint.route
    operation: dict[str, Any] = {
        "operationId": route.handler if not endpoint.plugin else f"{route.handler}.{route.method.lower()}{route.path}",
        "tags": [route.section],
        "summary": endpoint.summary,
        "security": [] if route.auth is Auth.PUBLIC else [{"bearer": []}],
        "x-auth": route.auth.value,
        "x-permission": route.permission,
        "x-feature": route.feature,
        "parameters": list(_parameters(endpoint, schema_of)),
        "responses": _responses(endpoint, schema_of),
    }
    if endpoint.reads_json:
        schema = {} if endpoint.plugin else schema_of[id(endpoint.body)]
        operation["requestBody"] = {
            "required": _needs_body(endpoint),
            "content": {"application/json": {"schema": schema}},
        }
    elif endpoint.body is RawBody:
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    return operation


def _needs_body(endpoint: Endpoint) -> bool:
    # An absent body is read as an empty object, and a plugin's handler decides for itself.
    if endpoint.plugin or endpoint.decode is None:
        return False
    try:
        endpoint.decode(b"{}")
    except msgspec.ValidationError:
        return True
    return False


def _parameters(endpoint: Endpoint, schema_of: dict[int, Any]) -> Iterable[dict[str, Any]]:
    for name, kind in endpoint.path.items():
        yield {"name": name, "in": "path", "required": True, "schema": schema_of[id(kind)]}
    for name, kind in endpoint.query.items():
        schema = _without_null(schema_of[id(kind)])
        if endpoint.defaults.get(name) is not None:
            schema = {**schema, "default": endpoint.defaults[name]}
        yield {"name": name, "in": "query", "required": name not in endpoint.defaults, "schema": schema}
    for header in endpoint.headers.values():
        if header in _HEADER_NAMES:
            yield {"name": _HEADER_NAMES[header], "in": "header", "required": False, "schema": {"type": "string"}}
    if _revalidates(endpoint):
        yield {"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}}
    if endpoint.route.method == "POST" and endpoint.transactional:
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    # An absent query parameter is absent, not null.
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    return options[0] if len(options) == 1 else schema


def _reply_of(endpoint: Endpoint) -> tuple[str, Any]:
    origin = get_origin(endpoint.reply)
    if origin is Created:
        return "201", get_args(endpoint.reply)[0]
    if origin is Accepted:
        return "202", get_args(endpoint.reply)[0]
    return "200", endpoint.reply


def _responses(endpoint: Endpoint, schema_of: dict[int, Any]) -> dict[str, Any]:
    status, kind = _reply_of(endpoint)
    if kind in (Content, Download):
        content: dict[str, Any] = {"*/*": {}}
    elif kind is EventStream:
        content = {"text/event-stream": {}}
    else:
        content = {"application/json": {"schema": {} if endpoint.plugin else schema_of[id(kind)]}}
    refusals = {str(STATUS[kind]): kind for kind in sorted(_refusals(endpoint), key=STATUS.__getitem__)}
    problem = {"application/problem+json": {"schema": {"$ref": _REF.format(name="Problem")}}}
    done: dict[str, Any] = {"description": endpoint.summary or "Done.", "content": content}
    if hasattr(kind, "etag"):
        # A reply repeated for an Idempotency-Key comes without it.
        required = endpoint.route.method != "POST"
        done["headers"] = {"ETag": {"required": required, "schema": {"type": "string"}}}
    extra: dict[str, Any] = {}
    if kind is Download:
        extra = {"206": {"description": "Part of it.", "content": content}, "304": {"description": "Not modified."}}
    elif _revalidates(endpoint):
        extra = {"304": {"description": "The version the caller has is the current one."}}
    return {
        status: done,
        **extra,
        **{
            number: {"description": kind.name.lower().replace("_", " "), "content": problem}
            for number, kind in refusals.items()
        },
    }


def _revalidates(endpoint: Endpoint) -> bool:
    """Whether a reader who names the version they have may be told that it still is the current one."""
    return endpoint.route.method == "GET" and endpoint.transactional and hasattr(_reply_of(endpoint)[1], "etag")


def _names_things(body: Any) -> bool:
    """Whether a body refers to something by its id."""
    return isinstance(body, type(msgspec.Struct)) and any(
        UUID in (field.type, *get_args(field.type)) for field in msgspec.structs.fields(body)
    )


def _refusals(endpoint: Endpoint) -> set[Kind]:
    """Every kind of refusal this row can give, read off the row."""
    route = endpoint.route
    found = {Kind.INVALID, Kind.UNAVAILABLE}
    writes = route.method not in READS
    if route.auth is not Auth.PUBLIC:
        found |= {Kind.UNAUTHENTICATED, Kind.EXHAUSTED, Kind.FORBIDDEN}
        if writes and not acts_on_instance(route):
            found.add(Kind.SUSPENDED)
    elif writes:
        found |= {Kind.EXHAUSTED, Kind.UNAUTHENTICATED, Kind.FORBIDDEN}
    if writes:
        found.add(Kind.CONFLICT)
    if endpoint.path or endpoint.reply is Content or _names_things(endpoint.body) or route.auth in _SOMETIMES_ABSENT:
        found.add(Kind.MISSING)
    if endpoint.reads_json or endpoint.body is RawBody:
        found.add(Kind.TOO_LARGE)
    if "if_match" in endpoint.headers:
        found.add(Kind.STALE)
    if endpoint.reply is Download:
        found.add(Kind.RANGE)
    # A request struct whose content somebody else judges says so itself.
    if getattr(endpoint.body, "__may_be_refused__", False):
        found.add(Kind.REFUSED)
    return found


def error_codes() -> list[tuple[str, int, str, str]]:
    """Every stable code with its status, title and meaning; for the reference page."""
    found: dict[str, tuple[str, int, str, str]] = {}
    stack: list[type[AppError]] = [AppError]
    while stack:
        kind = stack.pop()
        stack += kind.__subclasses__()
        found.setdefault(kind.code, (kind.code, STATUS[kind.kind], kind.title, (kind.__doc__ or "").strip()))
    return sorted([*found.values(), (INTERNAL, 500, FAILURE, "A defect; the log has it under the request's id.")])

"""The OpenAPI 3.1 document, derived from the table and the handlers' signatures."""

import re
from collections.abc import Iterable, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin
from uuid import UUID

import msgspec

from atrium import __version__
from atrium.edge.encode import FAILURE, INTERNAL
from atrium.edge.endpoint import CHANGES, Endpoint
from atrium.edge.examples import example_of
from atrium.kit.errors import Kind, refusals
from atrium.kit.web.http import STATUS
from atrium.seams.routes import (
    READS,
    Accepted,
    Auth,
    Content,
    Created,
    Download,
    EventStream,
    Put,
    RawBody,
    Route,
    SignedIn,
    SignedOut,
)

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
    b"last-event-id": "Last-Event-ID",
}
# What a parameter of this name means on every row; one that means something else says so in its type (`Meta(description=…)`).
PARAMETERS = {
    "If-Match": "The `ETag` that was read; the change is refused with 412 when there is a newer one.",
    "If-None-Match": "The `ETag` the caller has; `*` on a write refuses to replace what exists.",
    "If-Modified-Since": "Replies 304 when nothing changed since this date.",
    "If-Range": "The `ETag` or date for which `Range` holds; otherwise the whole is sent.",
    "Range": "The bytes to send, such as `bytes=0-1023`.",
    "Last-Event-ID": "The `id` of the last event that was received; the stream goes on after it.",
    "Idempotency-Key": "Makes a repetition safe: the same key and body get the first reply again.",
    "id": "The id, as the listing or the reply to its creation has it.",
    "cursor": "The `next_cursor` of the page before; absent for the first page.",
    "limit": "The most items on a page.",
    "q": "Text to search for.",
    "scope": "`team` lists the caller's own team, `org` the whole company.",
    "prefix": "Only keys that begin with this.",
    "slug": "The slug, as the listing has it.",
    "dry_run": "Checks the request and stores nothing.",
    "order": "What the list is ordered by.",
    "dir": "`asc` or `desc`; absent for what is usual: names from A, the newest and the largest first.",
    "delimiter": "Keys are cut after this text and listed as folders.",
    "shared": "Only what others shared with the caller.",
    "kind": "Only this kind.",
    "state": "Only this state.",
    "user": "The id of a person the caller manages; absent for the caller.",
    "version": "The id of an earlier version; absent for the newest.",
    "visibility": "Who sees it besides its owner; absent leaves it as it is.",
    "filename": "The name a download is saved under.",
    "locale": "The language, such as `en`.",
    "key": "The key of an object, with slashes.",
    "name": "The name, as the listing has it.",
    "checks": "Also looks at everything the instance depends on, as `atrium doctor` does.",
    "namespaces": "Only these groups of messages, separated by commas; absent for all.",
    "number": "The number of a version.",
    "ns": "Only messages of this namespace.",
    "status": "Only messages of this status; `pending` are those with a proposal.",
    "path": "The path of a file, with slashes.",
    "plugin": "The id of a plugin.",
    "ref": "The id or the slug of a company.",
}


class FieldProblem(msgspec.Struct):
    """One field that was refused; a `code` says which rule it breaks, where there are several."""

    path: str
    message: str
    code: str = ""


class Problem(msgspec.Struct, omit_defaults=True):
    """A refusal (RFC 9457): people read `detail`, programs read `code`."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[FieldProblem] = []


# What a reply is wrapped in, and the status that says.
_WRAPPERS: dict[Any, str] = {Created: "201", Accepted: "202", Put: "", SignedIn: "", SignedOut: ""}


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The whole interface; equal tables give equal documents."""
    # What speaks another protocol is described by that protocol's own documents.
    endpoints = [one for one in endpoints if one.route.auth is not Auth.SIGNED and one.route.protocol is None]
    components: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for prefix, group in _by_origin(endpoints).items():
        types = _types(group) if prefix else [Problem, *_types(group)]
        schemas, found = msgspec.json.schema_components(types, ref_template=_REF.format(name=prefix + "{name}"))
        components |= {prefix + name: schema for name, schema in found.items()}
        schema_of = {id(kind): schema for kind, schema in zip(types, schemas, strict=True)}
        for endpoint in group:
            described = _operation(endpoint, schema_of)
            paths.setdefault(address_of(endpoint.route), {})[endpoint.route.method.lower()] = described
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


def _by_origin(endpoints: Sequence[Endpoint]) -> dict[str, list[Endpoint]]:
    """The core's rows and each plugin's, by what their types' names begin with: a plugin's name never changes one of the core's."""
    groups: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        prefix = "" if endpoint.plugin is None else endpoint.route.handler.partition(".")[0] + "."
        groups.setdefault(prefix, []).append(endpoint)
    return groups


def address_of(route: Route) -> str:
    """A row's path as OpenAPI writes it."""
    return re.sub(r"[:*](\w+)", r"{\1}", route.path)


def _types(endpoints: Sequence[Endpoint]) -> list[Any]:
    found: list[Any] = []
    for endpoint in endpoints:
        kinds = (kind for _, kind in _replies_of(endpoint))
        found += [*kinds, *endpoint.query.values(), *endpoint.path.values()]
        if endpoint.reads_json:
            found.append(endpoint.body)
    unique = {id(kind): kind for kind in found if kind not in (Content, Download, EventStream, NoneType)}
    return list(unique.values())


def _operation(endpoint: Endpoint, schema_of: dict[int, Any]) -> dict[str, Any]:
    route = endpoint.route
    operation: dict[str, Any] = {
        "operationId": route.handler,
        "tags": [route.section],
        "summary": endpoint.summary,
        "security": [] if route.auth is Auth.PUBLIC else [{"bearer": []}],
        "x-auth": route.auth.value,
        "x-permission": route.permission,
        "x-feature": route.feature,
        "x-gives": route.gives,
        "x-reach": sorted(route.accepts)
        if isinstance(route.accepts, frozenset)
        else route.accepts and route.accepts.value,
        "parameters": list(_parameters(endpoint, schema_of)),
        "responses": _responses(endpoint, schema_of),
    }
    if endpoint.reads_json:
        operation["requestBody"] = {
            "required": _needs_body(endpoint),
            "content": {
                "application/json": {"schema": schema_of[id(endpoint.body)], "example": example_of(endpoint.body)}
            },
        }
    elif endpoint.body is RawBody:
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {}}}
    return operation


def _needs_body(endpoint: Endpoint) -> bool:
    # An absent body is read as an empty object; a plugin's handler that names no type decides for itself.
    if endpoint.decode is None:
        return False
    if getattr(endpoint.body, "__origin__", None) is Any:
        # Described, and judged by the handler: nothing is not what is described.
        return True
    try:
        endpoint.decode(b"{}")
    except msgspec.ValidationError:
        return True
    return False


def _parameters(endpoint: Endpoint, schema_of: dict[int, Any]) -> Iterable[dict[str, Any]]:
    for name, kind in endpoint.path.items():
        described = name in PARAMETERS or endpoint.plugin is None
        schema = (
            schema_of[id(kind)] if described else {**schema_of[id(kind)], "description": f"The `{name}` in the path."}
        )
        yield _parameter(name, "path", schema, required=True)
    for name, kind in endpoint.query.items():
        schema = _without_null(schema_of[id(kind)])
        if endpoint.defaults.get(name) is not None:
            schema = {**schema, "default": endpoint.defaults[name]}
        yield _parameter(name, "query", schema, required=name not in endpoint.defaults)
    for header in endpoint.headers.values():
        if header in _HEADER_NAMES:
            yield _parameter(_HEADER_NAMES[header], "header", {"type": "string"})
    if _revalidates(endpoint):
        yield _parameter("If-None-Match", "header", {"type": "string"})
    if endpoint.route.method == "POST" and (endpoint.transactional or endpoint.keeps_key):
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"}
        yield _parameter("Idempotency-Key", "header", schema)


def _parameter(name: str, place: str, schema: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    sentence = schema.get("description") or PARAMETERS.get(name, "")
    plain = {key: value for key, value in schema.items() if key != "description"}
    return {"name": name, "in": place, "required": required, "description": sentence, "schema": plain}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    # An absent query parameter is absent, not null.
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    return options[0] if len(options) == 1 else schema


def _replies_of(endpoint: Endpoint) -> list[tuple[str, Any]]:
    """Every reply that is no refusal, with its status; the first is the usual one. Most handlers have one."""
    wrapped = get_args(endpoint.reply) if get_origin(endpoint.reply) in (UnionType, Union) else ()
    structs = [option for option in wrapped if isinstance(option, type(msgspec.Struct))]
    several = len(structs) > 1 or any(get_origin(option) in _WRAPPERS for option in wrapped)
    return [_unwrapped(option) for option in (wrapped if several else (endpoint.reply,))]


def _unwrapped(kind: Any) -> tuple[str, Any]:
    status = "200"
    while (origin := get_origin(kind)) in _WRAPPERS:
        status, kind = _WRAPPERS[origin] or status, get_args(kind)[0]
    return ("204" if kind is NoneType else status), kind


def _reply_of(endpoint: Endpoint) -> tuple[str, Any]:
    return _replies_of(endpoint)[0]


def _responses(endpoint: Endpoint, schema_of: dict[int, Any]) -> dict[str, Any]:
    status, kind = _reply_of(endpoint)
    if kind in (Content, Download):
        content: dict[str, Any] = {"*/*": {}}
    elif kind is EventStream:
        content = {"text/event-stream": {}}
    elif kind is NoneType:
        content = {}
    else:
        content = {"application/json": {"schema": schema_of[id(kind)]}}
        if endpoint.streams:
            content["text/event-stream"] = {}
    refusals = {str(STATUS[kind]): kind for kind in sorted(_refusals(endpoint), key=STATUS.__getitem__)}
    problem = {"application/problem+json": {"schema": {"$ref": _REF.format(name="Problem")}}}
    done: dict[str, Any] = {"description": endpoint.summary or "Done.", **({"content": content} if content else {})}
    headers: dict[str, Any] = {}
    if _has_etag(kind):
        # A reply repeated for an Idempotency-Key comes without it.
        required = endpoint.route.method != "POST"
        headers["ETag"] = {"required": required, "schema": {"type": "string"}}
    if "cursor" in endpoint.query:
        link = "The next page, as a link with `rel=next` (RFC 8288); absent on the last."
        headers["Link"] = {"description": link, "schema": {"type": "string"}}
    if headers:
        done["headers"] = headers
    extra: dict[str, Any] = {"201": done} if get_origin(endpoint.reply) is Put else {}
    for other, beside in _replies_of(endpoint)[1:]:
        reply = {"application/json": {"schema": schema_of[id(beside)]}}
        if other == status:
            content["application/json"] = {"schema": {"anyOf": [schema_of[id(kind)], schema_of[id(beside)]]}}
            done.get("headers", {}).pop("ETag", None)
            continue
        extra[other] = {"description": (beside.__doc__ or "Done.").strip(), "content": reply}
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


def _has_etag(kind: Any) -> bool:
    """Whether every reply of this type names its version; bytes name theirs only where a handler says so."""
    return callable(getattr(kind, "etag", None))


def _revalidates(endpoint: Endpoint) -> bool:
    """Whether a reader who names the version they have may be told that it still is the current one."""
    return endpoint.route.method == "GET" and _has_etag(_reply_of(endpoint)[1])


def _names_things(endpoint: Endpoint) -> bool:
    """Whether body or query refer to something by its id."""
    body = endpoint.body
    fields = msgspec.structs.fields(body) if isinstance(body, type(msgspec.Struct)) else ()
    return any(
        UUID in (kind, *get_args(kind)) for kind in (*(field.type for field in fields), *endpoint.query.values())
    )


def _refusals(endpoint: Endpoint) -> set[Kind]:
    """Every kind of refusal this row can give, read off the row."""
    route = endpoint.route
    found = {Kind.INVALID, Kind.UNAVAILABLE, *route.refuses}
    writes = route.method not in READS
    if route.auth is not Auth.PUBLIC:
        found |= {Kind.UNAUTHENTICATED, Kind.EXHAUSTED, Kind.FORBIDDEN, Kind.MOVED}
        # A suspension leaves some open; a company that is moving writes nothing.
        if writes:
            found.add(Kind.SUSPENDED)
    elif writes:
        found |= {Kind.EXHAUSTED, Kind.UNAUTHENTICATED, Kind.FORBIDDEN, Kind.MOVED}
    if writes:
        found.add(Kind.CONFLICT)
    if endpoint.path or endpoint.reply is Content or _names_things(endpoint) or route.auth in _SOMETIMES_ABSENT:
        found.add(Kind.MISSING)
    if endpoint.reads_json or endpoint.body is RawBody:
        found.add(Kind.TOO_LARGE)
    if route.method in CHANGES or "if_match" in endpoint.headers:
        found.add(Kind.STALE)
    if endpoint.reply is Download:
        found.add(Kind.RANGE)
    # A request struct that is put to a model says so itself.
    if getattr(endpoint.body, "__asks_a_model__", False):
        found |= {Kind.UPSTREAM, Kind.MISSING}
    # A request struct whose content another service may refuse says so itself.
    if getattr(endpoint.body, "__may_be_refused__", False):
        found.add(Kind.REFUSED)
    return found


def error_codes() -> list[tuple[str, int, str, str]]:
    """Every stable code with its status, title and meaning; for the reference page."""
    found: dict[str, tuple[str, int, str, str]] = {}
    for kind in refusals():
        found.setdefault(kind.code, (kind.code, STATUS[kind.kind], kind.title, (kind.__doc__ or "").strip()))
    return sorted([*found.values(), (INTERNAL, 500, FAILURE, "A defect; the log has it under the request's id.")])

"""Boot checks: each compares two things that must agree and yields the disagreements. Any problem stops the boot."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import msgspec

from atrium.edge.endpoint import bind
from atrium.ground.access.model import PERMISSIONS
from atrium.ground.features.model import FEATURES
from atrium.seams import jobs, tools
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Auth, Download, RawBody, Route
from atrium.seams.wiring import Domain

Handlers = dict[str, Callable[..., Any]]
Rows = tuple[Route, ...]
_CREDENTIALED = (Auth.BEARER, Auth.SUPERADMIN, Auth.ORG_ADMIN)
_NAMES = re.compile(r"[:*](\w+)")


def handlers_of(domains: tuple[Domain, ...]) -> Handlers:
    """Every public coroutine function defined in a handlers module, by `domain.function`."""
    return {
        f"{domain.name}.{name}": function
        for domain in domains
        if domain.handlers
        for name, function in inspect.getmembers(domain.handlers, inspect.iscoroutinefunction)
        if not name.startswith("_") and function.__module__ == domain.handlers.__name__
    }


def problems(rows: Rows, handlers: Handlers, domains: tuple[Domain, ...] = ()) -> list[str]:
    """Every problem the boot checks find; empty when there is none."""
    found = [f"{check.__name__.strip('_')}: {text}" for check in _TABLE_CHECKS for text in check(rows, handlers)]
    found += [f"tools: {text}" for text in _wrong_tools(domains)]
    found += [f"chores: {text}" for text in _wrong_chores(domains)]
    found += [f"turn_kinds: {text}" for text in _wrong_turn_kinds(domains)]
    return found + [f"job_kinds: {text}" for text in _wrong_kinds(domains)]


def _rows_without_handlers(rows: Rows, handlers: Handlers) -> Iterator[str]:
    yield from (
        f"{row.method} {row.path} names {row.handler}, which does not exist"
        for row in rows
        if row.handler not in handlers
    )


def _handlers_without_rows(rows: Rows, handlers: Handlers) -> Iterator[str]:
    yield from (
        f"{name} is public but no row names it" for name in sorted(handlers.keys() - {row.handler for row in rows})
    )


def _unknown_names(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for row in rows:
        if row.permission is not None and row.permission not in PERMISSIONS:
            yield f"{row.method} {row.path} needs unknown permission {row.permission}"
        if isinstance(row.accepts, frozenset) and (unknown := row.accepts - PERMISSIONS):
            yield f"{row.method} {row.path} asks a scope for unknown permissions {sorted(unknown)}"
        if row.feature is not None and row.feature not in FEATURES:
            yield f"{row.method} {row.path} needs unknown feature {row.feature}"


def _public_with_permission(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for row in rows:
        if row.auth is Auth.PUBLIC and (row.permission or row.feature):
            yield f"{row.method} {row.path} is public, so its permission or feature can never be held"


def _unstated_credentials(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for row in rows:
        bare = row.auth in _CREDENTIALED and row.permission is None
        if bare and row.accepts is None:
            yield f"{row.method} {row.path} names no permission, so it must say which credentials it accepts"
        if not bare and row.accepts is not None:
            yield f"{row.method} {row.path} has a permission or no credential, so `accepts` would say nothing"


def _lent_credentials(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for row in rows:
        if row.cors and row.auth is not Auth.PUBLIC:
            yield f"{row.method} {row.path} takes a credential, so it must not answer pages of other origins"


def _hidden_rows(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for index, later in enumerate(rows):
        for earlier in rows[:index]:
            if earlier.method == later.method and _covers(earlier.path, later.path):
                yield f"{later.method} {later.path} can never match: {earlier.path} comes first"


def _covers(earlier: str, later: str) -> bool:
    """Whether every path that fits the later row fits the earlier one too."""
    ours, theirs = earlier.split("/"), later.split("/")
    for index, segment in enumerate(ours):
        if segment[:1] == "*":
            return len(theirs) > index
        if index >= len(theirs) or theirs[index][:1] == "*":
            return False
        if segment[:1] != ":" and segment != theirs[index]:
            return False
    return len(ours) == len(theirs)


def _signatures(rows: Rows, handlers: Handlers) -> Iterator[str]:
    for row in rows:
        if row.handler in handlers:
            yield from (f"{row.handler}: {text}" for text in _misfits(row, handlers[row.handler]))


def _misfits(row: Route, function: Callable[..., Any]) -> Iterator[str]:
    hints = get_type_hints(function)
    first = next(iter(inspect.signature(function).parameters), None)
    if first is None or hints.get(first) not in (Context, Operation):
        yield "first parameter must be a Context or an Operation"
        return
    if "return" not in hints:
        yield "has no return annotation"
        return
    if not function.__doc__:
        yield "has no docstring, so the reference would have no summary"
    endpoint = bind(row, function)
    named = _NAMES.findall(row.path)
    if named != list(endpoint.path):
        yield f"path names {named} but the signature takes {list(endpoint.path)}"
    if row.method == "GET" and endpoint.body is not None:
        yield "GET takes no body"
    fields = getattr(endpoint.body, "__struct_fields__", ())
    if row.gives and "password" not in fields:
        yield "gives a credential or power, so its body must take the caller's `password`"
    if isinstance(row.gives, str) and row.gives not in fields:
        yield f"gives by `{row.gives}`, which its body does not take"
    if row.method == "DELETE" and not _can_be_left_out(endpoint.body):
        yield "DELETE takes a body only where it can be left out: not every client sends one"
    if endpoint.transactional and (endpoint.body is RawBody or endpoint.streams or endpoint.reply is Download):
        yield "streams, so it must take an Operation: no transaction may stay open while bytes flow"
    if endpoint.transactional and row.auth is Auth.PUBLIC:
        yield "is public, so it must take an Operation: there is no company whose wall a transaction could stand behind"


def _can_be_left_out(body: Any) -> bool:
    if body is None:
        return True
    return (
        isinstance(body, type)
        and issubclass(body, msgspec.Struct)
        and not any(field.required for field in msgspec.structs.fields(body))
    )


def _wrong_tools(domains: tuple[Domain, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for tool in (tool for domain in domains for tool in domain.tools):
        if tool.name in seen:
            yield f"{tool.name} is registered twice"
        yield from (f"{tool.name}: {text}" for text in tools.problems_with(tool, PERMISSIONS, FEATURES))
        seen.add(tool.name)


def _wrong_chores(domains: tuple[Domain, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for chore in (chore for domain in domains for chore in domain.chores):
        if chore.name in seen:
            yield f"{chore.name} is declared twice"
        if chore.seconds <= 0 or not inspect.iscoroutinefunction(chore.run):
            yield f"{chore.name}: run must be async, and some time must pass between two rounds"
        seen.add(chore.name)


def _wrong_turn_kinds(domains: tuple[Domain, ...]) -> Iterator[str]:
    names = [kind.name for domain in domains for kind in domain.turn_kinds]
    yield from (f"{name} is registered twice" for name in sorted({name for name in names if names.count(name) > 1}))


def _wrong_kinds(domains: tuple[Domain, ...]) -> Iterator[str]:
    seen: set[str] = set()
    for kind in (kind for domain in domains for kind in domain.job_kinds):
        if kind.name in seen or kind.name.startswith("x."):
            yield f"{kind.name} is registered twice, or has a plugin's name"
        yield from (f"{kind.name}: {text}" for text in jobs.problems_with(kind))
        seen.add(kind.name)


_TABLE_CHECKS = (
    _rows_without_handlers,
    _handlers_without_rows,
    _unknown_names,
    _public_with_permission,
    _unstated_credentials,
    _lent_credentials,
    _hidden_rows,
    _signatures,
)

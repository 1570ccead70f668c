"""Matching: the table compiled once into a trie that answers as if the rows were tried in declared order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from atrium.edge.endpoint import Endpoint
from atrium.kit.errors import AppError, Kind, Missing
from atrium.seams.routes import Route


class NoRoute(Missing):
    """No row has this path."""

    code = "request.no_route"
    title = "No such address"


class MethodNotAllowed(AppError):
    """The path exists, with other methods."""

    kind, code, title = Kind.METHOD, "request.method_not_allowed", "Method not allowed"


@dataclass(slots=True)
class _Node:
    fixed: dict[str, "_Node"] = field(default_factory=dict)
    named: "_Node | None" = None
    leaf: dict[str, tuple[int, Endpoint]] = field(default_factory=dict)
    rest: dict[str, tuple[int, Endpoint]] = field(default_factory=dict)


_Found = dict[str, tuple[int, Endpoint, list[str]]]


class Router:
    """The compiled table."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._root = _Node()
        self._static: dict[str, dict[str, Endpoint]] = {}
        for index, endpoint in enumerate(endpoints):
            self._add(index, endpoint)

    def match(self, method: str, path: str) -> tuple[Endpoint, list[str]]:
        """The row for this request, and the values of its path's names in order."""
        if method == "HEAD":
            method = "GET"
        static = self._static.get(path)
        if static is not None and method in static:
            return static[method], []
        found: _Found = {}
        self._walk(self._root, path[1:].split("/"), 0, [], found)
        if method in found:
            _, endpoint, values = found[method]
            return endpoint, values
        allowed = ", ".join(sorted({*found, *(static or ())}))
        if not allowed:
            raise NoRoute(f"there is nothing at {path[:200]}")
        raise MethodNotAllowed(f"this address takes {allowed}", allow=allowed)

    def rows(self, path: str) -> list[Route]:
        """Every row at this address."""
        found: _Found = {}
        self._walk(self._root, path[1:].split("/"), 0, [], found)
        return [
            *(endpoint.route for endpoint in self._static.get(path, {}).values()),
            *(endpoint.route for _, endpoint, _ in found.values()),
        ]

    def _add(self, index: int, endpoint: Endpoint) -> None:
        route = endpoint.route
        segments = route.path[1:].split("/")
        if not any(segment[:1] in (":", "*") for segment in segments):
            earlier: _Found = {}
            self._walk(self._root, segments, 0, [], earlier)
            if route.method not in earlier:
                self._static.setdefault(route.path, {}).setdefault(route.method, endpoint)
            return
        node = self._root
        for segment in segments:
            if segment[:1] == "*":
                node.rest.setdefault(route.method, (index, endpoint))
                return
            if segment[:1] == ":":
                node.named = node = node.named or _Node()
            else:
                node = node.fixed.setdefault(segment, _Node())
        node.leaf.setdefault(route.method, (index, endpoint))

    def _walk(self, node: _Node, segments: list[str], at: int, values: list[str], found: _Found) -> None:
        if at == len(segments):
            _keep(node.leaf, values, found)
            return
        segment = segments[at]
        fixed = node.fixed.get(segment)
        if fixed is not None:
            self._walk(fixed, segments, at + 1, values, found)
        if node.named is not None and segment:
            self._walk(node.named, segments, at + 1, [*values, segment], found)
        if node.rest and (remainder := "/".join(segments[at:])):
            _keep(node.rest, [*values, remainder], found)


def _keep(rows: dict[str, tuple[int, Endpoint]], values: list[str], found: _Found) -> None:
    for method, (index, endpoint) in rows.items():
        if method not in found or index < found[method][0]:
            found[method] = index, endpoint, values

"""One JSON line per request on standard output, written in batches off the request's path."""

import asyncio
import os
import re
import sys
import time
from uuid import UUID

import msgspec

from atrium.edge.request import Request

_FLUSH_SECONDS = 0.25
_FLUSH_LINES = 500
# In any other form it may be a word.
_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_encode_lines = msgspec.json.Encoder().encode_lines


class Line(msgspec.Struct):
    """A finished request, its fields in the order they are printed."""

    at: float
    request_id: str
    trace_id: str
    method: str
    path: str
    status: int
    ms: float
    user: UUID | None
    org: UUID | None
    bytes: int


def shown_path(route: str, path: str) -> str:
    """The row's pattern with the ids that were asked for: a key or a name in an address may be words of something private."""
    if ":" not in route:
        return route
    asked = path.split("/")
    return "/".join(
        asked[place] if part.startswith(":") and place < len(asked) and _ID.fullmatch(asked[place]) else part
        for place, part in enumerate(route.split("/"))
    )


class AccessLog:
    """Collects lines and writes them a few times a second."""

    def __init__(self, enabled: bool, whole_paths: bool = False, descriptor: int | None = None) -> None:
        self._enabled, self._whole_paths = enabled, whole_paths
        self._descriptor = sys.stdout.fileno() if descriptor is None and enabled else descriptor
        self._lines: list[Line] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(
        self, request: Request, route: str, status: int, seconds: float, user: UUID | None, org: UUID | None, size: int
    ) -> None:
        """Note a finished request at a row of the table."""
        if not self._enabled:
            return
        path = request.path if self._whole_paths else shown_path(route, request.path)
        at, ms = round(time.time(), 3), round(seconds * 1000, 2)
        self._lines.append(Line(at, request.id, request.trace.id, request.method, path, status, ms, user, org, size))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)
        if len(self._lines) >= _FLUSH_LINES:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        if lines and self._descriptor is not None:
            os.write(self._descriptor, _encode_lines(lines))

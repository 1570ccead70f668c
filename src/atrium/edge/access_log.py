"""One JSON line per request on standard output, written in batches off the request's path."""

import asyncio
import os
import sys
import time
from uuid import UUID

import msgspec

from atrium.edge.request import Request

_FLUSH_SECONDS = 0.25
_FLUSH_LINES = 500
_encode_lines = msgspec.json.Encoder().encode_lines


class Line(msgspec.Struct):
    """A finished request, its fields in the order they are printed."""

    at: float
    request_id: str
    method: str
    path: str
    status: int
    ms: float
    user: UUID | None
    org: UUID | None
    bytes: int


class AccessLog:
    """Collects lines and writes them a few times a second."""

    def __init__(self, enabled: bool, descriptor: int | None = None) -> None:
        self._enabled = enabled
        self._descriptor = sys.stdout.fileno() if descriptor is None and enabled else descriptor
        self._lines: list[Line] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(
        self, request: Request, status: int, seconds: float, user: UUID | None, org: UUID | None, size: int
    ) -> None:
        """Note a finished request."""
        if not self._enabled:
            return
        at, ms = round(time.time(), 3), round(seconds * 1000, 2)
        self._lines.append(Line(at, request.id, request.method, request.path, status, ms, user, org, size))
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

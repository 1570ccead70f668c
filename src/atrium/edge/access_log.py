"""One JSON line per request on standard output, written in batches off the request's path."""

import asyncio
import os
import sys
import time
from typing import Any

import msgspec

_FLUSH_SECONDS = 0.25
_FLUSH_LINES = 500
_encode = msgspec.json.Encoder().encode


class AccessLog:
    """Collects lines and writes them a few times a second."""

    def __init__(self, enabled: bool, descriptor: int | None = None) -> None:
        self._enabled = enabled
        self._descriptor = sys.stdout.fileno() if descriptor is None and enabled else descriptor
        self._lines: list[tuple[Any, ...]] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(
        self, request_id: str, method: str, path: str, status: int, seconds: float, user: Any, org: Any, size: int
    ) -> None:
        """Note a finished request."""
        if not self._enabled:
            return
        self._lines.append((time.time(), request_id, method, path, status, seconds, user, org, size))
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
            os.write(self._descriptor, b"".join(map(_line, lines)))


def _line(entry: tuple[Any, ...]) -> bytes:
    at, request_id, method, path, status, seconds, user, org, size = entry
    fields = {
        "at": round(at, 3),
        "request_id": request_id,
        "method": method,
        "path": path,
        "status": status,
        "ms": round(seconds * 1000, 2),
        "user": user,
        "org": org,
        "bytes": size,
    }
    return _encode(fields) + b"\n"

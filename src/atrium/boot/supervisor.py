"""Telling systemd, or whatever speaks its protocol, that this process is ready, stopping, and not stuck."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping

from atrium.seams.settings import read_supervision


class Supervisor:
    """The service manager that started this process, if one did; without one every word goes nowhere."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._address, self._seconds = read_supervision(os.getpid(), environment)
        self._ticking: asyncio.Task[None] | None = None

    def ready(self) -> None:
        """The process answers from now on; where the manager watches it, it is told twice as often as it asks for that the loop turns."""
        self._tell("READY=1")
        if self._seconds:
            self._ticking = asyncio.get_running_loop().create_task(self._tick(self._seconds / 2))

    def stopping(self) -> None:
        """The process finishes what it has begun."""
        self._tell("STOPPING=1")

    async def _tick(self, seconds: float) -> None:
        # In the loop itself and not in a thread: one that stands still must be noticed.
        while True:
            self._tell("WATCHDOG=1")
            await asyncio.sleep(seconds)

    def _tell(self, words: str) -> None:
        if not self._address:
            return
        # A name that begins with @ is an abstract one.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock,
        ):
            sock.sendto(words.encode(), address)

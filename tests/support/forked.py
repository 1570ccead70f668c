"""Processes that begin with everything imported: one python is kept ready, and each start is a fork of it.

Most of a start of ours is importing. What a fork runs is what `python -m MODULE` runs, with an environment, signals, output and
an end of its own; only the imports were done before.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from tests.support.patience import PATIENCE

ROOT = Path(__file__).parents[2]
# Read by the interpreter or the loader when it starts, so a fork would not see them.
_READ_AT_START = ("PYTHON", "LD_", "MALLOC_")
_IMPORTED = (
    "atrium.cli", "atrium.commands.backups", "atrium.commands.blobs", "atrium.commands.doctor", "atrium.commands.check",
    "atrium.commands.people",
    "atrium.commands.search", "atrium.boot.serve", "atrium.commands.up", "atrium.boot.work", "uvicorn.lifespan.on", "uvloop",
)  # fmt: skip
_LONGEST = 1 << 18


class Forked:
    """What tests use of subprocess.Popen, for a process that another one forked."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = end

    def poll(self) -> int | None:
        """The exit code, once there is one; a signal that killed it is its negative number."""
        return self._ended_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code."""
        code = self._ended_within(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(["forked"], timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing is sent to a process that has ended: its number may be another's by now."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _ended_within(self, seconds: float | None) -> int | None:
        if self.returncode is None:
            self._end.settimeout(seconds)
            try:
                said = self._end.recv(64)
            except (BlockingIOError, TimeoutError):
                return None
            self._end.close()
            self.returncode = int(said)
        return self.returncode


def can_fork(arguments: Sequence[str], seen: Mapping[str, str]) -> bool:
    """Whether a fork is the same as a start: of a module, by an interpreter that would begin as ours did."""
    begins = {**os.environ, "PYTHONUNBUFFERED": "1"}
    names = {name for name in {*begins, *seen} if name.startswith(_READ_AT_START)}
    return arguments[0] == "-m" and all(begins.get(name) == seen.get(name) for name in names)


def fork(arguments: Sequence[str], seen: Mapping[str, str], output: int | IO[bytes]) -> Forked:
    """Start `python -m MODULE ARGUMENTS...` in the project's folder with exactly this environment."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wanted = json.dumps([list(arguments[1:]), dict(seen)]).encode()
    with theirs:
        number = output if isinstance(output, int) else output.fileno()
        socket.send_fds(_ready(os.getpid())[0], [wanted], [theirs.fileno(), number])
    ours.settimeout(PATIENCE)
    return Forked(int(ours.recv(64)), ours)


@cache
def _ready(pid: int) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that is kept ready and the way to it; it ends when the one that asked for it does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked", str(theirs.fileno())],
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    return ours, process


def _wait_to_be_one(asked: socket.socket) -> list[str]:
    """Fork for each wish that comes; returns in the fork, which is to become what was wished."""
    while True:
        wish, numbers, _, _ = socket.recv_fds(asked, _LONGEST, 2)
        if not wish:
            os._exit(0)
        told, output = numbers
        if os.fork() == 0:
            asked.close()
            return _kept(wish, told, output)
        os.close(told)
        os.close(output)


def _kept(wish: bytes, told: int, output: int) -> list[str]:
    """A parent that says how its only child ends, because whoever asked for the child is not its parent."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid:
        os.close(output)
        with socket.socket(fileno=told) as end:
            end.send(str(pid).encode())
            _, status = os.waitpid(pid, 0)
            end.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    os.close(told)
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    arguments, seen = json.loads(wish)
    os.environ.clear()
    os.environ.update(seen)
    time.tzset()
    return list(arguments)


if __name__ == "__main__":
    # Whoever interrupts the tests means the tests; a fork hears again, like a process that a shell started.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    for name in _IMPORTED:
        importlib.import_module(name)
    # A collection in a fork would touch, and so copy, every page of what they share.
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as way:
        module, *sys.argv[1:] = _wait_to_be_one(way)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    runpy.run_module(module, run_name="__main__", alter_sys=True)

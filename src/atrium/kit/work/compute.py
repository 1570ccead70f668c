"""Heavy pure work over people's texts: in processes of its own, fair between companies, ended at a deadline.

The event loop serves every request and the threads of a process take turns with it, so that work whose size a caller chooses belongs into
neither. `@heavy` marks such a function; called on the loop's thread it raises.
"""

import asyncio
import functools
import math
import os
import pickle
import resource
import signal
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, ParamSpec, Self, TypeVar, cast

from atrium.kit.errors import AppError, Kind
from atrium.kit.isolation.processes import end_process
from atrium.kit.work.shares import Busy, Shares

P = ParamSpec("P")
R = TypeVar("R")

# What has no more characters than this is done at once: asking a process takes longer.
SMALL = 4_000
SECONDS, _QUEUE_SECONDS = 20.0, 30.0
# A process that is idle for so long ends.
_IDLE_SECONDS = 120.0
# What is under way when the server is told to end has so long.
_DRAIN_SECONDS = 5.0
# A request: how long it may take, how many bytes it has.
_ASKED, _ANSWERED = struct.Struct(">IQ"), struct.Struct(">Q")
_MEMORY = 2 << 30
# A process whose server is gone ends by itself so many seconds after its deadline.
_GRACE = 5
_at_once: ContextVar[bool] = ContextVar("at_once", default=False)


class TooHeavy(AppError):
    """Work over a text was not done by its deadline."""

    kind, code, title = Kind.REFUSED, "compute.too_heavy", "Too much work"


class OnTheLoop(RuntimeError):
    """Heavy work was called where it stops everybody."""


def heavy(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a pure function whose work a caller's text decides about: it is run by `ComputePool.run`."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if asyncio._get_running_loop() is not None and not _at_once.get():
            raise OnTheLoop(f"{function.__qualname__} was called on the event loop; run it by services.compute")
        return function(*args, **kwargs)

    return guarded


class ComputePool:
    """Processes that do heavy work, started when there is some; make one per process."""

    def __init__(self, processes: int) -> None:
        self._shares = Shares(processes)
        self._idle: list[tuple[Process, asyncio.TimerHandle]] = []
        self._alive: set[Process] = set()
        self._ending: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._draining = False

    async def run(
        self,
        owner: Hashable,
        size: int,
        function: Callable[..., R],
        *arguments: Any,
        small: int = SMALL,
        seconds: float = SECONDS,
        waits: float = _QUEUE_SECONDS,
    ) -> R:
        """What the function comes to; `size` is how many characters it looks at, `owner` the company that asks.
        What has at most `small` of them is done at once.

        Function, arguments and result cross to another process, unless there is little to do. Raises what the function does,
        TooHeavy when it is not done in so many seconds, and Busy when no process is free in as many as it `waits`.
        """
        if size <= small:
            return run_small(function, *arguments)
        try:
            asked = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        except RecursionError as error:
            raise TooHeavy("this is nested too deeply") from error
        async with self._shares.hold(owner, waits):
            answer = await self._ask(asked, seconds)
        done, value = pickle.loads(answer)  # noqa: S301 - written by a process of ours
        if not done:
            raise _error_of(*value)
        return cast(R, value)

    def drain(self) -> None:
        """Begin nothing more, and give what is under way a few seconds; called from anywhere."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        self._draining = True
        self._shares.close()
        asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self._end_all)

    def _end_all(self) -> None:
        for process in list(self._alive):
            self._end(process)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End every process, also those at work."""
        self._end_all()
        while self._ending:
            await asyncio.wait(self._ending)

    async def _ask(self, asked: bytes, seconds: float) -> bytes:
        self._loop = asyncio.get_running_loop()
        process = await self._take()
        try:
            async with asyncio.timeout(seconds):
                answer = await _exchange(process, asked, seconds)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError) as error:
            # Too long, or more memory than it may have.
            self._end(process)
            if self._draining:
                raise Busy("this server is being restarted; try again in a moment", retry_after=2) from error
            raise TooHeavy(
                f"this takes more than {seconds:g} s of work; send less at once, or something simpler"
            ) from error
        except BaseException:
            # The caller is gone, or the process is: what it was doing must not go on.
            self._end(process)
            raise
        self._keep(process)
        return answer

    async def _take(self) -> Process:
        while self._idle:
            process, retiring = self._idle.pop()
            retiring.cancel()
            if process.returncode is None:
                return process
            self._end(process)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", __name__,
            stdin=PIPE, stdout=PIPE, limit=1 << 20, env=_environment(), start_new_session=True,
        )  # fmt: skip
        self._alive.add(process)
        return process

    def _keep(self, process: Process) -> None:
        def retire() -> None:
            self._idle = [one for one in self._idle if one[0] is not process]
            self._end(process)

        self._idle.append((process, asyncio.get_running_loop().call_later(_IDLE_SECONDS, retire)))

    def _end(self, process: Process) -> None:
        self._alive.discard(process)
        ending = asyncio.ensure_future(end_process(process))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


async def run_bounded(size: int, function: Callable[..., R], *arguments: Any, small: int) -> R:
    """What a heavy function comes to whose work has a bound, in a thread: for where it must not be refused, as in a transaction."""
    return run_small(function, *arguments) if size <= small else await asyncio.to_thread(function, *arguments)


def run_small(function: Callable[..., R], *arguments: Any) -> R:
    """Run a heavy function over little here and now."""
    allowed = _at_once.set(True)
    try:
        return function(*arguments)
    finally:
        _at_once.reset(allowed)


def _environment() -> dict[str, str]:
    """What a process of Python needs, and nothing of the server's settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PYTHON", "LC_", "LANG")) or name == "PATH"
    }


async def _exchange(process: Process, asked: bytes, seconds: float) -> bytes:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("a process for heavy work has no pipes")
    process.stdin.write(_ASKED.pack(math.ceil(seconds), len(asked)))
    process.stdin.write(asked)
    await process.stdin.drain()
    [size] = _ANSWERED.unpack(await process.stdout.readexactly(_ANSWERED.size))
    return await process.stdout.readexactly(size)


def _serve() -> None:
    """Answer requests until the server is gone."""
    asked, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    while head := asked.read(_ASKED.size):
        seconds, size = _ASKED.unpack(head)
        signal.alarm(seconds + _GRACE)
        answer = _answer_to(asked.read(size))
        signal.alarm(0)
        answers.write(_ANSWERED.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def _answer_to(asked: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(asked)  # noqa: S301 - written by the server
        return pickle.dumps((True, function(*arguments)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # whatever the function raises is its answer
        return _refusal(error)


def _refusal(error: Exception) -> bytes:
    # Not the error itself, which would be made anew from its words alone.
    try:
        return pickle.dumps((False, (type(error), error.args, vars(error))), pickle.HIGHEST_PROTOCOL)
    except Exception:  # an error that cannot cross is told by its words
        words = f"{type(error).__qualname__}: {error}"
        return pickle.dumps((False, (RuntimeError, (words,), {})), pickle.HIGHEST_PROTOCOL)


def _error_of(kind: type[Exception], arguments: tuple[Any, ...], facts: dict[str, Any]) -> Exception:
    if issubclass(kind, MemoryError | RecursionError):
        return TooHeavy("this is too large or nested too deeply; send less at once, or something simpler")
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(facts)
    return error


if __name__ == "__main__":
    _serve()

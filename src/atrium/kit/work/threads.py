"""Threads for work of a bounded size that companies ask for, fair between them; what a text makes long belongs to `kit/work/compute`."""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from atrium.kit.work.shares import Shares

R = TypeVar("R")

_QUEUE_SECONDS = 30.0


class Threads:
    """A number of threads; signing in has one of its own, and what must not be refused has others."""

    def __init__(self, threads: int = 4, *, name: str = "companies") -> None:
        self._shares = Shares(threads, waiting=1_000)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, owner: Hashable, function: Callable[..., R], *arguments: Any) -> R:
        """What the function comes to; while others wait, the next thread is for the owner who holds fewest."""
        await self._shares.take(owner, _QUEUE_SECONDS)
        loop = asyncio.get_running_loop()

        def ended(_: Future[R]) -> None:
            # A thread cannot be ended: it is held until its work is done, also when its caller has left.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._shares.give_back, owner)

        try:
            work = self._threads.submit(partial(contextvars.copy_context().run, function, *arguments))
        except BaseException:
            self._shares.give_back(owner)
            raise
        work.add_done_callback(ended)
        return await asyncio.wrap_future(work)

    def held_by(self, owner: Hashable) -> int:
        """How many threads an owner holds now."""
        return self._shares.held_by(owner)

    def close(self) -> None:
        """Begin nothing more; what runs is left to end."""
        self._shares.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

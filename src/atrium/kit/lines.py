"""Waiting in line: whoever wants the same stands in one line, and one fetch at a time brings for as many as it can."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from atrium.kit.bell import Bell
from atrium.kit.log import log

Fetch = Callable[[list[Any]], Awaitable[list[Any]]]
HandBack = Callable[[Any], Awaitable[None]]


@dataclass(slots=True)
class _Line:
    topics: frozenset[str]
    fetch: Fetch
    hand_back: HandBack
    rung: asyncio.Event = field(default_factory=asyncio.Event)
    places: dict[asyncio.Future[Any], Any] = field(default_factory=dict)
    serving: "asyncio.Task[None] | None" = None


class Lines:
    """The lines of this process. A line is served when the bell rings for it, first come first served, and ends with its last place.

    However many stand in a line, waiting costs nothing, and a ring costs one fetch.
    """

    def __init__(self, bell: Bell, most: int = 100) -> None:
        self._bell, self._most = bell, most
        self._lines: dict[Hashable, _Line] = {}
        self._arrived: dict[Any, list[Any]] = {}

    @contextlib.contextmanager
    def stand(
        self, key: Hashable, topics: frozenset[str], item: Any, fetch: Fetch, hand_back: HandBack
    ) -> Iterator[asyncio.Future[Any]]:
        """A place in the line of this key until the block ends; the future has what came, None when the line was released.

        `fetch` is given items from the front of the line and answers one result or None for each; what it brings for
        somebody who has left meanwhile is handed back.
        """
        place: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        line = self._lines.get(key) or self._open(key, _Line(topics, fetch, hand_back))
        line.places[place] = item
        self._arrived.setdefault(key, []).append(item)
        try:
            yield place
        finally:
            place.cancel()
            if line.places.pop(place, None) is not None and not line.places:
                line.rung.set()

    def standing(self, topic: str) -> int:
        """How many wait for a topic."""
        return sum(len(line.places) for line in self._lines.values() if topic in line.topics)

    def topics(self) -> set[str]:
        """Everything that somebody waits for."""
        return {topic for line in self._lines.values() for topic in line.topics}

    def arrivals(self) -> dict[Any, list[Any]]:
        """Who has come to which line since this was last asked, whether or not they still stand there."""
        arrived, self._arrived = self._arrived, {}
        return arrived

    def release(self) -> None:
        """Send everybody away with nothing."""
        for line in self._lines.values():
            for place in line.places:
                if not place.done():
                    place.set_result(None)

    def _open(self, key: Hashable, line: _Line) -> _Line:
        self._lines[key] = line
        line.serving = asyncio.create_task(self._serve(key, line))
        return line

    async def _serve(self, key: Hashable, line: _Line) -> None:
        with self._bell.attend(line.topics, line.rung):
            # The first look is for what came before the bell was listened to.
            while line.places:
                line.rung.clear()
                if not await self._fetch_round(line) and line.places:
                    await line.rung.wait()
        del self._lines[key]

    async def _fetch_round(self, line: _Line) -> bool:
        """Whether everybody who was asked for got something, so that there may be more."""
        batch = list(islice(line.places.items(), self._most))
        try:
            results = await line.fetch([item for _, item in batch])
        except Exception as error:  # whatever stopped the round stopped it for everyone in it
            results = [error] * len(batch)
        for (place, _), result in zip(batch, results, strict=True):
            await _give(line, place, result)
        return all(result is not None for result in results)


async def _give(line: _Line, place: asyncio.Future[Any], result: Any) -> None:
    if result is None:
        return
    line.places.pop(place, None)
    if isinstance(result, Exception):
        if not place.done():
            place.set_exception(result)
    elif not place.done():
        place.set_result(result)
    else:
        try:
            await line.hand_back(result)
        except Exception as error:  # the line goes on for the others; what was brought finds its own way back
            log.warning("line.hand_back_failed", error=str(error))

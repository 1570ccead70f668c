"""Waiting in line: first come first served, one fetch for many, and nothing is lost on somebody who left."""

import asyncio
from typing import Any

import pytest

from atrium.kit.postgres.notify import Notifier
from atrium.kit.postgres.wait_queues import WaitQueues
from tests.support.patience import PATIENCE

TOPICS = frozenset({"bread"})


class Shop:
    """A counter with a line before it."""

    def __init__(self, most: int = 100) -> None:
        self.notifier = Notifier("", "")
        self.queues = WaitQueues(self.notifier, most)
        self.stock: list[str] = []
        self.returned: list[str] = []
        self.asked: list[list[str]] = []
        self.counter_open = asyncio.Event()
        self.counter_open.set()

    async def fetch(self, people: list[str]) -> list[str | None]:
        self.asked.append(people)
        taken, self.stock = self.stock[: len(people)], self.stock[len(people) :]
        await self.counter_open.wait()
        return [*taken, *[None] * (len(people) - len(taken))]

    async def hand_back(self, loaf: str) -> None:
        self.returned.append(loaf)

    async def wait(self, person: str, seconds: float = PATIENCE) -> Any:
        with self.queues.join("line", TOPICS, person, self.fetch, self.hand_back) as place:
            await asyncio.wait({place}, timeout=seconds)
            return place.result() if place.done() else None

    async def crowd(self, count: int) -> "list[asyncio.Task[Any]]":
        waiting = [asyncio.create_task(self.wait(str(number))) for number in range(count)]
        while self.queues.waiting("bread") < count or not self.asked:
            await asyncio.sleep(0)
        return waiting

    def deliver(self, *loaves: str) -> None:
        self.stock += loaves
        self.notifier.notify("bread")


async def test_what_was_there_before_anybody_came_is_found() -> None:
    shop = Shop()
    shop.stock = ["rye"]

    assert await shop.wait("ada") == "rye"


async def test_a_ring_costs_one_fetch_however_many_wait_and_serves_from_the_front() -> None:
    shop = Shop()
    waiting = await shop.crowd(50)
    before = len(shop.asked)

    shop.deliver("rye", "oat")
    first = await asyncio.gather(*waiting[:2])

    assert first == ["rye", "oat"]
    assert len(shop.asked) == before + 1
    assert shop.queues.waiting("bread") == 48
    shop.queues.release()
    assert await asyncio.gather(*waiting[2:]) == [None] * 48


async def test_a_line_longer_than_a_fetch_is_served_to_its_end() -> None:
    shop = Shop(most=10)
    waiting = await shop.crowd(35)

    shop.deliver(*map(str, range(35)))

    assert await asyncio.gather(*waiting) == [str(number) for number in range(35)]


async def test_what_comes_for_somebody_who_left_is_handed_back() -> None:
    shop = Shop()
    [waiting] = await shop.crowd(1)
    shop.counter_open.clear()
    shop.deliver("rye")
    while len(shop.asked) < 2:
        await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    shop.counter_open.set()
    while not shop.returned:
        await asyncio.sleep(0)

    assert shop.returned == ["rye"]


async def test_a_line_ends_with_its_last_place_and_begins_again() -> None:
    shop = Shop()
    assert await shop.wait("ada", 0.01) is None
    await asyncio.sleep(0)

    assert shop.queues.topics() == set()
    shop.stock = ["rye"]
    assert await shop.wait("bob") == "rye"


async def test_a_fetch_that_fails_fails_for_those_it_was_for_and_not_for_who_comes_later() -> None:
    shop = Shop()

    async def fail(people: list[str]) -> list[str | None]:
        raise OSError("no flour")

    standing = shop.queues.join("other", TOPICS, "ada", fail, shop.hand_back)
    with standing as place, pytest.raises(OSError, match="no flour"):
        await place

    shop.stock = ["rye"]
    assert await shop.wait("bob") == "rye"

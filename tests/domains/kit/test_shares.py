"""Places that companies share."""

import asyncio

import pytest

from atrium.kit.work.shares import Busy, Shares
from tests.support.patience import PATIENCE


class Holder:
    """Takes places and tells in which order owners got theirs."""

    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self.order: list[str] = []
        self._release: dict[asyncio.Task[None], asyncio.Event] = {}

    async def ask(self, owner: str) -> "asyncio.Task[None]":
        done = asyncio.Event()
        task = asyncio.create_task(self._hold(owner, done))
        self._release[task] = done
        await asyncio.sleep(0)
        return task

    async def release(self, task: "asyncio.Task[None]") -> None:
        self._release[task].set()
        await task

    async def _hold(self, owner: str, done: asyncio.Event) -> None:
        async with self.shares.hold(owner, PATIENCE):
            self.order.append(owner)
            await done.wait()


async def test_a_place_goes_to_the_owner_in_line_who_holds_fewest() -> None:
    holder = Holder(Shares(2))
    first, second = await holder.ask("a"), await holder.ask("a")
    waiting = [await holder.ask(owner) for owner in ("a", "a", "b")]
    await holder.release(first)
    await asyncio.sleep(0)
    await holder.release(second)
    await asyncio.sleep(0)

    assert holder.order == ["a", "a", "b", "a"]
    for task in (waiting[2], waiting[0], waiting[1]):
        await holder.release(task)
    assert holder.order == ["a", "a", "b", "a", "a"]
    assert (holder.shares.held_by("a"), holder.shares.waiting) == (0, 0)


async def test_no_place_is_kept_back_while_no_other_owner_wants_it() -> None:
    holder = Holder(Shares(3))
    tasks = [await holder.ask("a") for _ in range(3)]

    assert holder.shares.held_by("a") == 3
    for task in tasks:
        await holder.release(task)


async def test_an_owner_whose_line_is_full_is_refused_at_once_and_others_are_not() -> None:
    holder = Holder(Shares(1, waiting=2))
    first, *line = [await holder.ask("a") for _ in range(3)]

    with pytest.raises(Busy):
        async with holder.shares.hold("a", PATIENCE):
            pass
    other = await holder.ask("b")
    for task in (first, other, *line):
        await holder.release(task)
    assert holder.order == ["a", "b", "a", "a"]


async def test_whoever_leaves_the_line_leaves_no_place_behind() -> None:
    holder = Holder(Shares(1))
    first, second, third = [await holder.ask(owner) for owner in ("a", "b", "c")]
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    with pytest.raises(Busy):
        async with holder.shares.hold("d", 0.01):
            pass
    await holder.release(first)
    await holder.release(third)

    assert holder.order == ["a", "c"]
    assert (holder.shares.waiting, holder.shares.held_by("c")) == (0, 0)


async def test_a_place_that_comes_in_the_moment_of_leaving_is_given_on() -> None:
    holder = Holder(Shares(1))
    first, second, third = [await holder.ask(owner) for owner in ("a", "b", "c")]
    holder._release[first].set()
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    await holder.release(third)

    assert holder.order[-1] == "c"


async def test_a_place_passes_over_whoever_is_about_to_leave() -> None:
    holder = Holder(Shares(1))
    first, second, third = [await holder.ask(owner) for owner in ("a", "b", "c")]
    # Told to leave, and in line until its task runs.
    second.cancel()
    holder.shares.give_back("a")
    await asyncio.sleep(0)

    assert (holder.order, holder.shares.held_by("b"), holder.shares.held_by("c")) == (["a", "c"], 0, 1)
    await asyncio.gather(second, return_exceptions=True)
    assert second.cancelled()
    await holder.release(third)
    assert holder.shares.waiting == 0
    await holder.shares.take("d", 0)
    first.cancel()


async def test_a_place_that_all_in_line_are_about_to_leave_is_free() -> None:
    shares = Shares(1)
    await shares.take("a", PATIENCE)
    waiting = [asyncio.create_task(shares.take(owner, PATIENCE)) for owner in ("b", "b", "c")]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    shares.give_back("a")
    await asyncio.gather(*waiting, return_exceptions=True)

    await shares.take("d", 0)
    assert (shares.waiting, shares.held_by("b"), shares.held_by("d")) == (0, 0, 1)


async def test_places_close_while_somebody_is_about_to_leave() -> None:
    shares = Shares(1)
    await shares.take("a", PATIENCE)
    leaving, staying = [asyncio.create_task(shares.take(owner, PATIENCE)) for owner in ("b", "c")]
    await asyncio.sleep(0)
    leaving.cancel()
    shares.close()

    with pytest.raises(Busy):
        await staying
    await asyncio.wait([leaving])
    assert leaving.cancelled()


async def test_closed_places_refuse_those_who_wait_and_those_who_come_later() -> None:
    holder = Holder(Shares(1))
    first, second = await holder.ask("a"), await holder.ask("b")
    holder.shares.close()

    with pytest.raises(Busy):
        await second
    with pytest.raises(Busy):
        async with holder.shares.hold("c", PATIENCE):
            pass
    await holder.release(first)
    assert (holder.order, holder.shares.held_by("a"), holder.shares.waiting) == (["a"], 0, 0)

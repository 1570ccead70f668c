"""Heavy work in processes of its own."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.errors import Invalid
from atrium.kit.work.compute import SMALL, ComputePool, OnTheLoop, TooHeavy, heavy
from atrium.kit.work.shares import Busy
from tests.support.patience import PATIENCE

MUCH = SMALL + 1


@pytest.fixture(autouse=True)
def these_functions_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


@heavy
def counted(text: str) -> tuple[int, int]:
    return len(text), os.getpid()


@heavy
def refused(text: str) -> None:
    raise Invalid(f"no {text}", errors=[{"path": "/text"}])


class Odd(Exception):
    """An error whose words are not what it is made of."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")
        self.one, self.other = one, other


@heavy
def odd() -> None:
    raise Odd(1, 2)


@heavy
def forever(started: str) -> None:
    Path(started).write_text(str(os.getpid()))
    while True:
        time.sleep(0.01)


@heavy
def greedy() -> int:
    return len(bytearray(8 << 30))


@heavy
def environment() -> dict[str, str]:
    return dict(os.environ)


async def test_little_is_done_at_once_and_much_elsewhere() -> None:
    async with ComputePool(1) as pool:
        assert await pool.run("a", SMALL, counted, "x") == (1, os.getpid())
        length, first = await pool.run("a", MUCH, counted, "x" * MUCH)
        _, second = await pool.run("a", MUCH, counted, "x" * MUCH)

        assert length == MUCH
        assert first == second != os.getpid()
    assert not _is_alive(first)


async def test_heavy_work_on_the_event_loop_is_refused() -> None:
    with pytest.raises(OnTheLoop, match="counted"):
        counted("x")
    assert await asyncio.to_thread(counted, "x") == (1, os.getpid())


async def test_what_a_function_raises_crosses_whole() -> None:
    async with ComputePool(1) as pool:
        with pytest.raises(Invalid, match="no way") as refusal:
            await pool.run("a", MUCH, refused, "way")
        with pytest.raises(Odd) as error:
            await pool.run("a", MUCH, odd)

    assert refusal.value.facts == {"errors": [{"path": "/text"}]}
    assert (error.value.one, error.value.other, str(error.value)) == (1, 2, "1 and 2")


async def test_work_past_its_deadline_ends_with_its_process(tmp_path: Path) -> None:
    started = tmp_path / "started"
    async with ComputePool(1) as pool:
        with pytest.raises(TooHeavy):
            await pool.run("a", MUCH, forever, str(started), seconds=3)
        await _until(lambda: not _is_alive(int(started.read_text())))
        # The next one has a process of its own.
        assert (await pool.run("a", MUCH, counted, "x"))[0] == 1


async def test_work_ends_when_whoever_asked_is_gone(tmp_path: Path) -> None:
    started = tmp_path / "started"
    async with ComputePool(1) as pool:
        asking = asyncio.create_task(pool.run("a", MUCH, forever, str(started)))
        await _until(lambda: started.exists() and bool(started.read_text()))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await _until(lambda: not _is_alive(int(started.read_text())))


async def test_work_that_takes_the_memory_is_refused() -> None:
    async with ComputePool(1) as pool:
        with pytest.raises(TooHeavy):
            await pool.run("a", MUCH, greedy)
        assert (await pool.run("a", MUCH, counted, "x"))[0] == 1


async def test_closing_ends_what_is_at_work(tmp_path: Path) -> None:
    started, pool = tmp_path / "started", ComputePool(1)
    asking = asyncio.create_task(pool.run("a", MUCH, forever, str(started)))
    await _until(lambda: started.exists() and bool(started.read_text()))
    await pool.close()
    await asyncio.gather(asking, return_exceptions=True)

    assert not _is_alive(int(started.read_text()))


async def test_a_server_that_is_told_to_end_begins_nothing_and_ends_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atrium.kit.work.compute._DRAIN_SECONDS", 0.0)
    started = tmp_path / "started"
    async with ComputePool(1) as pool:
        asking = [asyncio.create_task(pool.run(owner, MUCH, forever, str(started))) for owner in "ab"]
        await _until(lambda: started.exists() and bool(started.read_text()))
        pool.drain()
        answers = await asyncio.gather(*asking, return_exceptions=True)

        assert [type(one) for one in answers] == [Busy, Busy]
        with pytest.raises(Busy):
            await pool.run("c", MUCH, counted, "x")


async def test_a_process_knows_nothing_of_the_servers_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_SECRET_KEY", "not to be told")
    async with ComputePool(1) as pool:
        known = await pool.run("a", MUCH, environment)

    assert not [name for name in known if name.startswith("SERVICE_")]


async def _until(holds: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.01)


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

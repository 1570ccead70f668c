"""Turns while the server that asks, PostgreSQL or the model dies: nothing stays reserved, each is paid once, what was kept is served."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from atrium.kit.postgres.migrate import migrate
from atrium.kit.web import outbound
from benchmarks.model_stand_in import serve
from tests.domains.turns.test_processes import Heard, usage
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.processes import PrivatePostgres, Process, bootstrap, private_postgres, rounds, serving, start_server
from tests.support.reader import Reader
from tests.support.speaker import Speaker
from tests.support.spoken_house import reserved, used

pytestmark = pytest.mark.timeout(3600)
# Interrupted within 15 s of the death, and what is noted is entered soon after.
SETTLED_SECONDS = 30
SILENT = "UPDATE turn_processes SET seen_at = now() - interval '1 minute', steady_since = now() - interval '1 minute'"
PAID = "SELECT sum((ending->'usage'->>'total_tokens')::int), count(*) FROM turns"


@asynccontextmanager
async def talking() -> AsyncIterator[str]:
    """A server that talks: the prompt `300 5` gets 300 words at 5 a second."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def database_of(postgres: PrivatePostgres) -> str:
    await run_as_owner(postgres.url, "CREATE DATABASE faults")
    url = urlunsplit(urlsplit(postgres.url)._replace(path="/faults"))
    await migrate(url)
    return url


async def until_heard(heard: list[Heard], words: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while not all(one.text.count("word") >= words for one in heard):
            await asyncio.sleep(0.05)


async def until_settled(url: str, server: Process, token: str, *, at_once: bool = False) -> None:
    """Nothing runs and nothing is reserved; at once, as if whoever died had been silent for a minute."""
    async with asyncio.timeout(PATIENCE):
        while await run_as_owner(url, "SELECT FROM turns WHERE state = 'running'") or (await usage(server, token))[1]:
            if at_once:
                await run_as_owner(url, SILENT)
            await asyncio.sleep(0.2)


async def test_a_killed_server_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    async with (
        fresh_database() as url,
        talking() as model,
        serving(url, 1, local_model_url=model) as [survivor],
    ):
        token, victim = await bootstrap(survivor), start_server(url, tmp_path, local_model_url=model)
        try:
            await victim.until_ready()
            await _kill(url, victim, survivor, token, [Heard() for _ in range(4)], at_once=True)
        finally:
            victim.clean_up()


@pytest.mark.proof
async def test_a_killed_server_loses_no_more_than_the_last_second(tmp_path: Path) -> None:
    """ATRIUM_FULL: 20 rounds of 200 streams, PostgreSQL crashing in every other one."""
    took = list[float]()
    with private_postgres() as postgres:
        url = await database_of(postgres)
        async with talking() as model, serving(url, 1, local_model_url=model) as [survivor]:
            token = await bootstrap(survivor)
            for number in rounds(1, 20):
                victim = start_server(url, tmp_path, local_model_url=model)
                try:
                    await victim.until_ready()
                    crashing = postgres if number % 2 else None
                    heard = [Heard() for _ in rounds(20, 200)]
                    seconds, lost = await _kill(url, victim, survivor, token, heard, crashing)
                    took.append(seconds)
                    assert seconds < SETTLED_SECONDS
                    # Stored once a second; at ten words a second about ten more may have been heard.
                    assert lost <= 25
                finally:
                    victim.clean_up()
    print(f"settled after {[round(one, 1) for one in took]} s")


async def _kill(
    url: str,
    victim: Process,
    survivor: Process,
    token: str,
    heard: list[Heard],
    postgres: PrivatePostgres | None = None,
    *,
    at_once: bool = False,
) -> tuple[float, int]:
    """Seconds until everything was settled, and the most words that somebody had heard and nobody will again."""
    before = len(await run_as_owner(url, "SELECT FROM turns"))
    lost = 0
    body = {"prompt": "2000 10", "on_disconnect": "finish", "max_tokens": 3000}
    reading = [asyncio.ensure_future(one.read(victim, token, body)) for one in heard]
    await until_heard(heard, 26)
    killed = time.monotonic()
    victim.popen.send_signal(signal.SIGKILL)
    if postgres is not None:
        await postgres.crash()
        await postgres.recover()
    await asyncio.gather(*reading, return_exceptions=True)
    await until_settled(url, survivor, token, at_once=at_once)
    took = time.monotonic() - killed
    for one in heard:
        kept = Heard()
        await kept.read(survivor, token, {"resume": one.turn})
        assert (kept.end["code"], kept.end["text"]) == ("ai.interrupted", kept.text)
        assert one.text.startswith(kept.text)
        lost = max(lost, one.text.count("word") - kept.text.count("word"))
    spent, _ = await usage(survivor, token)
    [paid] = await run_as_owner(url, PAID)
    assert paid["count"] == before + len(heard)
    assert (spent["ai.tokens.total"], spent["ai.requests"]) == (paid["sum"], paid["count"])
    return took, lost


async def test_streams_go_on_without_postgresql_and_are_settled_after() -> None:
    await without_postgresql(streams=4, away=1)


@pytest.mark.proof
async def test_streams_are_settled_soon_after_postgresql_is_back() -> None:
    """ATRIUM_FULL: 200 streams, and PostgreSQL away for ten seconds."""
    assert await without_postgresql(len(rounds(10, 200)), len(rounds(3, 10))) < SETTLED_SECONDS


async def without_postgresql(streams: int, away: int) -> float:
    """PostgreSQL is away for so many seconds; how many after it is back everything was settled."""
    with private_postgres() as postgres:
        url = await database_of(postgres)
        async with talking() as model, serving(url, 1, local_model_url=model) as [server]:
            token = await bootstrap(server)
            heard = [Heard() for _ in range(streams)]
            # Half of them end while it is away.
            bodies = [
                {"prompt": f"{40 if number % 2 else 40 + 10 * away} 10", "on_disconnect": "finish"}
                for number in range(len(heard))
            ]
            reading = [
                asyncio.ensure_future(one.read(server, token, body)) for one, body in zip(heard, bodies, strict=True)
            ]
            await until_heard(heard, 20)
            await postgres.crash()
            said = [len(one.text) for one in heard]
            await asyncio.sleep(away)
            grown = [len(one.text) - before for one, before in zip(heard, said, strict=True)]
            await postgres.recover()
            back = time.monotonic()
            await asyncio.wait_for(asyncio.gather(*reading), PATIENCE)
            await until_settled(url, server, token)
            settled = time.monotonic() - back
            spent, _ = await usage(server, token)
            [paid] = await run_as_owner(url, PAID)
            resumed = Heard()
            await resumed.read(server, token, {"resume": heard[0].turn})

    assert min(grown) > 0
    wanted = [int(str(body["prompt"]).split()[0]) for body in bodies]
    assert [one.text.count("word") for one in heard] == wanted
    assert [one.end["usage"]["total_tokens"] for one in heard] == [count + 9 for count in wanted]
    assert resumed.text == heard[0].text
    assert (spent["ai.tokens.total"], spent["ai.requests"]) == (sum(wanted) + 9 * len(wanted), len(wanted))
    assert (paid["sum"], paid["count"]) == (sum(wanted) + 9 * len(wanted), len(wanted))
    return settled


async def test_a_model_that_dies_is_told_with_what_it_said(alice: Client, speaker: Speaker) -> None:
    await told_of_death(alice, speaker, 5)


@pytest.mark.proof
async def test_a_model_that_dies_is_told_in_two_seconds(alice: Client, speaker: Speaker) -> None:
    assert await told_of_death(alice, speaker, len(rounds(5, 50))) < 2


async def told_of_death(alice: Client, speaker: Speaker, count: int) -> float:
    """A model dies while it speaks to so many; seconds until all of them were told."""
    readers = [await Reader(alice, {"prompt": "Who?"}).open() for _ in range(count)]
    lines = [await speaker.line() for _ in readers]
    for line in lines:
        line.say("half ", "an ans")
    for reader in readers:
        await reader.heard("half an ans")
    died = time.monotonic()
    for line in lines:
        line.die()
    ends = [await reader.ended() for reader in readers]
    took = time.monotonic() - died

    for last in ends:
        assert (last.name, last.data["code"], last.data["text"]) == ("error", "models.unavailable", "half an ans")
        assert last.data["usage"]["completion_tokens"] >= 2
    spent = await used(alice)
    assert spent["ai.tokens.total"] == sum(last.data["usage"]["total_tokens"] for last in ends)
    assert (spent["ai.requests"], await reserved(alice)) == (len(ends), 0)
    return took


async def test_a_model_that_falls_silent_is_hung_up_on_at_its_timeout(
    alice: Client, speaker: Speaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = outbound.Client.send

    async def impatient(self: outbound.Client, *arguments: object, **more: object) -> object:
        return await send(self, *arguments, **{**more, "silence": 2.0})  # type: ignore[arg-type]

    monkeypatch.setattr(outbound.Client, "send", impatient)
    reader = await Reader(alice, {"prompt": "Who?"}).open()
    line = await speaker.line()
    line.say("and then")
    await reader.heard("and then")
    last = await reader.ended()
    await asyncio.wait_for(line.hung_up.wait(), PATIENCE)

    assert (last.name, last.data["code"], last.data["text"]) == ("error", "models.unavailable", "and then")
    assert (await used(alice))["ai.tokens.total"] == last.data["usage"]["total_tokens"] > 0
    assert await reserved(alice) == 0

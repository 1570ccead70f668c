"""Stopping under load: whoever is being served is served to the end, and nothing acknowledged is lost."""

import asyncio
import json
import signal
import time

import httpx
import pytest

from tests.postgres import fresh_database, run_as_owner
from tests.processes.start.ticking import TICKING
from tests.support.load import Promises, broken_promises, until_promised, write_from_all_sides
from tests.support.patience import PATIENCE
from tests.support.processes import Process, bootstrap, holding, rounds, serving, until_queued

NOBODY_WRITES = "LOCK TABLE notes IN SHARE MODE"
# Seconds that a drain may take, more than any test waits: what ends sooner did not wait for it.
LONG = round(5 * PATIENCE)


async def until_refused(server: Process) -> None:
    """Wait until no new connection is taken."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            except ConnectionRefusedError:
                return
            writer.close()
            await asyncio.sleep(0.01)


async def test_requests_in_flight_get_their_reply_and_the_process_ends_well() -> None:
    async with fresh_database() as url, serving(url) as (server,):
        async with server.client(await bootstrap(server)) as client:
            async with holding(url, NOBODY_WRITES):
                posts = [asyncio.create_task(client.post("/api/notes", json={"title": str(n)})) for n in range(8)]
                await until_queued(url, len(posts))
                server.popen.send_signal(signal.SIGTERM)
                await until_refused(server)
                # Longer than the server looks around before it would cut anybody off.
                done, _ = await asyncio.wait(posts, timeout=0.5)
            answers = await asyncio.gather(*posts)
        code = await server.until_ended()

        assert not done
        assert [answer.status_code for answer in answers] == [201] * len(posts)
        assert code == 0
        kept = {row["id"] for row in await run_as_owner(url, "SELECT id::text AS id FROM notes")}
        assert kept == {answer.json()["id"] for answer in answers}


async def lines_of(client: httpx.AsyncClient, begun: asyncio.Event) -> list[str]:
    """Everything a stream says; a reply that is cut off instead of ended raises."""
    lines = []
    async with client.stream("GET", "/api/ticks") as stream:
        async for line in stream.aiter_lines():
            lines.append(line)
            begun.set()
    return lines


async def test_open_streams_are_ended_whole_and_their_sources_closed() -> None:
    async with fresh_database() as url, serving(url, module=TICKING, drain_seconds=LONG) as (server,):
        async with server.client(await bootstrap(server)) as client:
            begun = [asyncio.Event() for _ in range(3)]
            streams = [asyncio.create_task(lines_of(client, event)) for event in begun]
            await asyncio.gather(*(event.wait() for event in begun))

            code = await server.stop()
            said = await asyncio.gather(*streams)

        assert code == 0
        assert all(lines[0] == "id: 1" and lines[-1] == "" for lines in said)
        assert server.output.count("the source of ticks was closed") == len(streams)


async def replies_on(reader: asyncio.StreamReader, count: int) -> list[tuple[int, dict[str, object]]]:
    """The next replies on a connection, as status and body."""
    found = []
    for _ in range(count):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        found.append((int(head.split()[1]), json.loads(await reader.readexactly(length))))
    return found


async def test_a_draining_server_is_alive_but_not_ready() -> None:
    async with fresh_database() as url, serving(url) as (server,):
        token, body = await bootstrap(server), b'{"title": "last"}'
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        async with holding(url, NOBODY_WRITES):
            # Behind a write in flight on the same connection: their turn comes while the server drains.
            head = (
                f"POST /api/notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {len(body)}"
            )
            probes = b"GET /ready HTTP/1.1\r\nhost: x\r\n\r\nGET /health HTTP/1.1\r\nhost: x\r\n\r\n"
            writer.write(head.encode() + b"\r\n\r\n" + body + probes)
            await until_queued(url, 1)
            server.popen.send_signal(signal.SIGTERM)
            await until_refused(server)
        (note, _), (ready, why), (health, alive) = await asyncio.wait_for(replies_on(reader, 3), PATIENCE)
        rest = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        code = await server.until_ended()

    assert (note, ready, health) == (201, 503, 200)
    assert why["code"] == "instance.not_ready"
    assert alive == {"ok": True, "multitenant": True}
    assert (rest, code) == (b"", 0)


@pytest.mark.timeout(1800)
async def test_no_acknowledged_write_is_lost_to_a_stop_under_load() -> None:
    for _ in rounds(2, 40):
        promises = Promises()
        async with fresh_database() as url, serving(url) as (server,):
            writers = write_from_all_sides(server, await bootstrap(server), "note", promises)
            await until_promised(promises, 100)

            code = await server.stop()
            await asyncio.gather(*writers)

            assert code == 0
            assert set(promises.statuses) == {201}
            assert await broken_promises(url, promises) == []


async def test_what_outlasts_the_drain_is_cut_off_unacknowledged_and_undone() -> None:
    async with fresh_database() as url, serving(url, drain_seconds=1) as (server,):
        async with server.client(await bootstrap(server)) as client, holding(url, NOBODY_WRITES):
            post = asyncio.create_task(client.post("/api/notes", json={"title": "too late"}))
            await until_queued(url, 1)
            began = time.monotonic()
            code = await server.stop()
            took = time.monotonic() - began
            outcome = (await asyncio.gather(post, return_exceptions=True))[0]

        assert code == 0
        assert took >= 1
        assert isinstance(outcome, httpx.TransportError) or outcome.status_code >= 500  # type: ignore[union-attr]
        assert (await run_as_owner(url, "SELECT count(*) FROM notes"))[0][0] == 0


async def test_a_second_interrupt_does_not_wait_for_anybody() -> None:
    async with fresh_database() as url, serving(url, drain_seconds=LONG) as (server,):
        async with server.client(await bootstrap(server)) as client, holding(url, NOBODY_WRITES):
            post = asyncio.create_task(client.post("/api/notes", json={"title": "never mind"}))
            await until_queued(url, 1)
            server.popen.send_signal(signal.SIGINT)
            await until_refused(server)
            server.popen.send_signal(signal.SIGINT)
            code = await server.until_ended()
            await asyncio.gather(post, return_exceptions=True)

        assert code == 0
        assert (await run_as_owner(url, "SELECT count(*) FROM notes"))[0][0] == 0

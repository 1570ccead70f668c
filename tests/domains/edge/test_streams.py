"""Event streams over HTTP: framed, kept awake, and their source closed however they end."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.edge import stream
from atrium.routes import ROUTES
from atrium.seams.routes import SseEvent
from atrium.seams.wiring import Domain
from tests.domains.edge import odd_routes
from tests.domains.edge.odd_routes import SOURCES, Source
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application, requests_counted, settings_for

DELTA = SseEvent("delta", {"text": "Grüße\n🌍"})
FRAME = 'event: delta\ndata: {"text":"Grüße\\n🌍"}\n\n'.encode()


@pytest.fixture(scope="module")
async def streaming_house(database_url: str) -> AsyncIterator[Application]:
    domains = (*DOMAINS, Domain("odd", odd_routes))
    async with open_application(settings_for(database_url), (*ROUTES, *odd_routes.ROUTES), domains) as house:
        yield house


@pytest.fixture(scope="module")
async def token(streaming_house: Application) -> str:
    return str((await (await found_company(streaming_house)).join()).token)


@dataclass(slots=True)
class Watching:
    """One open stream, as a server would hold it."""

    house: Application
    token: str
    method: str = "POST"
    source: Source = field(default_factory=Source)
    received: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    sent: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    broken: Exception | None = None
    task: "asyncio.Task[None] | None" = None

    def open(self) -> "Watching":
        name = secrets.token_hex(8)
        SOURCES[name] = self.source
        scope = {
            "type": "http", "method": self.method, "path": f"/api/test/streams/{name}", "scheme": "http", "query_string": b"",
            "client": ("198.51.100.7", 50_000), "headers": [(b"authorization", f"Bearer {self.token}".encode())],
        }  # fmt: skip
        self.received.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        self.task = asyncio.ensure_future(self.house.app(scope, self.received.get, self._send))
        return self

    async def _send(self, message: dict[str, Any]) -> None:
        if self.broken is not None:
            broken, self.broken = self.broken, None
            raise broken
        self.sent.put_nowait(message)

    async def next(self) -> dict[str, Any]:
        return await asyncio.wait_for(self.sent.get(), PATIENCE)

    def leave(self) -> None:
        self.received.put_nowait({"type": "http.disconnect"})

    async def done(self) -> None:
        assert self.task is not None
        await asyncio.wait_for(self.task, PATIENCE)


async def begun(watching: Watching) -> Watching:
    """Open, with one event already through."""
    watching.open().source.coming.put_nowait(DELTA)
    assert (await watching.next())["status"] == 200
    assert FRAME in (await watching.next())["body"]
    return watching


async def test_a_stream_says_it_is_one_and_is_not_buffered(streaming_house: Application, token: str) -> None:
    watching = Watching(streaming_house, token).open()
    watching.source.coming.put_nowait(None)

    headers = dict((await watching.next())["headers"])
    await watching.done()

    assert headers[b"content-type"] == b"text/event-stream"
    assert (headers[b"x-accel-buffering"], headers[b"cache-control"]) == (b"no", b"no-store")
    assert b"content-length" not in headers
    assert b"x-request-id" in headers


async def test_events_are_framed_and_numbered_as_they_come(streaming_house: Application, token: str) -> None:
    watching = Watching(streaming_house, token).open()
    await watching.next()

    for number in (1, 2, 3):
        watching.source.coming.put_nowait(DELTA)
        message = await watching.next()

        assert message["body"] == b"id: %d\n" % number + FRAME
        assert message["more_body"] is True
    watching.source.coming.put_nowait(None)
    await watching.done()


async def test_a_source_that_ends_ends_the_answer(streaming_house: Application, token: str) -> None:
    watching = await begun(Watching(streaming_house, token))

    watching.source.coming.put_nowait(None)
    last = await watching.next()
    await watching.done()

    assert (last["body"], last.get("more_body", False)) == (b"", False)
    assert watching.source.closed.is_set()


@pytest.mark.parametrize("error", [RuntimeError("broke"), TimeoutError("the model is slow"), ConnectionError("gone")])
async def test_a_source_that_fails_is_closed_and_is_not_taken_for_a_finished_one(
    streaming_house: Application, token: str, error: Exception
) -> None:
    watching = await begun(Watching(streaming_house, token))

    watching.source.coming.put_nowait(error)
    with pytest.raises(type(error), match=str(error)):
        await watching.done()

    # No last message: the server cuts the connection, and the client knows that something is missing.
    assert watching.source.closed.is_set()
    assert watching.sent.empty()


async def test_a_stream_that_fails_is_counted_like_any_other(streaming_house: Application, token: str) -> None:
    watching = await begun(Watching(streaming_house, token))
    before = requests_counted(streaming_house, "POST", "/api/test/streams/:name", 200)

    watching.source.coming.put_nowait(RuntimeError("broke"))
    with pytest.raises(RuntimeError):
        await watching.done()

    assert requests_counted(streaming_house, "POST", "/api/test/streams/:name", 200) == before + 1


async def test_a_client_that_leaves_closes_a_waiting_source(streaming_house: Application, token: str) -> None:
    watching = await begun(Watching(streaming_house, token))

    watching.leave()
    await watching.done()

    assert watching.source.closed.is_set()


async def test_a_client_that_left_before_the_first_event_closes_the_source(
    streaming_house: Application, token: str
) -> None:
    watching = Watching(streaming_house, token).open()
    await watching.next()

    watching.leave()
    await watching.done()
    # A source that was never begun has nothing to close; it must only not go on.
    watching.source.coming.put_nowait(DELTA)
    await asyncio.sleep(0)

    assert watching.source.coming.qsize() == 1


async def test_a_connection_that_breaks_while_sending_closes_the_source(
    streaming_house: Application, token: str
) -> None:
    watching = await begun(Watching(streaming_house, token))

    watching.broken = ConnectionResetError("gone")
    watching.source.coming.put_nowait(DELTA)
    await watching.done()

    assert watching.source.closed.is_set()


async def test_a_cancelled_request_closes_the_source(streaming_house: Application, token: str) -> None:
    watching = await begun(Watching(streaming_house, token))
    assert watching.task is not None

    watching.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching.done()

    assert watching.source.closed.is_set()


async def test_a_quiet_stream_is_kept_awake(
    streaming_house: Application, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "PING_SECONDS", 0.02)
    watching = Watching(streaming_house, token).open()
    await watching.next()

    pings = [(await watching.next())["body"] for _ in range(3)]
    watching.source.coming.put_nowait(DELTA)
    while (message := await watching.next())["body"] == b": ping\n\n":
        pass
    watching.leave()
    await watching.done()

    assert pings == [b": ping\n\n"] * 3
    # A ping is no event: it takes no number, and loses none.
    assert message["body"] == b"id: 1\n" + FRAME


async def test_reading_the_head_of_a_stream_sends_no_event(streaming_house: Application, token: str) -> None:
    watching = Watching(streaming_house, token, method="HEAD").open()
    watching.source.coming.put_nowait(DELTA)

    start, last = await watching.next(), await watching.next()
    await watching.done()

    assert (start["status"], last["body"], last.get("more_body", False)) == (200, b"", False)


async def test_a_stopping_process_ends_its_streams_and_closes_their_sources(database_url: str) -> None:
    domains = (*DOMAINS, Domain("odd", odd_routes))
    async with open_application(settings_for(database_url), (*ROUTES, *odd_routes.ROUTES), domains) as house:
        token = str((await (await found_company(house)).join()).token)
        watching = await begun(Watching(house, token))

        house.app.streams.stop()
        await watching.done()
        late = Watching(house, token).open()
        late.source.coming.put_nowait(DELTA)
        await late.done()

        assert watching.source.closed.is_set()
        assert [message["type"] for message in (await late.next(), await late.next())] == [
            "http.response.start",
            "http.response.body",
        ]
        assert late.sent.empty()


async def test_streams_hold_no_connection_while_they_wait(streaming_house: Application, token: str) -> None:
    pool = streaming_house.services.settings.database_pool
    watching = [await begun(Watching(streaming_house, token)) for _ in range(pool + 5)]

    answer = await asyncio.wait_for(Client(streaming_house.app, token).get("/api/whoami"), PATIENCE)
    for one in watching:
        one.leave()
        await one.done()

    assert answer.status == 200

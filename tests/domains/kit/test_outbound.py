"""Calling out: nothing inside is reached, also when a name changes its mind between the check and the connection."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.web import outbound as module
from atrium.kit.web.addresses import NotPublic
from atrium.kit.web.outbound import Answer, CallFailed, NotConnected, Outbound
from tests.support.certificates import self_signed
from tests.support.patience import PATIENCE
from tests.support.scripted import Answer as Scripted
from tests.support.scripted import scripted

Names = dict[str, list[list[str]]]
Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """What names resolve to, lookup by lookup; the last answer stays."""
    known: Names = {}

    def look_up(host: str, port: int, *rest: Any, **more: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror("nobody knows")
        addresses = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    opened = Outbound(frozenset({"trusted.example"}))
    yield opened
    opened.close()


@pytest.fixture
async def dialled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, str | None]]:
    """Where a connection would have gone: address, port, and the name that the certificate must have."""
    called: list[tuple[str, int, str | None]] = []

    async def dial(loop: Any, factory: Any, host: str, port: int, **more: Any) -> Any:
        called.append((host, port, more["server_hostname"]))
        raise OSError("not today")

    monkeypatch.setattr(type(asyncio.get_running_loop()), "create_connection", dial)
    return called


@asynccontextmanager
async def speaking(script: Script, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that reads the head of a request and then does as the script says."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await script(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def says(*pieces: bytes) -> Script:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)

    return script


async def whole(answer: Answer) -> bytes:
    pieces = []
    while piece := await answer.read():
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["100.64.0.1"], ["0.0.0.0"], ["::1"], ["fe80::1%eth0"], ["::ffff:10.0.0.1"],
     ["fd00::1"], ["8.8.8.8", "192.168.0.1"]],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_not_called(outbound: Outbound, names: Names, addresses: list[str]) -> None:
    names["model.example"] = [addresses]

    with pytest.raises(NotPublic):
        await outbound.public.send("GET", "http://model.example/v1", {})


async def test_an_address_inside_is_not_called(outbound: Outbound) -> None:
    async with scripted(Scripted(b"secret")) as server:
        with pytest.raises(NotPublic):
            await outbound.public.send("POST", server.url, {}, b"{}")

    assert server.asked == []


async def test_each_request_looks_again(
    outbound: Outbound, names: Names, dialled: list[tuple[str, int, str | None]]
) -> None:
    names["model.example"] = [["8.8.8.8"], ["127.0.0.1"]]

    with pytest.raises(NotConnected):
        await outbound.public.send("GET", "https://model.example/v1", {})
    with pytest.raises(NotPublic):
        await outbound.public.send("GET", "https://model.example/v1", {})

    assert dialled == [("8.8.8.8", 443, "model.example")]


async def test_it_connects_to_what_was_looked_up_under_the_name_that_was_asked_for(
    outbound: Outbound, names: Names, dialled: list[tuple[str, int, str | None]]
) -> None:
    names["model.example"] = [["8.8.4.4", "1.1.1.1"]]

    with pytest.raises(NotConnected):
        await outbound.public.send("GET", "https://model.example:8443/v1?x=1", {})

    assert dialled == [("8.8.4.4", 8443, "model.example"), ("1.1.1.1", 8443, "model.example")]


async def test_a_name_that_nobody_knows_is_a_connection_that_failed(outbound: Outbound, names: Names) -> None:
    with pytest.raises(NotConnected):
        await outbound.public.send("GET", "https://nowhere.example/", {})


async def test_a_host_that_the_operator_names_may_be_inside() -> None:
    trusting = Outbound(frozenset({"127.0.0.1"}))
    async with scripted(Scripted(b"{}", type="application/json")) as server:
        answer = await trusting.public.send("POST", server.url, {}, b"{}")

        assert (answer.status, await whole(answer)) == (200, b"{}")
    trusting.close()


@pytest.mark.parametrize(
    "url", ["", "model.example", "ftp://model.example/", "http:///v1", "http://a:b:c/", "file:///etc/passwd"]
)
async def test_what_is_no_http_url_is_refused(outbound: Outbound, url: str) -> None:
    with pytest.raises(NotPublic):
        await outbound.anywhere.send("GET", url, {})


async def test_nothing_that_is_sent_begins_another_line(outbound: Outbound) -> None:
    async with scripted(Scripted(b"{}")) as server:
        with pytest.raises(CallFailed, match="authorization"):
            await outbound.anywhere.send("GET", server.url, {"authorization": "Bearer a\r\nx-evil: 1"})
        await outbound.anywhere.send("POST", server.url + "/a b\r\nx-evil: 1?q=ä", {}, b"{}")

    [(headers, _)] = server.asked
    assert "x-evil" not in headers


async def test_redirects_are_not_followed(outbound: Outbound) -> None:
    async with speaking(
        says(b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n")
    ) as url:
        answer = await outbound.anywhere.send("GET", url, {})

    assert (answer.status, await whole(answer)) == (302, b"")


@pytest.mark.parametrize(
    "said",
    [
        (OK + b"content-length: 6\r\n\r\n", b"abc", b"def"),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n", b"3\r\ndef\r\n0\r\n\r\n"),
        (OK + b"\r\nabc", b"def"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", OK + b"content-length: 6\r\n\r\nabcdef"),
        (OK + b"content-length: 6\r\n\r\nabcdef", OK + b"content-length: 3\r\n\r\nxyz"),
    ],
    ids=["length", "chunks", "until the end", "said in passing", "more than was asked"],
)
async def test_a_body_is_read_as_it_comes_and_to_its_end(outbound: Outbound, said: tuple[bytes, ...]) -> None:
    async with speaking(says(*said)) as url:
        answer = await outbound.anywhere.send("GET", url, {})

        assert (answer.status, await whole(answer)) == (200, b"abcdef")
        assert answer.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize(
    "said",
    [
        (OK + b"content-length: 6\r\n\r\nabc",),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nnot a length\r\n",),
    ],
    ids=["length", "chunks", "nonsense"],
)
async def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(outbound: Outbound, said: tuple[bytes, ...]) -> None:
    async with speaking(says(*said)) as url:
        answer = await outbound.anywhere.send("GET", url, {})

        assert await answer.read() == b"abc"
        with pytest.raises(CallFailed):
            await whole(answer)


@pytest.mark.parametrize(
    "said",
    [b"SSH-2.0-OpenSSH_9\r\n", b"", b"HTTP/1.1 200 OK\r\n" + b"x-long: " + b"a" * 100_000],
    ids=["another protocol", "nothing", "an endless head"],
)
async def test_an_answer_without_a_head_is_none(outbound: Outbound, said: bytes) -> None:
    async with asyncio.timeout(PATIENCE), speaking(says(said)) as url:
        with pytest.raises(CallFailed):
            await outbound.anywhere.send("GET", url, {})


async def test_silence_is_not_waited_out(outbound: Outbound) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n")
        await reader.read()

    async with asyncio.timeout(PATIENCE), speaking(script) as url:
        answer = await outbound.anywhere.send("GET", url, {}, silence=0.2)

        assert await answer.read() == b"abc"
        with pytest.raises(CallFailed, match="nothing came"):
            await answer.read()


async def test_a_reader_who_is_slow_holds_the_other_side_up(outbound: Outbound) -> None:
    sent = 0

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(OK + b"content-length: 33554432\r\n\r\n")
        while sent < 32 << 20:
            writer.write(bytes(1 << 20))
            await writer.drain()
            sent += 1 << 20

    async with asyncio.timeout(PATIENCE), speaking(script) as url:
        answer = await outbound.anywhere.send("GET", url, {}, silence=1.5)
        await asyncio.sleep(2)
        held_at = sent

        assert len(await whole(answer)) == 32 << 20
    assert held_at < 24 << 20


async def test_closing_hangs_up(outbound: Outbound) -> None:
    ended = asyncio.Event()

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n")
        await reader.read()
        ended.set()

    async with asyncio.timeout(PATIENCE), speaking(script) as url:
        for close in ("one", "all"):
            ended.clear()
            answer = await outbound.anywhere.send("GET", url, {})
            await answer.read()
            (answer if close == "one" else outbound).close()
            await ended.wait()
            with pytest.raises(CallFailed):
                await answer.read()


async def test_a_thousand_answers_last_beside_each_other(outbound: Outbound) -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"transfer-encoding: chunked\r\n\r\n")
        await asyncio.sleep(1)
        writer.write(b"3\r\nabc\r\n0\r\n\r\n")
        await writer.drain()

    async with asyncio.timeout(PATIENCE), speaking(script) as url:
        answers = [await outbound.anywhere.send("GET", url, {}) for _ in range(1000)]

        assert set(await asyncio.gather(*map(whole, answers))) == {b"abc"}


async def test_a_name_that_cannot_be_looked_up_is_a_connection_that_failed(outbound: Outbound) -> None:
    with pytest.raises(NotConnected):
        await outbound.anywhere.send("GET", f"http://{'a' * 64}.example/", {})


async def test_a_certificate_must_be_signed_by_an_authority_and_for_the_name_that_was_asked_for(
    outbound: Outbound, names: Names, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = self_signed(tmp_path, "model.example")
    inside = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    inside.load_cert_chain(files["tls_certificate"], files["tls_key"])
    names.update({name: [["127.0.0.1"]] for name in ("127.0.0.1", "model.example", "other.example")})
    async with speaking(says(OK + b"content-length: 3\r\n\r\nabc"), inside) as url:
        port = url.removesuffix("/v1").rpartition(":")[2]
        with pytest.raises(NotConnected):
            await outbound.anywhere.send("GET", f"https://model.example:{port}/v1", {})

        trusting = ssl.create_default_context(cafile=str(files["tls_certificate"]))
        monkeypatch.setattr(module, "_trust", lambda: trusting)
        with pytest.raises(NotConnected):
            await outbound.anywhere.send("GET", f"https://other.example:{port}/v1", {})
        answer = await outbound.anywhere.send("GET", f"https://model.example:{port}/v1", {})

        assert (answer.status, await whole(answer)) == (200, b"abc")


def test_the_machines_own_authorities_count_and_mozillas() -> None:
    assert module._trust().cert_store_stats()["x509_ca"] > 100

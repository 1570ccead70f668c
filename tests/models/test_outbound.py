"""Calling out: nothing inside is reached, also when a name changes its mind between the check and the connection."""

import socket
from typing import Any

import httpx
import pytest

from atrium.kit.addresses import NotPublic
from atrium.kit.outbound import Outbound, PublicTransport
from tests.models.scripted import Answer, scripted

Names = dict[str, list[list[str]]]


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


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["100.64.0.1"], ["0.0.0.0"], ["::1"], ["fe80::1%eth0"], ["::ffff:10.0.0.1"],
     ["fd00::1"], ["8.8.8.8", "192.168.0.1"]],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_not_called(names: Names, addresses: list[str]) -> None:
    names["model.example"] = [addresses]
    outbound = Outbound()

    with pytest.raises(NotPublic):
        await outbound.public.get("http://model.example/v1")

    await outbound.close()


async def test_an_address_inside_is_not_called() -> None:
    async with scripted(Answer(b"secret")) as server:
        outbound = Outbound()
        with pytest.raises(NotPublic):
            await outbound.public.post(server.url, json={})
        await outbound.close()

    assert server.asked == []


async def test_each_request_looks_again(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    called = _recorded(monkeypatch)
    names["model.example"] = [["8.8.8.8"], ["127.0.0.1"]]
    outbound = Outbound()

    first = await outbound.public.get("https://model.example/v1")
    with pytest.raises(NotPublic):
        await outbound.public.get("https://model.example/v1")

    assert first.status_code == 200
    assert [str(request.url) for request in called] == ["https://8.8.8.8/v1"]
    await outbound.close()


async def test_it_connects_to_what_was_looked_up_under_the_name_that_was_asked_for(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = _recorded(monkeypatch)
    names["model.example"] = [["8.8.4.4"]]
    outbound = Outbound()

    await outbound.public.get("https://model.example/v1?x=1")

    [request] = called
    assert (str(request.url), request.headers["host"]) == ("https://8.8.4.4/v1?x=1", "model.example")
    assert request.extensions["sni_hostname"] == "model.example"
    await outbound.close()


async def test_a_name_that_nobody_knows_is_a_connection_that_failed(names: Names) -> None:
    outbound = Outbound()

    with pytest.raises(httpx.ConnectError):
        await outbound.public.get("https://nowhere.example/")

    await outbound.close()


async def test_a_host_that_the_operator_names_may_be_inside() -> None:
    transport = PublicTransport(frozenset({"127.0.0.1"}))
    async with (
        scripted(Answer(b"{}", type="application/json")) as server,
        httpx.AsyncClient(transport=transport, trust_env=False) as client,
    ):
        reply = await client.post(server.url, json={})

    assert reply.status_code == 200


def _recorded(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
    """What would have left this machine."""
    called: list[httpx.Request] = []

    async def record(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        called.append(request)
        return httpx.Response(200)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", record)
    return called

"""A server that speaks HTTPS itself."""

import asyncio
import socket
import ssl
from pathlib import Path

import httpx
import pytest

from tests.postgres import fresh_database
from tests.support.certificates import self_signed
from tests.support.patience import PATIENCE
from tests.support.processes import bootstrap, serving


async def test_with_a_certificate_it_speaks_https_and_nothing_else(tmp_path: Path) -> None:
    async with fresh_database() as url, serving(url, **self_signed(tmp_path)) as (server,):
        async with server.client(await bootstrap(server)) as client:
            answer = await client.get("/api/whoami")
        async with httpx.AsyncClient(trust_env=False) as plain:
            with pytest.raises(httpx.TransportError):
                await plain.get(f"http://127.0.0.1:{server.port}/health")

    assert answer.json()["user"]["username"] == "ada"
    assert "strict-transport-security" in answer.headers


async def test_a_refused_head_is_answered_and_closed_in_tlss_own_words(tmp_path: Path) -> None:
    async with fresh_database() as url, serving(url, **self_signed(tmp_path)) as (server,):
        said = await asyncio.to_thread(_said_to, server.port, b"GET / HTTP/1.1\r\nx: " + b"v" * 70_000)

    assert said.startswith(b"HTTP/1.1 431 ")
    assert said.endswith(b"}")


def _said_to(port: int, sent: bytes) -> bytes:
    """Everything up to the end of the connection; an end that TLS was not told of is an error."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain,
        trusting.wrap_socket(plain, suppress_ragged_eofs=False) as wrapped,
    ):
        wrapped.sendall(sent)
        return b"".join(iter(lambda: wrapped.recv(65536), b""))

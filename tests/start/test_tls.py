"""A server that speaks HTTPS itself."""

from pathlib import Path

import httpx
import pytest

from tests.certificates import self_signed
from tests.postgres import fresh_database
from tests.processes import bootstrap, serving


async def test_with_a_certificate_it_speaks_https_and_nothing_else(tmp_path: Path) -> None:
    async with fresh_database() as url, serving(url, **self_signed(tmp_path)) as (server,):
        async with server.client(await bootstrap(server)) as client:
            answer = await client.get("/api/whoami")
        async with httpx.AsyncClient(trust_env=False) as plain:
            with pytest.raises(httpx.TransportError):
                await plain.get(f"http://127.0.0.1:{server.port}/health")

    assert answer.json()["user"]["username"] == "ada"
    assert "strict-transport-security" in answer.headers

"""The console's cookie on a real server: as strict as the proxy in front allows, and in no log."""

from typing import Any

import httpx

from tests.postgres import fresh_database
from tests.support.processes import FIRST_RUN, Process, bootstrap, serving

BROWSER = {"atrium-session": "cookie"}
PROXIED = {"x-forwarded-proto": "https", "host": "atrium.example"}


async def signed_in(server: Process, **headers: str) -> httpx.Response:
    async with server.client() as client:
        answer = await client.post(
            "/api/login", json={name: FIRST_RUN[name] for name in ("username", "password")}, headers=BROWSER | headers
        )
    assert answer.status_code == 200, answer.text
    return answer


async def whoami(server: Process, cookie: str, **headers: str) -> int:
    async with server.client() as client:
        sent: dict[str, Any] = {"cookie": cookie, "sec-fetch-site": "same-origin", **headers}
        return (await client.get("/api/whoami", headers=sent)).status_code


async def test_a_proxy_that_is_trusted_says_whether_it_was_reached_by_https() -> None:
    async with fresh_database() as url, serving(url, trusted_proxies="127.0.0.1") as [server]:
        await bootstrap(server)

        secure, plain = await signed_in(server, **PROXIED), await signed_in(server, host="atrium.example")

        assert secure.headers["set-cookie"].startswith("__Host-atrium_session=atc_")
        assert secure.headers["set-cookie"].endswith("; Secure")
        assert plain.headers["set-cookie"].startswith("atrium_session=atc_")
        kept = secure.headers["set-cookie"].partition(";")[0]
        assert await whoami(server, kept, **PROXIED) == 200
        tossed = plain.headers["set-cookie"].partition(";")[0]
        assert await whoami(server, tossed, **PROXIED) == 401


async def test_anybody_elses_word_about_https_counts_for_nothing() -> None:
    async with fresh_database() as url, serving(url) as [server]:
        await bootstrap(server)

        answer = await signed_in(server, **PROXIED)

        assert answer.headers["set-cookie"].startswith("atrium_session=atc_")


async def test_no_log_has_a_credential() -> None:
    async with fresh_database() as url, serving(url, access_log=1, log_level="debug") as [server]:
        token = await bootstrap(server)
        cookie = (await signed_in(server)).headers["set-cookie"].partition(";")[0]
        raw = cookie.partition("=")[2]
        await whoami(server, cookie)
        await whoami(server, f"{cookie}; {cookie}")
        async with server.client() as client:
            await client.get("/api/whoami", headers={"authorization": f"Bearer {token}"})
            await client.get(f"/api/whoami?token={token}", headers={"authorization": f"Bearer {token}"})
        await server.until_prints('"path":"/api/whoami"')
        await server.stop()

        assert token not in server.output
        assert raw not in server.output

"""A real server on a fresh real database, for as long as standard input stays open. Prints its address once it answers."""

import asyncio
import os
import socket
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from atrium.kit.crypto.tokens import digest_of, new_token  # noqa: E402
from tests.postgres import fresh_database, run_as_owner  # noqa: E402


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def answers(address: str) -> bool:
    def ask() -> bool:
        try:
            with urllib.request.urlopen(f"{address}/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    return await asyncio.to_thread(ask)


class Server:
    """`atrium serve` at one address, on one database; may be started again with other settings."""

    def __init__(self, url: str) -> None:
        self.url, self.port = url, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.settings = {
            "SERVICE_DATABASE_URL": url,
            "SERVICE_SECRET_KEY": "a key for browser tests that is long enough",
            "SERVICE_ACCESS_LOG": "0",
            "SERVICE_RATE_PUBLIC_WRITES": "100000",
            "SERVICE_LOGIN_FAILURES": "100000",
            "SERVICE_DOMAIN_PROOF": "1",
            # On a busy machine a search is slow, and not cut short.
            "SERVICE_SEARCH_MILLISECONDS": os.environ.get("SERVICE_SEARCH_MILLISECONDS", "60000"),
            "SERVICE_DNS_SERVERS": "127.0.0.1",
        }

    async def start(self) -> None:
        command = [str(Path(sys.executable).parent / "atrium"), "serve", "--port", str(self.port)]
        environment = {**os.environ, **self.settings}
        self.process = await asyncio.create_subprocess_exec(*command, env=environment, cwd=ROOT, stdout=sys.stderr)
        while not await answers(self.address):
            if self.process.returncode is not None:
                raise SystemExit("the server did not start")
            await asyncio.sleep(0.05)

    async def stop(self) -> None:
        if self.process.returncode is None:
            self.process.terminate()
        await self.process.wait()


async def main() -> None:
    async with fresh_database() as url:
        server = Server(url)
        try:
            await server.start()
            print(server.address, flush=True)
            await commands(server)
        finally:
            await server.stop()


COMMANDS = {
    "suspend": ["UPDATE orgs SET suspended_at = now()"],
    "resume": ["UPDATE orgs SET suspended_at = NULL"],
    "age": [
        """UPDATE notes n SET updated_at = now() - a.n * a.n * interval '47 minutes', created_at = now() - interval '40 days'
             FROM (SELECT id, row_number() OVER (ORDER BY updated_at DESC) AS n FROM notes) a WHERE a.id = n.id""",
        """UPDATE users u SET created_at = now() - (9 - a.n) * interval '37 days'
             FROM (SELECT id, row_number() OVER (ORDER BY created_at) AS n FROM users) a WHERE a.id = u.id""",
        "UPDATE tokens SET created_at = now() - interval '12 days' WHERE kind = 'token'",
        """UPDATE jobs j SET created_at = j.created_at - a.n * interval '8 minutes',
                  run_at = CASE j.state WHEN 'scheduled' THEN j.run_at ELSE j.run_at - a.n * interval '8 minutes' END,
                  started_at = j.started_at - a.n * interval '7 minutes', finished_at = j.finished_at - a.n * interval '6 minutes'
             FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM jobs) a WHERE a.id = j.id""",
    ],
}
BROWSER = """
INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest, idle_limit, expires_at)
SELECT gen_random_uuid(), org_id, team_id, user_id, 'session', $2, interval '12 hours', now() + interval '30 days'
  FROM tokens WHERE digest = $1
"""


async def commands(server: Server) -> None:
    """What no route does: suspending every company, time that has passed, a cookie for who holds a token, other settings, a crash."""
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        word, _, rest = line.partition(" ")
        for statement in COMMANDS.get(word, []):
            await run_as_owner(server.url, statement)
        if word == "crash":
            server.process.kill()
        if word in ("restart", "crash"):
            await server.stop()
            server.settings |= dict(pair.split("=", 1) for pair in rest.split())
            await server.start()
        print(await cookie_for(server.url, rest) if word == "cookie" else word, flush=True)


async def cookie_for(url: str, token: str) -> str:
    """A browser's session of whoever holds this token."""
    raw = new_token("cookie")
    await run_as_owner(url, BROWSER, digest_of(token.encode()), digest_of(raw.encode()))
    return raw


asyncio.run(main())

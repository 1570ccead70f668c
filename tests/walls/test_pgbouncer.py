"""Behind a transaction pooler every transaction may meet another connection: role and company must travel with each."""

import asyncio
import os
import shutil
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from atrium.boot.assemble import Application
from tests.postgres import fresh_database, server_url
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for
from tests.walls.test_pool import companies_with_notes, seen

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = pytest.mark.skipif(
    PGBOUNCER is None, reason="NO PGBOUNCER (apt-get install pgbouncer): nothing was tried behind a transaction pooler"
)
CONFIG = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def bouncer(folder: Path) -> AsyncIterator[int]:
    """PgBouncer in transaction mode in front of the test server, three connections for everybody."""
    server, port = urlsplit(server_url()), free_port()
    config = folder / "pgbouncer.ini"
    config.write_text(CONFIG.format(host=server.hostname, port=server.port or 5432, user=server.username, listen=port))
    # It refuses to run as root, and reads its configuration before it stops being root.
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(str(PGBOUNCER), *user, str(config), stdout=PIPE, stderr=PIPE)
    try:
        await _listening(process, port)
        yield port
    finally:
        process.terminate()
        await process.communicate()


async def _listening(process: Process, port: int) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while line := await process.stderr.readline():
            if f"listening on 127.0.0.1:{port}".encode() in line:
                return
    raise AssertionError("pgbouncer did not start")


@pytest.fixture(scope="module")
async def pooled_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url, bouncer(tmp_path_factory.mktemp("pgbouncer")) as port:
        pooled = urlunsplit(urlsplit(url)._replace(netloc=f"{urlsplit(url).username}@127.0.0.1:{port}"))
        async with open_application(settings_for(pooled, database_statement_cache=0)) as house:
            yield house


async def test_a_note_is_written_listed_and_shared(pooled_house: Application) -> None:
    company = await found_company(pooled_house)
    alice, bob = await company.join("member"), await company.join("member")

    note = await alice.post("/api/notes", {"title": "over the pooler"}, headers={"idempotency-key": "once"})
    share = {"user_id": bob.user_id, "permission": "notes:read"}

    assert (await bob.get("/api/notes"))["items"] == []
    assert (await alice.post(f"/api/notes/{note['id']}/share", share)).status == 200
    assert [item["id"] for item in (await bob.get("/api/notes"))["items"]] == [note["id"]]


async def test_every_transaction_runs_as_the_unprivileged_role(pooled_house: Application) -> None:
    company, database = await found_company(pooled_house), pooled_house.services.database

    async def role() -> object:
        async with database.begin(company.org.id) as db:
            return await db.value("SELECT current_user")

    assert set(await asyncio.gather(*(role() for _ in range(20)))) == {"atrium_app"}


async def test_a_connection_somebody_else_used_brings_nothing_along(pooled_house: Application) -> None:
    companies = await companies_with_notes(pooled_house)
    database = pooled_house.services.database

    found = await asyncio.gather(*(seen(database, company) for company in [*companies, None] * 25))

    assert found == [{company} if company else set() for company in [*companies, None] * 25]


async def test_many_clients_share_few_connections(pooled_house: Application) -> None:
    database = pooled_house.services.database

    async def backend() -> object:
        async with database.begin_system() as db:
            return await db.value("SELECT pg_backend_pid()")

    assert len(set(await asyncio.gather(*(backend() for _ in range(20))))) <= 3

"""The logins an operator may give: none has to be a superuser, and the serving one has to own nothing."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from tests.postgres import fresh_database, private_server, run_as_owner, server_url
from tests.support.processes import Process, bootstrap, run_atrium, server_settings, serving


@dataclass(frozen=True, slots=True)
class Cluster:
    """A PostgreSQL server, by its maintenance address, and the database a login of ours owns on it."""

    maintenance: str
    name: str

    def url(self, login: str) -> str:
        """The address as one login uses it."""
        parts = urlsplit(self.maintenance)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"{login}@{host}", path=f"/{self.name}"))

    @property
    def owner(self) -> str:
        return f"owner_of_{self.name}"

    @property
    def server(self) -> str:
        return f"server_of_{self.name}"


@asynccontextmanager
async def prepared(maintenance: str) -> AsyncIterator[Cluster]:
    """A database whose owner may create roles and nothing more, and a login that owns nothing and inherits nothing."""
    cluster = Cluster(maintenance, f"atrium_test_{secrets.token_hex(4)}")
    await run_as_owner(maintenance, f"CREATE ROLE {cluster.owner} LOGIN CREATEROLE")
    await run_as_owner(maintenance, f"CREATE ROLE {cluster.server} LOGIN NOINHERIT")
    await run_as_owner(maintenance, f"CREATE DATABASE {cluster.name} OWNER {cluster.owner}")
    try:
        yield cluster
    finally:
        await run_as_owner(maintenance, f"DROP DATABASE {cluster.name} WITH (FORCE)")
        await run_as_owner(maintenance, f"DROP ROLE {cluster.owner}, {cluster.server}")


@pytest.fixture(scope="module", params=["the tests' server", "a new server"])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    """Where the instance's roles exist already, and where the owner has to make them: PostgreSQL 16 made that differ."""
    if request.param == "the tests' server":
        async with fresh_database(), prepared(server_url()) as found:
            if (await run_as_owner(server_url(), "SELECT current_setting('server_version_num')::int"))[0][0] >= 160_000:
                # From 16 on, roles that somebody else made have to be granted by them.
                await run_as_owner(server_url(), f"GRANT atrium_app, atrium_system, atrium_search TO {found.owner}")
            yield found
        return
    with private_server() as maintenance:
        async with prepared(maintenance) as found:
            yield found


async def works(server: Process) -> bool:
    """Whether an instance can be set up and used through this server."""
    async with server.client(await bootstrap(server)) as client:
        note = (await client.post("/api/notes", json={"title": "x"})).json()["id"]
        added = await client.post("/api/members", json={"username": "grace", "role": "member"})
        status = await client.get("/api/admin/status")
        read = await client.get(f"/api/notes/{note}")
    return [added.status_code, status.status_code, read.status_code] == [201, 200, 200]


async def test_an_owner_who_may_only_create_roles_migrates_and_serves(cluster: Cluster) -> None:
    async with serving(cluster.url(cluster.owner)) as (server,):
        assert await works(server)
        assert await server.stop() == 0


async def test_fewer_connections_than_the_pool_may_open_serve_everybody(cluster: Cluster) -> None:
    await run_as_owner(cluster.maintenance, f"ALTER DATABASE {cluster.name} CONNECTION LIMIT 4")
    try:
        async with serving(cluster.url(cluster.owner), database_pool=20) as (server,), server.client() as client:
            answers = await asyncio.gather(*(client.get("/api/config") for _ in range(60)))
            assert await server.stop() == 0
    finally:
        await run_as_owner(cluster.maintenance, f"ALTER DATABASE {cluster.name} CONNECTION LIMIT -1")

    assert {answer.status_code for answer in answers} == {200}


async def test_a_login_that_owns_nothing_and_inherits_nothing_serves_what_the_owner_migrated(cluster: Cluster) -> None:
    owner, mine = cluster.url(cluster.owner), cluster.url(cluster.server)
    migrated = await run_atrium("migrate", database_owner_url=owner, database_url=mine)
    assert migrated.code == 0, migrated.output
    await run_as_owner(cluster.url(urlsplit(cluster.maintenance).username or ""), "TRUNCATE instance, orgs CASCADE")
    await run_as_owner(cluster.maintenance, f"GRANT atrium_app, atrium_system TO {cluster.server}")

    async with serving(mine, database_owner_url=owner) as (server,):
        assert await works(server)
        assert await server.stop() == 0

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await run_as_owner(mine, "SELECT FROM users")


async def test_that_login_also_serves_when_migrating_is_a_step_of_its_own(cluster: Cluster) -> None:
    await run_atrium("migrate", database_url=cluster.url(cluster.owner))
    await run_as_owner(cluster.maintenance, f"GRANT atrium_app, atrium_system TO {cluster.server}")

    async with serving(cluster.url(cluster.server), migrate=0) as (server,), server.client() as client:
        assert (await client.get("/api/config")).status_code == 200

    checked = await run_atrium("check", **server_settings(cluster.url(cluster.server)))
    assert checked.code == 0, checked.output


async def test_a_login_that_may_not_migrate_says_which_setting_helps(cluster: Cluster) -> None:
    name = f"{cluster.name}_other"
    await run_as_owner(cluster.maintenance, f"CREATE DATABASE {name}")
    try:
        url = Cluster(cluster.maintenance, name).url(cluster.server)
        ended = await run_atrium("serve", **server_settings(url))
    finally:
        await run_as_owner(cluster.maintenance, f"DROP DATABASE {name}")

    assert ended.code == 2
    assert "SERVICE_DATABASE_OWNER_URL" in ended.output
    assert "Traceback" not in ended.output

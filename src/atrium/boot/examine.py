"""What the commands look at without serving: the table, the document, the database, the audit chains."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from atrium.admin.instance import service as instance
from atrium.boot.assemble import endpoints_of, register
from atrium.boot.checks import handlers_of, problems
from atrium.boot.wiring import DOMAINS
from atrium.edge import openapi
from atrium.ground.audit import service as audit
from atrium.ground.audit.model import Head
from atrium.kit.database import APP_ROLE, Database
from atrium.kit.keys import Keyring, read_secret
from atrium.kit.migrate import pending
from atrium.kit.settings import Settings
from atrium.routes import ROUTES


def table(settings: Settings) -> list[dict[str, Any]]:
    """The route table as data, in matching order, plugins' rows included."""
    return [
        {
            "method": endpoint.route.method,
            "path": endpoint.route.path,
            "auth": endpoint.route.auth.value,
            "permission": endpoint.route.permission,
            "feature": endpoint.route.feature,
            "section": endpoint.route.section,
            "shape": endpoint.summary,
        }
        for endpoint in endpoints_of(ROUTES, DOMAINS, register(settings))
    ]


def openapi_document(settings: Settings) -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.document(endpoints_of(ROUTES, DOMAINS, register(settings)))


async def examine(settings: Settings) -> tuple[list[str], list[str]]:
    """Everything that would stop a boot, and what was looked at."""
    found = problems(ROUTES, handlers_of(DOMAINS), DOMAINS)
    registry = register(settings)
    found += [f"plugin {name}: {reason}" for name, reason in registry.failed_plugins.items()]
    notes = [f"{len(ROUTES)} rows, {len(registry.plugins)} plugins, {len(registry.tools)} tools"]
    if not settings.database_url:
        return found, [*notes, "database: SERVICE_DATABASE_URL is not set, not looked at"]
    found += [f"migration {name} is pending" for name in await pending(settings.database_url)]
    found += await _weak_roles(settings.database_url)
    return found, [*notes, "database: reachable"]


async def _weak_roles(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(
            "SELECT rolsuper OR rolbypassrls, EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) FROM pg_roles r WHERE rolname = $1",
            APP_ROLE,
        )
    finally:
        await connection.close()
    if row is None:
        return [f"the role {APP_ROLE} does not exist; run `atrium migrate`"]
    return [
        f"the role {APP_ROLE} {text}"
        for bad, text in zip(row, ("bypasses row-level security", "owns tables"), strict=True)
        if bad
    ]


async def verify_audit(settings: Settings, heads: str | None) -> int:
    """Check every chain; 1 when one does not hold."""
    trusted = _read_heads(Path(heads)) if heads else None
    broken = companies = events = 0
    async with opened(settings) as database:
        async for verdict in audit.verify(database, trusted):
            companies, events = companies + 1, events + verdict.events
            if verdict.problem:
                broken += 1
                print(f"company {verdict.org_id}: {verdict.problem}")
    print(f"{companies} chains with {events} sealed events, {broken} broken")
    return 1 if broken else 0


async def print_heads(settings: Settings) -> int:
    """Seal what is closed, then print the end of every chain, one JSON line each."""
    async with opened(settings) as database:
        await audit.seal(database)
        for head in await audit.list_heads(database):
            print(json.dumps({"org_id": str(head.org_id), "seq": head.seq, "hash": head.hash.hex()}))
    return 0


async def reseal(settings: Settings) -> int:
    """Seal every secret under the newest key; how many changed."""
    keys = Keyring(read_secret(settings.secret_key, settings.data_dir))
    async with opened(settings) as database:
        await instance.require_same_key(database, keys)
        return await instance.reseal(database, keys)


def _read_heads(path: Path) -> dict[UUID, Head]:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return {UUID(row["org_id"]): Head(UUID(row["org_id"]), row["seq"], bytes.fromhex(row["hash"])) for row in rows}


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Database]:
    """The database, for as long as a command needs it."""
    database = Database(settings.database_url, pool_size=2, statement_cache=settings.database_statement_cache)
    await database.open()
    try:
        yield database
    finally:
        await database.close()

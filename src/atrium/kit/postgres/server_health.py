"""What PostgreSQL says about itself: version, roles, walls, statistics, connections, long transactions. Reads its catalogs only."""

from dataclasses import dataclass

import asyncpg

from atrium.kit.postgres.database import APP_ROLE
from atrium.kit.postgres.pool import patiently

# As the login itself: only it sees when its sessions began their transactions.
_FACTS = """
SELECT current_setting('server_version_num')::int, current_setting('server_version'),
       extract(epoch FROM clock_timestamp())::float8, current_setting('autovacuum') = 'on',
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'),
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::float8 FROM pg_stat_activity
                  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database()), 0)
"""
_WITHOUT_WALL = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
   AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) ORDER BY 1
"""
# PostgreSQL analyzes a table once a tenth of it has changed; one that has grown and was never looked at is planned blindly.
_UNANALYZED = """
SELECT relname FROM pg_stat_user_tables
 WHERE n_live_tup > 10000 AND coalesce(last_analyze, last_autoanalyze) IS NULL
    OR n_mod_since_analyze > 100000 AND n_mod_since_analyze > n_live_tup ORDER BY 1
"""
_ROLE = """
SELECT rolsuper OR rolbypassrls, EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) FROM pg_roles r WHERE rolname = $1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth:
    """PostgreSQL at one moment. `without_wall` are tables whose row-level security is switched off or does not hold their owner."""

    number: int
    version: str
    clock: float
    autovacuum: bool
    most_connections: int
    connections: int
    oldest_transaction: float
    without_wall: list[str]
    unanalyzed: list[str]
    weaknesses: list[str]


async def look_at_server(url: str) -> ServerHealth:
    """Look once, on a connection of its own."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0, timeout=5))
    try:
        facts = (await connection.fetch(_FACTS))[0]
        without = [row[0] for row in await connection.fetch(_WITHOUT_WALL)]
        unanalyzed = [row[0] for row in await connection.fetch(_UNANALYZED)]
        role = await connection.fetchrow(_ROLE, APP_ROLE)
    finally:
        await connection.close()
    number, version, clock, autovacuum, most, connections, oldest = facts
    return ServerHealth(
        number=number,
        version=version,
        clock=clock,
        autovacuum=autovacuum,
        most_connections=most,
        connections=connections,
        oldest_transaction=oldest,
        without_wall=without,
        unanalyzed=unanalyzed,
        weaknesses=weaknesses_of(tuple(role) if role else None),
    )


def weaknesses_of(role: tuple[bool, ...] | None) -> list[str]:
    """What is wrong with the serving role; empty when row-level security holds it."""
    if role is None:
        return [f"the role {APP_ROLE} does not exist; run `atrium migrate`"]
    faults = zip(role, ("bypasses row-level security", "owns tables"), strict=True)
    return [f"the role {APP_ROLE} {fault}" for found, fault in faults if found]

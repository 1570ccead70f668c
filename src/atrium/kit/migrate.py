"""Forward-only migrations: numbered SQL files, each applied once, safe when several processes start together."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from atrium.kit.database import APP_ROLE, SYSTEM_ROLE
from atrium.kit.paths import shipped
from atrium.kit.pool import patiently
from atrium.kit.refusals import Refusal

_LOCK = 0x41747269756D
_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
# A file that cannot run inside a transaction (CREATE INDEX CONCURRENTLY) says so on its second line.
_OUTSIDE = "-- transaction: none"

_ROLES = f"""
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['{APP_ROLE}', '{SYSTEM_ROLE}'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
    -- From 16 on, the creator of a role may grant it but not SET ROLE to it; MEMBER does not tell the two apart.
    IF NOT pg_has_role(current_user, name, CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
      EXECUTE format('GRANT %I TO CURRENT_USER', name);
    END IF;
  END LOOP;
END $$
"""

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationRefused(Refusal):
    """The database and the migrations do not belong together, or this login may not migrate."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """What the ledger remembers of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def transactional(self) -> bool:
        """Whether it runs inside a transaction."""
        return _OUTSIDE not in self.text.splitlines()[:3]


def read_migrations(folder: Path | None = None) -> list[Migration]:
    """Every migration in order; a gap or a stray name is refused."""
    paths = sorted((folder or shipped("migrations")).glob("*.sql"))
    found = [Migration(int(path.name[:4]), path.stem, path.read_text()) for path in paths if _FILE.fullmatch(path.name)]
    if len(found) != len(paths) or [m.number for m in found] != list(range(1, len(found) + 1)):
        raise MigrationRefused("migrations must be named NNNN_words.sql and numbered without gaps")
    return found


def _silently(number: int, count: int, name: str) -> None:
    """Progress that is not shown."""


async def migrate(
    url: str, folder: Path | None = None, progress: Callable[[int, int, str], None] = _silently
) -> list[str]:
    """Migrate the schema to the newest version; the names of what was applied here, empty when another process did it all.

    `progress` hears of each one before it is applied: which, of how many, its name.
    """
    known = read_migrations(folder)
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        missing = _missing(await _read_ledger(connection), known)
        applied = []
        for number, migration in enumerate(missing, 1):
            progress(number, len(missing), migration.name)
            if await _apply(connection, migration):
                applied.append(migration.name)
        return applied
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationRefused(
            f"this login may not migrate ({error}); give SERVICE_DATABASE_OWNER_URL a login that may create roles and tables"
        ) from error
    finally:
        await connection.close()


async def pending(url: str, folder: Path | None = None) -> list[str]:
    """The names of migrations this database has not seen yet; a schema that these migrations did not make is refused."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        # The serving login may own nothing and inherit nothing; the ledger came with the role that may read it.
        ledger = await _read_ledger(connection, APP_ROLE)
        return [m.name for m in _missing(ledger, read_migrations(folder))]
    finally:
        await connection.close()


async def weak_roles(url: str) -> list[str]:
    """What is wrong with the serving role; empty when row-level security holds it."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        row = await connection.fetchrow(
            "SELECT rolsuper OR rolbypassrls, EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) FROM pg_roles r WHERE rolname = $1",
            APP_ROLE,
        )
    finally:
        await connection.close()
    if row is None:
        return [f"the role {APP_ROLE} does not exist; run `atrium migrate`"]
    faults = zip(row, ("bypasses row-level security", "owns tables"), strict=True)
    return [f"the role {APP_ROLE} {fault}" for found, fault in faults if found]


async def _read_ledger(connection: Any, role: str = "NONE") -> dict[int, str]:
    """The checksums of what was applied, by number; empty on a database that was never migrated."""
    if not await connection.fetchval("SELECT to_regclass('public.schema_migrations') IS NOT NULL"):
        return {}
    await connection.execute(f"SET ROLE {role}")
    return {
        row["number"]: row["checksum"]
        for row in await connection.fetch("SELECT number, checksum FROM schema_migrations")
    }


def _missing(ledger: dict[int, str], known: list[Migration]) -> list[Migration]:
    """What is not applied yet, provided that everything else is ours."""
    head, ours = max(ledger, default=0), len(known)
    if head > ours:
        raise MigrationRefused(
            f"the database's schema is at {head} and this program knows {ours}; use a program as new as the schema"
        )
    for migration in known:
        _require_unchanged(migration, ledger.get(migration.number))
    return [migration for migration in known if migration.number not in ledger]


def _require_unchanged(migration: Migration, checksum: str | None) -> None:
    if checksum not in (None, migration.checksum):
        raise MigrationRefused(
            f"migration {migration.name} was changed after it was applied; use the program that applied it,"
            " or write a new migration instead"
        )


async def _apply(connection: Any, migration: Migration) -> bool:
    async with connection.transaction():
        # Held until commit: a process that waited here finds the ledger already written.
        await connection.execute(f"SET LOCAL ROLE NONE; SELECT pg_advisory_xact_lock({_LOCK})")
        if migration.number == 1:
            await connection.execute(_ROLES)
            await connection.execute(_LEDGER)
        if await _is_applied(connection, migration):
            return False
        if migration.transactional:
            await connection.execute(migration.text)
            await _record(connection, migration)
            return True
    await connection.execute(migration.text)
    async with connection.transaction():
        await _record(connection, migration)
    return True


async def _is_applied(connection: Any, migration: Migration) -> bool:
    checksum = await connection.fetchval("SELECT checksum FROM schema_migrations WHERE number = $1", migration.number)
    _require_unchanged(migration, checksum)
    return checksum is not None


async def _record(connection: Any, migration: Migration) -> None:
    await connection.execute(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        migration.number,
        migration.name,
        migration.checksum,
    )

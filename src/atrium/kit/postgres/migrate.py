"""Forward-only migrations: numbered SQL files, each applied once, safe when several processes start together."""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.database import APP_ROLE, SEARCH_ROLE, SYSTEM_ROLE
from atrium.kit.postgres.pool import patiently
from atrium.kit.refusals import CommandError

_LOCK = 0x41747269756D
_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
# A file that cannot run inside a transaction (CREATE INDEX CONCURRENTLY, or batches that are committed one by one) says so on its second
# line; its parts are sent one by one. It may be ended midway, so that doing it again must be the same as doing it once.
_OUTSIDE = "-- transaction: none"
_PART = "\n-- next\n"
# A lock that is waited for is waited for by everybody who comes later, too: the wait is short, and tried again after a pause.
_LOCK_WAIT = "1s"
_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 600

# The roles that exist from a migration on.
_ROLES_FROM = {1: (APP_ROLE, SYSTEM_ROLE), 64: (SEARCH_ROLE,)}
ROLES = [name for names in _ROLES_FROM.values() for name in names]
_MAKE_ROLE = """
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN
    BEGIN
      CREATE ROLE {name} NOLOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END IF;
  -- From 16 on, the creator of a role may grant it but not SET ROLE to it; MEMBER does not tell the two apart.
  IF NOT pg_has_role(current_user, '{name}',
                     CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
    GRANT {name} TO CURRENT_USER;
  END IF;
END $$
"""

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  number int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationRefused(CommandError):
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
    paths = sorted((folder or shipped_path("migrations")).glob("*.sql"))
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
            if await _apply(connection, migration, url):
                applied.append(migration.name)
        return applied
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationRefused(
            f"this login may not migrate ({error}); give SERVICE_DATABASE_OWNER_URL a login that may create roles and tables,"
            f" or make the roles for it: CREATE ROLE {SEARCH_ROLE} NOLOGIN NOINHERIT; GRANT {', '.join(ROLES)} TO this login"
        ) from error
    finally:
        await connection.close()


async def make_roles(url: str) -> None:
    """Have every role that the schema grants something to, before a dump of it is loaded."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        for name in ROLES:
            await connection.execute(_MAKE_ROLE.format(name=name))
    except asyncpg.InsufficientPrivilegeError as error:
        raise MigrationRefused(
            f"this login may not make the roles {', '.join(ROLES)} ({error}); have them made and granted to it"
        ) from error
    finally:
        await connection.close()


async def list_pending(url: str, folder: Path | None = None) -> list[str]:
    """The names of migrations this database has not seen yet; a schema that these migrations did not make is refused."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        # The serving login may own nothing and inherit nothing; the ledger came with the role that may read it.
        ledger = await _read_ledger(connection, APP_ROLE)
        return [m.name for m in _missing(ledger, read_migrations(folder))]
    finally:
        await connection.close()


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


async def _apply(connection: Any, migration: Migration, url: str) -> bool:
    """Whether it was applied here; as often as it takes, when another process migrates or holds what this one has to lock."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        # Looked at before the lock as well: of many processes that start together one works, and the others pass by what it has done.
        if migration.number > 1 and await _is_applied(connection, migration):
            return False
        try:
            if (applied := await _apply_now(connection, migration, url)) is not None:
                return applied
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
            if time.monotonic() > deadline:
                raise MigrationRefused(
                    f"{migration.name} could not lock what it changes: another transaction has been holding it for"
                    f" {_PATIENCE_SECONDS} s ({error}); end that transaction and migrate again"
                ) from error
        await asyncio.sleep(_PAUSE_SECONDS)


async def _apply_now(connection: Any, migration: Migration, url: str) -> bool | None:
    """Whether it was applied here; None while another process migrates."""
    async with connection.transaction():
        # Held until commit: a process that comes later finds the ledger already written. It does not stand in line for it, because
        # CREATE INDEX CONCURRENTLY waits for every statement that runs, also for one that waits for this lock.
        await connection.execute("SET LOCAL ROLE NONE")
        if not await connection.fetchval(f"SELECT pg_try_advisory_xact_lock({_LOCK})"):
            return None
        for name in _ROLES_FROM.get(migration.number, ()):
            await connection.execute(_MAKE_ROLE.format(name=name))
        if migration.number == 1:
            await connection.execute(_LEDGER)
        if await _is_applied(connection, migration):
            return False
        # Also ends the question before it: as long as that could give more rows, CREATE INDEX CONCURRENTLY would wait for its snapshot.
        await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_WAIT}'")
        if migration.transactional:
            await connection.execute(migration.text)
        else:
            await _apply_outside(migration, url)
        await _record(connection, migration)
    return True


async def _apply_outside(migration: Migration, url: str) -> None:
    """Part by part on a connection of its own, while the other one keeps everybody else from migrating."""
    connection = await patiently(lambda: asyncpg.connect(url, statement_cache_size=0))
    try:
        for part in migration.text.split(_PART):
            await connection.execute(part)
    finally:
        await connection.close()


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

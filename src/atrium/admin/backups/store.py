"""SQL of backups: what the rows of one instant add up to, and what a restore changes around them."""

from uuid import UUID

import msgspec

from atrium.admin.backups.model import AuditHead, BlobName, SchemaVersion
from atrium.kit.postgres.database import SYSTEM_ROLE, Transaction
from atrium.product.changes.model import FEED

PARTS = "multipart_parts"


class DatabaseServer(msgspec.Struct, frozen=True):
    """The PostgreSQL at the other end, and whether the login sees every company's rows."""

    version: str
    major: int
    sees_everything: bool


async def read_server(db: Transaction) -> DatabaseServer:
    found = await db.all(
        DatabaseServer,
        """
        SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000, rolsuper OR rolbypassrls
          FROM pg_roles WHERE rolname = current_user
        """,
    )
    return found[0]


async def list_tables(db: Transaction) -> list[str]:
    """Every table, quoted where its name needs it."""
    rows = await db.rows(
        """
        SELECT quote_ident(relname) FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
        """
    )
    return [row[0] for row in rows]


async def count_rows(db: Transaction, table: str) -> int:
    return int(await db.value(f"SELECT count(*) FROM public.{table}"))


async def read_schema(db: Transaction) -> SchemaVersion | None:
    """The newest migration; None in a database that was never migrated."""
    if not await exists_table(db, "schema_migrations"):
        return None
    return await db.one(SchemaVersion, "SELECT number, checksum FROM schema_migrations ORDER BY number DESC LIMIT 1")


async def exists_table(db: Transaction, name: str) -> bool:
    return bool(await db.value("SELECT to_regclass('public.' || :name) IS NOT NULL", name=name))


async def read_generation(db: Transaction) -> int:
    """How often the instance was restored, in its own count; also of a schema from before it was counted."""
    found = await db.value("SELECT max((to_jsonb(i) ->> 'generation')::bigint) FROM instance i")
    return int(found or 0)


async def list_heads(db: Transaction) -> list[AuditHead]:
    return await db.all(AuditHead, "SELECT org_id, seq, encode(hash, 'hex') FROM audit_heads ORDER BY org_id")


async def list_referring(db: Transaction) -> list[str]:
    """The tables that refer to blobs, whichever domain made them."""
    rows = await db.rows(
        """
        SELECT DISTINCT c.conrelid::regclass::text FROM pg_constraint c
         WHERE c.contype = 'f' AND c.confrelid = to_regclass('public.blobs') ORDER BY 1
        """
    )
    return [row[0] for row in rows]


async def list_blobs(db: Transaction, referring: list[str]) -> list[BlobName]:
    """The bytes that rows of these tables name; parts of uploads may go at any moment."""
    if not referring:
        return []
    return await db.all(
        BlobName,
        f"""
        SELECT b.org_id, b.sha256, b.size, bool_or(n.needed) FROM ({_named_in(referring)}) n
          JOIN blobs b ON b.org_id = n.org_id AND b.sha256 = n.sha256
         GROUP BY b.org_id, b.sha256, b.size ORDER BY b.sha256, b.org_id
        """,
    )


def _named_in(referring: list[str]) -> str:
    return " UNION ALL ".join(
        f"SELECT org_id, sha256, {'false' if table == PARTS else 'true'} AS needed FROM {table}" for table in referring
    )


async def is_referenced(db: Transaction, referring: list[str], org_id: UUID, sha256: bytes) -> bool:
    return bool(
        await db.value(
            f"SELECT EXISTS (SELECT FROM ({_named_in(referring)}) n WHERE org_id = :org_id AND sha256 = :sha256 AND needed)",
            org_id=org_id,
            sha256=sha256,
        )
    )


async def has_people(db: Transaction) -> bool:
    """Asked as the directory's role: row-level security would hide people from the owner of their tables."""
    await db.rows(f"SET LOCAL ROLE {SYSTEM_ROLE}")
    found = await db.value("SELECT EXISTS (SELECT FROM users) OR EXISTS (SELECT FROM instance)")
    await db.rows("SET LOCAL ROLE NONE")
    return bool(found)


async def count_others(db: Transaction) -> int:
    """How many other connections this database has."""
    return int(
        await db.value(
            """
            SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
            """
        )
    )


async def empty_database(db: Transaction) -> None:
    """Drop everything that migrations made, and leave the schema as a new database has it."""
    await db.rows("DROP SCHEMA public CASCADE")
    await db.rows("CREATE SCHEMA public")
    await db.rows("GRANT USAGE ON SCHEMA public TO PUBLIC")


async def give_function(db: Transaction, role: str, function: str) -> None:
    """To the role that the dump says owned it; loading the dump made everything the login's."""
    await db.rows(f"GRANT CREATE ON SCHEMA public TO {role}")
    await db.rows(f"ALTER ROUTINE public.{function} OWNER TO {role}")
    await db.rows(f"REVOKE CREATE ON SCHEMA public FROM {role}")


async def raise_generation(db: Transaction, above: int) -> int:
    """Past this one and past any that another restore of the same backup got: never before now, in seconds."""
    found = await db.value(
        """
        UPDATE instance SET generation = greatest(generation + 1, :above::bigint + 1, extract(epoch FROM clock_timestamp())::bigint)
        RETURNING generation
        """,
        above=above,
    )
    return int(found or 0)


async def analyze(db: Transaction) -> None:
    await db.rows("ANALYZE")


async def empty_feed(db: Transaction) -> None:
    """The feed begins anew: its rows name transactions of the server that the backup came from."""
    await db.rows(f"TRUNCATE {FEED}")

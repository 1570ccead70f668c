"""SQL of the instance."""

from atrium.kit.postgres.database import Transaction


async def read_schema_version(db: Transaction) -> int:
    return int(await db.value("SELECT max(number) FROM schema_migrations"))


async def keep_key_check(db: Transaction, sealed: bytes) -> bytes:
    """The first sealed value that was ever stored."""
    await db.run("INSERT INTO key_check (sealed) VALUES (:sealed) ON CONFLICT DO NOTHING", sealed=sealed)
    kept: bytes = await db.value("SELECT sealed FROM key_check")
    return kept


async def has_key_check(db: Transaction) -> bool:
    """Whether the schema is new enough to keep one."""
    return bool(await db.value("SELECT to_regclass('public.key_check') IS NOT NULL"))


async def find_key_check(db: Transaction) -> bytes | None:
    sealed: bytes | None = await db.value("SELECT sealed FROM key_check")
    return sealed


async def replace_key_check(db: Transaction, sealed: bytes) -> None:
    await db.run("UPDATE key_check SET sealed = :sealed", sealed=sealed)

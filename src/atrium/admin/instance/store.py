"""SQL of the instance."""

from uuid import UUID

from atrium.admin.instance.model import Instance
from atrium.kit.database import Transaction

INSTANCE = "org_id, team_id, operator_id, default_locale, locale_switching"


async def claim_instance(db: Transaction, org_id: UUID, team_id: UUID, operator_id: UUID) -> bool:
    """True for exactly one caller ever."""
    return bool(
        await db.run(
            "INSERT INTO instance (org_id, team_id, operator_id) VALUES (:org_id, :team_id, :operator_id) ON CONFLICT DO NOTHING",
            org_id=org_id,
            team_id=team_id,
            operator_id=operator_id,
        )
    )


async def find_instance(db: Transaction) -> Instance | None:
    return await db.one(Instance, f"SELECT {INSTANCE} FROM instance")


async def set_locale_policy(db: Transaction, default_locale: str, switching: bool) -> bool:
    return bool(
        await db.run(
            "UPDATE instance SET default_locale = :default_locale, locale_switching = :switching",
            default_locale=default_locale,
            switching=switching,
        )
    )


async def read_schema_version(db: Transaction) -> int:
    return int(await db.value("SELECT max(number) FROM schema_migrations"))


async def keep_key_check(db: Transaction, sealed: bytes) -> bytes:
    """The first sealed value ever kept, whoever kept it."""
    await db.run("INSERT INTO key_check (sealed) VALUES (:sealed) ON CONFLICT DO NOTHING", sealed=sealed)
    kept: bytes = await db.value("SELECT sealed FROM key_check")
    return kept


async def replace_key_check(db: Transaction, sealed: bytes) -> None:
    await db.run("UPDATE key_check SET sealed = :sealed", sealed=sealed)

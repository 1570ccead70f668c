"""`atrium migrate`: the database brought to the newest schema."""

from dataclasses import replace

from atrium.boot.requirements import (
    explain_database_errors,
    find_keys,
    require_known_database,
    require_known_schema,
    require_usable,
)
from atrium.kit.postgres.migrate import migrate
from atrium.seams.settings import Settings


async def bring_to_head(settings: Settings) -> list[str]:
    """Migrate as the owner; a release step need not have the key, but one that is not this database's is refused."""
    require_usable(settings)
    owning = replace(settings, database_url=settings.database_owner_url or settings.database_url)
    if find_keys(settings) is None:
        await require_known_schema(owning)
    else:
        await require_known_database(owning)
    with explain_database_errors():
        return await migrate(owning.database_url)

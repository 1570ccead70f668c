"""`atrium keys rotate`: every secret sealed under the newest key."""

from atrium.admin.instance import service as instance
from atrium.boot.requirements import (
    open_database,
    require_keys,
)
from atrium.boot.wiring import DOMAINS
from atrium.seams.settings import Settings


async def reseal(settings: Settings) -> int:
    """Seal every secret under the newest key; how many changed."""
    keys = require_keys(settings)
    async with open_database(settings) as database:
        await instance.require_key(database, keys)
        # In floor order, so that the constant which tells the right key from a wrong one is last.
        return sum([await domain.reseal(database, keys) for domain in DOMAINS if domain.reseal])

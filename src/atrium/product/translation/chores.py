"""What translation does in the background."""

from datetime import timedelta

from atrium.product.translation import store
from atrium.seams.context import Services
from atrium.seams.wiring import Chore

_MOST_FORGOTTEN = 1000


async def forget(services: Services) -> int:
    """Delete translations that are older than the setting says; how many."""
    age = timedelta(days=services.settings.translation_retention_days)
    async with services.database.begin_system() as db:
        return await store.forget_translations(db, age, _MOST_FORGOTTEN)


CHORES = (Chore("translations.forget", 600, forget),)

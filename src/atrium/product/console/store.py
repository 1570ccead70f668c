"""SQL of the console."""

from atrium.kit.database import Transaction
from atrium.product.console.model import Policy


async def find_policy(db: Transaction) -> Policy | None:
    return await db.one(Policy, "SELECT default_locale, locale_switching FROM instance")

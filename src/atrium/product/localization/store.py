"""SQL of localization."""

from atrium.kit.database import Transaction


async def find_default_locale(db: Transaction) -> str | None:
    found: str | None = await db.value("SELECT default_locale FROM instance")
    return found

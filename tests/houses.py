"""A whole server inside the test process, on a database of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from atrium.boot.assemble import House, assemble
from atrium.boot.wiring import DOMAINS
from atrium.kit.settings import Settings
from atrium.routes import ROUTES
from atrium.seams.routes import Route
from atrium.seams.wiring import Domain

SECRET = "a key for tests that is long enough to be one"


def settings_for(url: str, **overrides: Any) -> Settings:
    """Settings of a test server: no access log, and limits that only the tests about limits meet."""
    defaults: dict[str, Any] = {
        "database_url": url, "secret_key": SECRET, "data_dir": Path("/nonexistent"), "access_log": False,
        "demo": True, "rate_public_writes": 1_000_000, "rate_per_credential": 1_000_000, "login_failures": 1_000_000, "database_pool": 10,
    }  # fmt: skip
    return Settings(**(defaults | overrides))


@asynccontextmanager
async def open_house(
    settings: Settings, routes: tuple[Route, ...] = ROUTES, domains: tuple[Domain, ...] = DOMAINS
) -> AsyncIterator[House]:
    """Assembled and open; closed at the end."""
    house = assemble(settings, routes, domains)
    await house.app.on_start()
    try:
        yield house
    finally:
        await house.app.on_stop()

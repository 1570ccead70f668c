"""A whole server inside the test process, on a database of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from atrium.boot.assemble import Application, assemble
from atrium.boot.wiring import DOMAINS
from atrium.routes import ROUTES
from atrium.seams.routes import Route
from atrium.seams.settings import Settings
from atrium.seams.wiring import Domain
from tests.postgres import fresh_database
from tests.support.patience import PATIENCE

SECRET = "a key for tests that is long enough to be one"


def settings_for(url: str, **overrides: Any) -> Settings:
    """Settings of a test server: no access log, and limits that only the tests about limits meet."""
    defaults: dict[str, Any] = {
        "database_url": url, "secret_key": SECRET, "data_dir": Path("/nonexistent"), "access_log": False, "blob_keep_hours": 0,
        "demo": True, "rate_public_writes": 1_000_000, "rate_per_credential": 1_000_000, "login_failures": 1_000_000, "database_pool": 10,
    }  # fmt: skip
    return Settings(**(defaults | overrides))


def left_to_tests(*names: str, domains: tuple[Domain, ...] = DOMAINS) -> tuple[Domain, ...]:
    """The domains without these chores, and with job kinds of these names waiting until a test runs them."""
    return tuple(
        replace(
            domain,
            chores=tuple(chore for chore in domain.chores if chore.name not in names),
            job_kinds=tuple(replace(kind, at_once=None) if kind.name in names else kind for kind in domain.job_kinds),
        )
        for domain in domains
    )


@asynccontextmanager
async def open_application(
    settings: Settings, routes: tuple[Route, ...] = ROUTES, domains: tuple[Domain, ...] = DOMAINS
) -> AsyncIterator[Application]:
    """Assembled and open; closed at the end."""
    house = assemble(settings, routes, domains)
    await house.app.on_start()
    try:
        yield house
    finally:
        await _stop(house)


async def _stop(house: Application) -> None:
    """Close it; one that does not end says what it waits for."""
    stopping = asyncio.ensure_future(house.app.on_stop())
    await asyncio.wait([stopping], timeout=PATIENCE)
    if not stopping.done():
        for task in asyncio.all_tasks():
            task.print_stack()
    assert stopping.done(), "the server did not stop; what its tasks wait for is above"
    stopping.result()


@asynccontextmanager
async def fresh_application(domains: tuple[Domain, ...] = DOMAINS, **settings: Any) -> AsyncIterator[Application]:
    """The same on an empty database of its own, with these settings."""
    async with fresh_database() as url, open_application(settings_for(url, **settings), domains=domains) as house:
        yield house


def requests_counted(house: Application, method: str, route: str, status: int) -> float:
    """How many requests of a row were answered with this status."""
    labels = {"http_request_method": method, "http_route": route, "http_response_status_code": str(status)}
    counted = house.services.metrics.registry.get_sample_value("http_server_request_duration_seconds_count", labels)
    return counted or 0

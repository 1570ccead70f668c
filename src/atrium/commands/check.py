"""`atrium check`: everything that would stop a start, found without serving."""

from atrium.admin.instance.service import WrongKey
from atrium.boot.assemble import register
from atrium.boot.checks import handlers_of, problems
from atrium.boot.requirements import (
    problems_with,
    require_known_database,
    require_known_schema,
)
from atrium.boot.wiring import DOMAINS
from atrium.kit.postgres.server_health import look_at_server
from atrium.routes import ROUTES
from atrium.seams.settings import Settings, unknown_names


async def examine(settings: Settings) -> tuple[list[str], list[str]]:
    """Everything that would stop a boot, and what was looked at."""
    unusable = problems_with(settings)
    found = unknown_names() + unusable + problems(ROUTES, handlers_of(DOMAINS), DOMAINS)
    registry = register(settings)
    found += [f"plugin {name}: {reason}" for name, reason in registry.failed_plugins.items()]
    notes = [f"{len(ROUTES)} rows, {len(registry.plugins)} plugins, {len(registry.tools)} tools"]
    if not settings.database_url:
        nowhere = f"SERVICE_DATABASE_URL is not set, and no `atrium up` is running on {settings.data_dir.resolve()}"
        return found, [*notes, f"database: not looked at: {nowhere}"]
    found += [f"migration {name} is pending" for name in await require_known_schema(settings)]
    if not unusable:
        found += await _problems_with_key(settings)
    found += (await look_at_server(settings.database_url)).weaknesses
    return found, [*notes, "database: reachable"]


async def _problems_with_key(settings: Settings) -> list[str]:
    try:
        await require_known_database(settings)
    except WrongKey as error:
        return [str(error)]
    return []

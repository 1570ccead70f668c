"""What the commands look at without serving: the table, the document, the database, the audit chains."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from atrium.admin.instance import service as instance
from atrium.admin.instance.service import WrongKey
from atrium.boot.assemble import endpoints_of, register
from atrium.boot.checks import handlers_of, problems
from atrium.boot.requirements import (
    find_keys,
    opened,
    problems_with,
    reaching,
    require_keys,
    require_known_database,
    require_known_schema,
    require_usable,
)
from atrium.boot.wiring import DOMAINS
from atrium.edge import openapi
from atrium.ground.audit import sealer
from atrium.ground.audit import service as audit
from atrium.ground.audit import verification as audit_verification
from atrium.ground.audit.model import Head
from atrium.kit.postgres.migrate import migrate
from atrium.kit.postgres.server_health import look_at_server
from atrium.kit.refusals import Refusal
from atrium.kit.telemetry.log import set_up_logging
from atrium.routes import ROUTES
from atrium.seams.settings import Settings, unknown_names


def table(settings: Settings) -> list[dict[str, Any]]:
    """The route table as data, in matching order, plugins' rows included."""
    return [
        {
            "method": endpoint.route.method,
            "path": endpoint.route.path,
            "auth": endpoint.route.auth.value,
            "permission": endpoint.route.permission,
            "feature": endpoint.route.feature,
            "section": endpoint.route.section,
            "shape": endpoint.summary,
        }
        for endpoint in endpoints_of(ROUTES, DOMAINS, register(settings))
    ]


def openapi_document(settings: Settings) -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.document(endpoints_of(ROUTES, DOMAINS, register(settings)))


async def examine(settings: Settings) -> tuple[list[str], list[str]]:
    """Everything that would stop a boot, and what was looked at."""
    unusable = problems_with(settings)
    found = unknown_names() + unusable + problems(ROUTES, handlers_of(DOMAINS), DOMAINS)
    registry = register(settings)
    found += [f"plugin {name}: {reason}" for name, reason in registry.failed_plugins.items()]
    notes = [f"{len(ROUTES)} rows, {len(registry.plugins)} plugins, {len(registry.tools)} tools"]
    if not settings.database_url:
        return found, [*notes, "database: SERVICE_DATABASE_URL is not set, not looked at"]
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


async def bring_to_head(settings: Settings) -> list[str]:
    """Migrate as the owner; a release step need not have the key, but one that is not this database's is refused."""
    require_usable(settings)
    owning = replace(settings, database_url=settings.database_owner_url or settings.database_url)
    if find_keys(settings) is None:
        await require_known_schema(owning)
    else:
        await require_known_database(owning)
    with reaching():
        return await migrate(owning.database_url)


async def verify_audit(settings: Settings, heads: str | None) -> int:
    """Check every chain; 1 when one does not hold."""
    trusted = _read_heads(Path(heads)) if heads else []
    broken = companies = events = unkeyed = 0
    keys = find_keys(settings)
    async with opened(settings) as database:
        async for verdict in audit_verification.verify(database, keys, trusted):
            companies, events, unkeyed = companies + 1, events + verdict.events, unkeyed + verdict.unkeyed
            if verdict.problem:
                broken += 1
                print(f"company {verdict.org_id}: {verdict.problem}")
    older = f" ({unkeyed} from before chains had keys)" if unkeyed else ""
    print(f"{companies} chains with {events} sealed events{older}, {broken} broken")
    return 1 if broken else 0


async def print_heads(settings: Settings) -> int:
    """Seal what is closed, then print the end of every chain, one JSON line each."""
    set_up_logging(settings.log_level)
    keys = require_keys(settings)
    async with opened(settings) as database:
        await instance.require_key(database, keys)
        await sealer.seal(database, keys)
        for head in await audit.list_heads(database):
            print(json.dumps({"org_id": str(head.org_id), "seq": head.seq, "hash": head.hash.hex()}))
    return 0


async def export_audit(settings: Settings, company: str | None) -> int:
    """Print every event, or those of one company, one JSON line each."""
    shareables = [shareable for domain in DOMAINS for shareable in domain.shareables]
    async with opened(settings) as database:
        async for event in audit.export(database, company, shareables):
            print(msgspec.json.encode(event).decode())
    return 0


async def reseal(settings: Settings) -> int:
    """Seal every secret under the newest key; how many changed."""
    keys = require_keys(settings)
    async with opened(settings) as database:
        await instance.require_key(database, keys)
        # In floor order, so that the constant which tells the right key from a wrong one is last.
        return sum([await domain.reseal(database, keys) for domain in DOMAINS if domain.reseal])


def _read_heads(path: Path) -> list[Head]:
    """Heads as `atrium audit heads` prints them or as the server writes them into its log, whatever else is in the file."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} cannot be read: {error}") from error
    heads = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line) if line.startswith("{") else {}
            if row.keys() >= {"org_id", "seq", "hash"} and row.get("event", "audit.head") == "audit.head":
                heads.append(Head(UUID(row["org_id"]), row["seq"], bytes.fromhex(row["hash"])))
        except (ValueError, TypeError) as error:
            raise Refusal(f"line {number} of {path} cannot be read: {error}") from error
    return heads

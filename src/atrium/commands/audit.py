"""`atrium audit`: chains verified, their ends printed, events exported."""

import json
from pathlib import Path
from uuid import UUID

import msgspec

from atrium.admin.instance import service as instance
from atrium.boot.requirements import (
    find_keys,
    open_database,
    require_keys,
)
from atrium.boot.wiring import DOMAINS
from atrium.ground.audit import chain_check as audit_verification
from atrium.ground.audit import sealer
from atrium.ground.audit import service as audit
from atrium.ground.audit.model import Head
from atrium.kit.refusals import CommandError
from atrium.kit.telemetry.log import set_up_logging
from atrium.seams.settings import Settings


async def verify_audit(settings: Settings, heads: str | None) -> int:
    """Check every chain; 1 when one does not hold."""
    trusted = _read_heads(Path(heads)) if heads else []
    broken = companies = events = unkeyed = 0
    keys = find_keys(settings)
    async with open_database(settings) as database:
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
    async with open_database(settings) as database:
        await instance.require_key(database, keys)
        await sealer.seal(database, keys)
        for head in await audit.list_heads(database):
            print(json.dumps({"org_id": str(head.org_id), "seq": head.seq, "hash": head.hash.hex()}))
    return 0


async def export_audit(settings: Settings, company: str | None) -> int:
    """Print every event, or those of one company, one JSON line each."""
    shareables = [shareable for domain in DOMAINS for shareable in domain.shareables]
    async with open_database(settings) as database:
        async for event in audit.export(database, company, shareables):
            print(msgspec.json.encode(event).decode())
    return 0


def _read_heads(path: Path) -> list[Head]:
    """Heads as `atrium audit heads` prints them or as the server writes them into its log, whatever else is in the file."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    heads = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line) if line.startswith("{") else {}
            if row.keys() >= {"org_id", "seq", "hash"} and row.get("event", "audit.head") == "audit.head":
                heads.append(Head(UUID(row["org_id"]), row["seq"], bytes.fromhex(row["hash"])))
        except (ValueError, TypeError) as error:
            raise CommandError(f"line {number} of {path} cannot be read: {error}") from error
    return heads

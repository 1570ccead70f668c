"""Findings about the audit trail: a tail cut off is found, and events are handed over as lines."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from atrium.boot.assemble import Application
from atrium.ground.audit import sealer
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.processes import run_atrium
from tests.support.servers import SECRET, open_application, settings_for
from tests.table.specimens import made

pytestmark = pytest.mark.finding


async def test_f18_a_tail_cut_off_with_its_head_set_back_is_found(tmp_path: Path) -> None:
    async with fresh_database() as url, open_application(settings_for(url)) as house:
        company = await found_company(house)
        admin = await company.join("admin")
        for n in range(4):
            await made(admin.post("/api/features/chat", {"enabled": bool(n % 2)}))
        published = await sealed_heads(house, 4)
        await run_as_owner(url, "DELETE FROM audit_events WHERE seq > 2")
        await run_as_owner(url, "UPDATE audit_heads SET seq = 2, hash = (SELECT hash FROM audit_events WHERE seq = 2)")

        (tmp_path / "log").write_text("a line that is no JSON\n" + "\n".join(map(json.dumps, published)))
        alone = await run_atrium("audit", "verify", database_url=url, secret_key=SECRET)
        with_log = await run_atrium(
            "audit", "verify", "--heads", str(tmp_path / "log"), database_url=url, secret_key=SECRET
        )

    assert (alone.code, with_log.code) == (1, 1)
    assert "did not sign that end" in alone.output
    assert published[-1]["seq"] == 4


async def sealed_heads(house: Application, seq: int) -> list[dict[str, Any]]:
    """Seal until a chain has come so far; the heads that were written into the log meanwhile."""
    with capture_logs() as lines:
        async with asyncio.timeout(PATIENCE):
            while not any(line["event"] == "audit.head" and line["seq"] == seq for line in lines):
                await sealer.seal(house.services.database, house.services.keys)
                await asyncio.sleep(0.01)
    return [dict(line) for line in lines if line["event"] == "audit.head"]


async def test_f18_events_are_handed_over_as_lines_of_json(company: Company, admin: Client) -> None:
    await made(admin.post("/api/features/chat", {"enabled": False}))
    url = company.house.services.settings.database_url

    printed = await run_atrium("audit", "export", "--company", company.org.slug, database_url=url, secret_key=SECRET)

    [event] = [json.loads(line) for line in printed.output.splitlines()]
    assert (event["kind"], event["actor"], event["org_id"]) == (
        "features.switched",
        admin.username,
        str(company.org.id),
    )

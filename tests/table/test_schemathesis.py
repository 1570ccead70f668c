"""The document and the server agree, asked by a program that knows only the document.

Runs at a small size; `ATRIUM_FULL=1 pytest tests/table/test_schemathesis.py` runs at full size and prints the count.
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest

from atrium.routes import ROUTES
from atrium.seams.routes import Auth
from tests.postgres import fresh_database
from tests.support.people import found_company
from tests.support.processes import ROOT, Process, environment, serving
from tests.support.servers import open_application, settings_for

FULL = bool(os.environ.get("ATRIUM_FULL"))
FULL_SIZE = ["--phases", "coverage,fuzzing,stateful", "--max-examples", "60"]
HOST_TOKEN = "the host's own token, which is long enough"
HOSTS_ROWS = "|".join(f"^{route.path}$" for route in ROUTES if route.auth is Auth.PROVISION)


@dataclass(frozen=True, slots=True)
class Run:
    """Who asks, how much unless at full size, and which rows; the host's exist in hosted mode only."""

    size: list[str]
    rows: list[str]
    person: dict[str, Any] | None = None
    settings: dict[str, Any] = field(default_factory=dict)


# Small: every boundary of what is right as the operator, a little of everything as the member.
RUNS = {
    "operator": Run(
        ["--phases", "coverage", "--mode", "positive", "--seed", "1"],
        ["--exclude-path-regex", HOSTS_ROWS],
        {"role": "owner", "org_role": "org_owner", "operator": True},
    ),
    "member": Run(
        ["--phases", "fuzzing", "--max-examples", "2", "--seed", "1"],
        ["--exclude-path-regex", HOSTS_ROWS],
        {"role": "member"},
    ),
    "host": Run(
        ["--phases", "coverage", "--seed", "1"],
        ["--include-path-regex", HOSTS_ROWS],
        settings={"hosted": 1, "provision_token": HOST_TOKEN},
    ),
}
# Left out: that what the document allows is always accepted. A cursor of another listing, a password everybody tries
# first and a colleague who does not exist all look right to it, and are refused.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,"
    "allow_header_conformance,use_after_free,ensure_resource_availability,ignored_auth"
)
# A malformed request may also be refused for its stale version or its size.
CONFIG = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 402, 403, 404, 405, 409, 412, 413, 429]
"""
# Fewer than this, and something was not asked.
FEWEST = 50


@dataclass(frozen=True, slots=True)
class Report:
    """What the program found."""

    printed: str
    facts: dict[str, Any]

    @property
    def cases(self) -> int:
        return int(self.facts["test_cases"]["generated"])

    def accepted(self) -> set[str]:
        """The operations that said yes at least once."""
        rates = self.facts["valid_rates"]
        return {name for name, phases in rates.items() if any(phase["accepted"] for phase in phases.values())}


async def ask_everything(server: Process, token: str, wanted: list[str], folder: Path) -> Report:
    report = folder / "report.json"
    (folder / "schemathesis.toml").write_text(CONFIG)
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{server.address}/openapi.json", *wanted, "--checks", CHECKS,
        "--exclude-path", "/api/logout",
        "--header", f"Authorization: Bearer {token}", "--report-json-path", str(report), "--continue-on-failure",
    ]  # fmt: skip
    seen = {**environment(), "PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "tests.table.fresh_keys"}
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=seen, stdout=PIPE, stderr=STDOUT)
    printed, _ = await process.communicate()
    assert report.exists(), printed.decode()
    return Report(printed.decode(), json.loads(report.read_text()))


async def session_of(url: str, person: dict[str, Any]) -> str:
    async with open_application(settings_for(url)) as house:
        company = await found_company(house)
        client = await company.join(**person, password="a long enough phrase")
        return client.token or ""


@pytest.mark.proof
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("who", RUNS)
async def test_the_server_does_what_the_document_says(who: str, tmp_path: Path) -> None:
    run = RUNS[who]
    async with fresh_database() as url, serving(url, **run.settings) as [server]:
        token = await session_of(url, run.person) if run.person else HOST_TOKEN

        report = await ask_everything(server, token, [*(FULL_SIZE if FULL else run.size), *run.rows], tmp_path)

        print(f"{who}: {report.cases} cases")
        async with server.client(token) as client:
            still_in = await client.get("/api/whoami") if run.person else await client.post("/api/instance/resume")

    assert report.facts["failures"] == [], report.printed
    assert report.facts["errors"] == [], report.printed
    assert report.cases >= FEWEST
    # Whatever it did to its own password, second factor and tokens, it was never locked out: no case met a closed door.
    assert still_in.status_code == 200
    assert report.accepted() >= ({"GET /api/whoami", "GET /api/notes"} if run.person else {"POST /api/instance/resume"})

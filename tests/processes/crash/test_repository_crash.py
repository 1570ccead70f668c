"""Killing servers in uploads, completions, deletes and sweeps: what was acknowledged stays, the rest leaves nothing behind."""

import asyncio
import hashlib
import random
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from atrium.engine.repository import release
from atrium.ground.quotas import service as quotas
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import (
    Process,
    bootstrap,
    environment,
    rounds,
    run_atrium,
    server_settings,
    serving,
    start,
    start_server,
)
from tests.support.servers import open_application, settings_for

SIZES = [0, 1, 5_000, 300_000, 3 << 20]


@dataclass
class Ledger:
    """What servers have acknowledged: the digest of every version that must be there, and the objects that must not."""

    versions: dict[tuple[str, int], str] = field(default_factory=dict)
    parts: dict[tuple[str, str], str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    completed: int = 0
    written: int = 0


@pytest.mark.proof
@pytest.mark.timeout(3600)
async def test_nothing_acknowledged_is_lost_and_nothing_else_stays(tmp_path: Path) -> None:
    data, ledger = tmp_path / "data", Ledger()
    async with fresh_database() as url:
        async with serving(url, data_dir=data) as (server,):
            token = await bootstrap(server)
            async with server.client(token) as client:
                key = (await client.post("/api/s3/credentials", json={"name": "crash"})).json()
        for number in rounds(6, 200):
            await _round(url, data, token, key, ledger, random.Random(number), tmp_path)

        async with serving(url, data_dir=data) as (server,):
            await _require_everything(server, token, ledger)
            await asyncio.to_thread(_require_parts, _s3(server, key), key["bucket"], ledger)
            await asyncio.to_thread(_abort_uploads, _s3(server, key), key["bucket"])
        await _sweep(url, data)
        verified = await run_atrium("blobs", "verify", **server_settings(url, data_dir=data))
        counted = await run_as_owner(url, "SELECT coalesce(sum(size), 0)::bigint FROM object_versions")
        used = await run_as_owner(url, "SELECT max(total) FROM quota_usage WHERE dimension = 'storage.bytes'")
        told_otherwise = await run_as_owner(
            url,
            """
            SELECT count(*) FROM objects o JOIN object_versions v ON v.id = o.version_id
             WHERE (o.size, o.etag, o.written_at) IS DISTINCT FROM (v.size, v.etag, v.created_at)
            """,
        )

    assert len(ledger.versions) > 10
    assert ledger.completed > 0
    assert verified.code == 0, verified.output
    assert "0 unreferenced, 0 unfinished, 0 missing, 0 corrupt, 0 orphaned" in verified.output
    assert list((data / "staging").iterdir()) == []
    assert (used[0][0] or 0) == counted[0][0]
    assert told_otherwise[0][0] == 0


async def _round(
    url: str, data: Path, token: str, key: dict[str, Any], ledger: Ledger, chosen: random.Random, folder: Path
) -> None:
    """Load on one server while another process releases what nobody refers to; both killed at a random moment."""
    server = start_server(url, folder, data_dir=data)
    sweeper = start(("-m", "tests.processes.crash.sweeper"), environment(**server_settings(url, data_dir=data)), folder)
    try:
        await server.until_ready()
        await sweeper.until_prints("sweeping")
        async with server.client(token) as client:
            load = [asyncio.ensure_future(_load(client, ledger, random.Random(chosen.random()))) for _ in range(3)]
            seed = chosen.random()
            parts = asyncio.to_thread(_load_parts, _s3(server, key), key["bucket"], ledger, random.Random(seed))
            load.append(asyncio.ensure_future(parts))
            await _until_written(ledger, ledger.written + chosen.randrange(1, 40))
            await asyncio.sleep(chosen.uniform(0, 0.1))
            sweeper.popen.kill()
            server.popen.kill()
            await asyncio.gather(*load)
    finally:
        sweeper.clean_up()
        server.clean_up()


async def _until_written(ledger: Ledger, count: int) -> None:
    """Kills come after so many writes and not after a time: a slow machine would have none in it."""
    while ledger.written < count:
        await asyncio.sleep(0.005)


async def _load(client: httpx.AsyncClient, ledger: Ledger, chosen: random.Random) -> None:
    """Write and delete until the server is gone; only what it answered is written down."""
    try:
        while True:
            body = secrets.token_bytes(chosen.choice(SIZES)) if chosen.random() < 0.8 else b"the same for all"
            answer = await client.put(f"/api/repo/key-{chosen.randrange(40)}", content=body)
            if answer.is_success:
                stored = answer.json()
                ledger.written += 1
                ledger.versions[stored["id"], stored["version"]["number"]] = hashlib.sha256(body).hexdigest()
                if chosen.random() < 0.3:
                    await _delete(client, ledger, stored)
    except httpx.TransportError:
        return


def _s3(server: Process, key: dict[str, Any]) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=server.address,
        region_name=key["region"],
        aws_access_key_id=key["access_key_id"],
        aws_secret_access_key=key["secret_access_key"],
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
    )


def _load_parts(s3: Any, bucket: str, ledger: Ledger, chosen: random.Random) -> None:
    """Upload in parts and complete, or abort, until the server is gone; a version's id is its own over both wires."""
    try:
        while True:
            key = f"parts-{chosen.randrange(8)}"
            upload = s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
            bodies = [secrets.token_bytes(5 << 20), secrets.token_bytes(chosen.choice(SIZES[1:]))]
            parts = [
                {
                    "PartNumber": number,
                    "ETag": s3.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=number, Body=body)[
                        "ETag"
                    ],
                }
                for number, body in enumerate(bodies, 1)
            ]
            if chosen.random() < 0.2:
                s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)
                continue
            done = s3.complete_multipart_upload(
                Bucket=bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
            )
            ledger.completed += 1
            ledger.written += 1
            ledger.parts[key, done["VersionId"]] = hashlib.sha256(b"".join(bodies)).hexdigest()
            if chosen.random() < 0.3:
                # Asked for is already not to be relied on.
                del ledger.parts[key, done["VersionId"]]
                s3.delete_object(Bucket=bucket, Key=key, VersionId=done["VersionId"])
    except (BotoCoreError, ClientError):
        return


def _abort_uploads(s3: Any, bucket: str) -> None:
    for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", ()):
        s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])


def _require_parts(s3: Any, bucket: str, ledger: Ledger) -> None:
    for (key, version), digest in ledger.parts.items():
        body = s3.get_object(Bucket=bucket, Key=key, VersionId=version)["Body"].read()
        assert hashlib.sha256(body).hexdigest() == digest


async def _delete(client: httpx.AsyncClient, ledger: Ledger, stored: dict[str, Any]) -> None:
    # Asked for is already not to be relied on: the server may delete it and die before it says so.
    ledger.versions = {key: digest for key, digest in ledger.versions.items() if key[0] != stored["id"]}
    ledger.deleted.add(stored["id"])
    await client.delete(f"/api/repo-obj/{stored['id']}")
    await client.delete(f"/api/trash/{stored['id']}")


async def _require_everything(server: Process, token: str, ledger: Ledger) -> None:
    async with server.client(token) as client:
        for (id, number), digest in ledger.versions.items():
            if id in ledger.deleted:
                continue
            answer = await client.get(f"/api/repo-obj/{id}/content", params={"version": number})
            assert answer.status_code == 200, answer.text
            assert hashlib.sha256(answer.content).hexdigest() == digest


async def _sweep(url: str, data: Path) -> None:
    async with open_application(settings_for(url, data_dir=data)) as house:
        await release.sweep(house.services, seconds=0)
        await quotas.enter_noted(house.services.database)

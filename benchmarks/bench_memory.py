"""What moving large objects over S3 adds to a server's memory: 5 GiB in parts, and fifty transfers of 100 MiB at once.

python -m benchmarks.bench_memory [--gibibytes 5] [--at-once 50]
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import boto3
import obstore
import psutil

from benchmarks.bench_s3 import atrium_stores
from tests.postgres import fresh_database
from tests.support.processes import Process, serving

MIB = 1 << 20
MOST_GROWTH = 64
PART = 8 * MIB


async def parts(total: int) -> AsyncIterator[bytes]:
    """So many bytes, no two parts alike."""
    block = os.urandom(PART)
    for number in range(total // PART):
        yield number.to_bytes(8) + block[8:]


async def growth(server: Process, work: Awaitable[Any]) -> float:
    """How many MiB above its start the process came while the work went on."""
    process = psutil.Process(server.popen.pid)
    before = peak = process.memory_info().rss
    task = asyncio.ensure_future(work)
    while not task.done():
        peak = max(peak, process.memory_info().rss)
        await asyncio.wait({task}, timeout=0.05)
    await task
    return (peak - before) / MIB


async def curl(*arguments: str) -> None:
    """One transfer by a process of its own."""
    process = await asyncio.create_subprocess_exec("curl", "-sSf", "-o", "/dev/null", *arguments)
    assert await process.wait() == 0


def links(server: Process, key: dict[str, str], verb: str, count: int) -> list[str]:
    """Signed links to so many keys."""
    s3 = boto3.client(
        "s3",
        endpoint_url=server.address,
        region_name=key["region"],
        aws_access_key_id=key["access_key_id"],
        aws_secret_access_key=key["secret_access_key"],
    )
    names = [f"many/{number}.bin" for number in range(count)]
    return [s3.generate_presigned_url(verb, Params={"Bucket": key["bucket"], "Key": name}) for name in names]


async def measure(gibibytes: float, at_once: int) -> dict[str, float]:
    """Growth by task, each on a server that has already moved something."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="atrium-memory-") as name:
        folder = Path(name)
        async with fresh_database() as url, serving(url, data_dir=folder / "data") as (server,):
            (store,) = await atrium_stores([server])
            await obstore.put_async(store, "warm", os.urandom(20 * MIB), chunk_size=PART)
            large = parts(int(gibibytes * 1024) * MIB)
            put = obstore.put_async(store, "large", large, chunk_size=PART, max_concurrency=4)
            found[f"PUT {gibibytes:g} GiB in parts"] = await growth(server, put)
            found[f"GET {gibibytes:g} GiB"] = await growth(server, drain(store, "large"))
            key = key_of(store)
            file = folder / "hundred.bin"
            file.write_bytes(os.urandom(100 * MIB))
            uploads = [curl("-T", str(file), link) for link in links(server, key, "put_object", at_once)]
            found[f"{at_once} PUTs of 100 MiB at once"] = await growth(server, asyncio.gather(*uploads))
            downloads = [curl(link) for link in links(server, key, "get_object", at_once)]
            found[f"{at_once} GETs of 100 MiB at once"] = await growth(server, asyncio.gather(*downloads))
    return found


async def drain(store: Any, key: str) -> None:
    found = await obstore.get_async(store, key)
    async for _ in found.stream(min_chunk_size=4 * MIB):
        pass


def key_of(store: Any) -> dict[str, str]:
    """The store's key pair, in the words of the links."""
    config = store.config
    return {
        "access_key_id": config["access_key_id"],
        "secret_access_key": config["secret_access_key"],
        "region": config["region"],
        "bucket": config["bucket"],
    }


def main() -> int:
    """Measure and print; 0 when nothing grew beyond what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gibibytes", type=float, default=5)
    parser.add_argument("--at-once", type=int, default=50)
    options = parser.parse_args()
    found = asyncio.run(measure(options.gibibytes, options.at_once))
    for name, grown in found.items():
        print(f"{name:28} {grown:6.1f} MiB more (at most {MOST_GROWTH})")
    return 0 if max(found.values()) <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())

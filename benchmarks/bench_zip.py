"""An archive of many objects through HTTP: how long it takes, how much memory the server needs beside, and that every byte is right.

python -m tests.postgres python -m benchmarks.bench_zip [--objects 10000] [--bytes 20000]
"""

import argparse
import asyncio
import random
import resource
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import asyncpg

from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

MOST = 40 << 20
TEXTS = 100


def text_of(n: int, size: int) -> bytes:
    """Words, as much like text as an archive needs."""
    chance = random.Random(n)
    return b" ".join(b"word%d" % chance.randrange(20_000) for _ in range(size // 9 + 1))[:size]


async def save(client: Client, target: IO[bytes]) -> None:
    """One download, into a file."""
    left = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        return left.pop()

    async def send(message: dict[str, Any]) -> None:
        target.write(message.get("body", b""))

    await client.app(client._scope("GET", "/api/repo-zip", {"prefix": "many/"}, {}), receive, send)


async def multiply(url: str, objects: int) -> None:
    """So many objects with the bytes of the first ones."""
    connection = await asyncpg.connect(url)
    await connection.execute(
        "CREATE TEMP TABLE made AS SELECT n, gen_random_uuid() AS id, gen_random_uuid() AS version_id "
        f"FROM generate_series(0, {objects - 1}) AS n"
    )
    await connection.execute(f"""
        INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, size, etag)
        SELECT m.id, o.org_id, o.team_id, o.owner_id, 'many/' || m.n % {TEXTS} || '/' || m.n || '.txt', 'team', m.version_id, o.size, o.etag
          FROM made m JOIN objects o ON o.key = m.n % {TEXTS} || '.txt'
    """)
    await connection.execute(f"""
        INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)
        SELECT m.version_id, v.org_id, m.id, 1, v.sha256, v.size, v.etag, v.content_type, m.n || '.txt', v.created_by
          FROM made m JOIN objects o ON o.key = m.n % {TEXTS} || '.txt' JOIN object_versions v ON v.id = o.version_id
    """)
    await connection.execute("ANALYZE")
    await connection.close()


def resident() -> int:
    """Bytes of memory this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def watch(most: list[int]) -> None:
    """The most memory there was, looked at again and again."""
    while True:
        most[0] = max(most[0], resident())
        await asyncio.sleep(0.005)


async def measure(objects: int, size: int) -> tuple[float, int, int]:
    """Seconds, bytes of the archive, and bytes of memory beyond what the server had."""
    with tempfile.TemporaryDirectory(prefix="atrium-zip-") as folder, tempfile.TemporaryFile() as target:
        async with fresh_database() as url, open_application(settings_for(url, data_dir=Path(folder))) as house:
            owner = await (await found_company(house)).join("owner")
            for n in range(TEXTS):
                answer = await owner.put(f"/api/repo/{n}.txt", text_of(n, size))
                assert answer.status == 201, answer.raw
            await multiply(url, objects)
            before = resident()
            most, began = [before], time.perf_counter()
            watching = asyncio.create_task(watch(most))
            await save(owner, target)
            seconds = time.perf_counter() - began
            watching.cancel()
        with zipfile.ZipFile(target) as archive:
            assert len(archive.namelist()) == objects
            for n in range(objects):
                assert archive.read(f"{n % TEXTS}/{n}.txt") == text_of(n % TEXTS, size), n
        return seconds, target.tell(), most[0] - before


def compare(size: int = 1 << 24) -> None:
    """What compressing would cost: megabytes a second of one core, stored and deflated."""
    text = text_of(0, size)
    for name, work in (("stored", zlib.crc32), ("deflated", lambda text: zlib.compress(text, 6))):
        began = time.perf_counter()
        made = work(text)
        seconds = time.perf_counter() - began
        share = len(made) / size if isinstance(made, bytes) else 1
        print(f"{name}: {size / seconds / 1e6:.0f} MB/s, {share:.0%} of the bytes")


def main() -> int:
    """Print what it took; fail above 40 MiB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--bytes", type=int, default=20_000)
    chosen = parser.parse_args()
    compare()
    seconds, length, memory = asyncio.run(measure(chosen.objects, chosen.bytes))
    print(f"{chosen.objects} objects, {length} bytes: {seconds:.2f} s, {memory / (1 << 20):.1f} MiB")
    return 1 if memory > MOST else 0


if __name__ == "__main__":
    raise SystemExit(main())

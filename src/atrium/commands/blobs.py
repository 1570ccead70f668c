"""`atrium blobs verify`: every referenced blob read and hashed again, with a bar to watch."""

import sys
import time
from collections import Counter
from typing import TextIO
from uuid import UUID

from atrium.boot.assemble import open_blobs, register
from atrium.boot.requirements import open_database
from atrium.engine.repository import blob_check as repository_verification
from atrium.engine.repository import release
from atrium.ground.tenancy import service as tenancy
from atrium.kit.postgres.database import Database
from atrium.seams.blobs import BlobStore, close_store
from atrium.seams.settings import Settings

PROBLEMS = ("missing", "corrupt", "orphaned")
_WIDTH = 30


class Bar:
    """How far along a count of bytes is; drawn on a terminal, a line for every tenth elsewhere."""

    def __init__(self, total: int, out: TextIO = sys.stderr) -> None:
        self._total, self._out = max(1, total), out
        self._done = self._tenths = 0
        self._drawn = 0.0
        self._live = out.isatty()

    def add(self, size: int) -> None:
        """So many bytes more."""
        self._done += size
        share = min(1.0, self._done / self._total)
        if self._live and time.monotonic() - self._drawn > 0.1:
            self._drawn = time.monotonic()
            self._draw(share, "\r")
        elif not self._live and int(share * 10) > self._tenths:
            self._tenths = int(share * 10)
            self._draw(share, "")

    def clear(self) -> None:
        """Make room for a line of text."""
        if self._live:
            self._out.write("\r\x1b[K")

    def _draw(self, share: float, before: str) -> None:
        bar = "█" * int(share * _WIDTH)
        text = f"{bar:░<{_WIDTH}} {share:4.0%}  {self._done / 1e6:,.1f} of {self._total / 1e6:,.1f} MB"
        self._out.write(f"{before}{text}{'' if before else chr(10)}")
        self._out.flush()


async def verify_blobs(settings: Settings, *, release_orphans: bool = False) -> int:
    """Look at every blob; 1 when one is missing or corrupt, or orphaned and not to be released."""
    blobs = open_blobs(settings, register(settings))
    counts: Counter[str] = Counter()
    try:
        async with open_database(settings) as database:
            orgs = await _companies(database)
            bar = Bar((await repository_verification.measure(database, orgs))[1])
            async for found in repository_verification.verify(database, blobs, orgs):
                counts[found.verdict] += 1
                if found.verdict in PROBLEMS:
                    bar.clear()
                    print(f"{found.verdict}: company {found.org_id} sha256 {found.sha256.hex()} ({found.size} bytes)")
                if found.verdict == "orphaned" and release_orphans:
                    await _release(database, blobs, found)
                bar.add(found.size)
            bar.clear()
    finally:
        await close_store(blobs)
    return _summarize(counts, release_orphans)


async def _companies(database: Database) -> list[UUID]:
    async with database.begin_system() as db:
        return await tenancy.list_all_ids(db)


async def _release(database: Database, blobs: BlobStore, orphan: repository_verification.Finding) -> None:
    """To the next sweep, which looks again; bytes of a company that is not there cannot be referred to and go now."""
    if orphan.org_id in await _companies(database):
        await release.adopt(database, orphan.org_id, orphan.sha256, orphan.size)
    else:
        await blobs.delete(orphan.org_id, orphan.sha256)


def _summarize(counts: Counter[str], release_orphans: bool) -> int:
    words = ", ".join(f"{counts[name]} {name}" for name in ("sound", "unreferenced", "unfinished", *PROBLEMS))
    print(f"{sum(counts.values())} blobs: {words}")
    if release_orphans and counts["orphaned"]:
        print("a serving process releases the orphaned ones within a minute")
    return 1 if any(counts[name] for name in PROBLEMS if name != "orphaned" or not release_orphans) else 0

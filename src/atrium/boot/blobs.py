"""`atrium blobs verify`: every referenced blob read and hashed again, with a bar to watch."""

import sys
import time
from collections import Counter
from typing import TextIO
from uuid import UUID

from atrium.boot.assemble import open_blobs, register
from atrium.boot.examine import opened
from atrium.engine.repository import service as repository
from atrium.ground.tenancy import service as tenancy
from atrium.kit.settings import Settings

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


async def verify_blobs(settings: Settings) -> int:
    """Look at every blob; 1 when one is missing, corrupt or orphaned."""
    blobs = open_blobs(settings, register(settings))
    counts: Counter[str] = Counter()
    try:
        async with opened(settings) as database:
            async with database.begin_system() as db:
                orgs: list[UUID] = await tenancy.list_all_ids(db)
            bar = Bar((await repository.measure(database, orgs))[1])
            async for found in repository.verify(database, blobs, orgs):
                counts[found.verdict] += 1
                if found.verdict in PROBLEMS:
                    bar.clear()
                    print(f"{found.verdict}: company {found.org_id} sha256 {found.sha256.hex()} ({found.size} bytes)")
                bar.add(found.size)
            bar.clear()
    finally:
        await blobs.close()
    problems = sum(counts[name] for name in PROBLEMS)
    words = ", ".join(f"{counts[name]} {name}" for name in ("sound", "unreferenced", *PROBLEMS))
    print(f"{sum(counts.values())} blobs: {words}")
    return 1 if problems else 0

"""`atrium search verify` and `atrium search rebuild`: the index beside what it is made of, company by company."""

from collections import Counter
from uuid import UUID

from atrium.boot.requirements import open_database
from atrium.ground.tenancy import service as tenancy
from atrium.kit.postgres.database import Database
from atrium.kit.work.compute import ComputePool
from atrium.product.search import index_check
from atrium.seams.settings import Settings


async def verify_search(settings: Settings) -> int:
    """Print every difference; 1 when there is one."""
    counts: Counter[str] = Counter()
    async with open_database(settings) as database, ComputePool(settings.compute_processes) as compute:
        for org_id in await _companies(database):
            async for found in index_check.verify(database, compute, org_id):
                counts[found.problem] += 1
                print(f"{found.problem}: company {found.org_id} {found.source} {found.id}")
    words = ", ".join(f"{number} {problem}" for problem, number in sorted(counts.items()))
    print(f"{counts.total()} differences{f': {words}; `atrium search rebuild` mends them' if words else ''}")
    return 1 if counts else 0


async def rebuild_search(settings: Settings) -> int:
    """Write every company's part of the index anew."""
    total = 0
    async with open_database(settings) as database, ComputePool(settings.compute_processes) as compute:
        for org_id in await _companies(database):
            total += await index_check.rebuild(database, compute, org_id)
    print(f"{total} notes, objects and documents read again")
    return 0


async def _companies(database: Database) -> list[UUID]:
    async with database.begin_system() as db:
        return await tenancy.list_all_ids(db)

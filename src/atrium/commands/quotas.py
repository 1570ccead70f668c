"""`atrium quotas verify`: what companies are counted to store, beside what is there."""

from atrium.boot.requirements import open_database
from atrium.boot.wiring import DOMAINS
from atrium.ground.quotas.recount import recount
from atrium.ground.tenancy import service as tenancy
from atrium.seams.settings import Settings

KEEPERS = tuple(keeper for domain in DOMAINS for keeper in domain.keepers)


async def verify_storage(settings: Settings) -> int:
    """Compare every company's books of storage with what is there; 1 when they differ."""
    different = 0
    async with open_database(settings) as database:
        async with database.begin_system() as db:
            companies = await tenancy.list_all_ids(db)
        for org_id in companies:
            for found in await recount(database, KEEPERS, org_id):
                different += 1
                of = "company" if found.scope_id == org_id else f"team {found.scope_id} of company"
                print(f"{of} {org_id}: {found.counted} bytes of {found.part} are counted, {found.there} are there")
    print(f"{len(companies)} companies, {different} differences")
    return 1 if different else 0

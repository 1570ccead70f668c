"""What onboarding does in the background."""

from collections import Counter
from datetime import timedelta

from atrium.ground.tenancy import service as tenancy
from atrium.product.onboarding import prospect_rows, store
from atrium.product.onboarding.funnel import Funnel
from atrium.seams.context import ANONYMOUS, Operation, Services
from atrium.seams.retention import BATCH, MOST_BATCHES
from atrium.seams.wiring import Chore

# Proofs tell how many sign up from a network; declined people are erased.
PROOFS_KEPT, DECLINED_KEPT = timedelta(days=30), timedelta(days=90)


async def count(services: Services) -> int:
    """Add what was counted since the last time to the days; how many visits."""
    funnel: Funnel | None = services.started.get("onboarding")
    # Chores go on while the process stops, and the funnel has counted its last by then.
    if funnel is None or not funnel.counted or funnel.founding is None:
        return 0
    counted, org_id = funnel.counted, funnel.founding.org_id
    funnel.counted = Counter()
    try:
        async with services.database.begin(org_id) as db:
            for day in sorted({day for day, _ in counted}):
                of_day = {what: many for (one, what), many in counted.items() if one == day}
                await store.add_to_day(db, org_id, day, of_day)
    except BaseException:
        funnel.counted += counted
        raise
    return counted.total()


async def stop(services: Services, funnel: Funnel) -> None:
    """Add what was counted last."""
    await count(services)


async def forget(services: Services) -> int:
    """Delete old proofs, and people who were declined long ago; how many."""
    op, forgotten = Operation(who=ANONYMOUS, services=services), 0
    async with op.begin_system() as ctx:
        founding = (await tenancy.read_instance(ctx)).founding
    if founding is None:
        return 0
    for rows, age in ((prospect_rows.forget_proofs, PROOFS_KEPT), (prospect_rows.forget_declined, DECLINED_KEPT)):
        for _ in range(MOST_BATCHES):
            async with services.database.begin(founding.org_id) as db:
                dropped = await rows(db, founding.org_id, age, BATCH)
            forgotten += dropped
            if dropped < BATCH:
                break
    return forgotten


CHORES = (
    Chore("onboarding.count", 5, count),
    Chore("onboarding.forget", 3_600, forget),
)

"""Prospects: listed for the funnel's team, and decided about once."""

from uuid import UUID

from atrium.ground.audit import service as audit
from atrium.kit.text.plain import contains_pattern
from atrium.kit.web.pages import Pager
from atrium.product.onboarding import prospect_rows, store
from atrium.product.onboarding.model import (
    OUTCOMES,
    Decided,
    Decision,
    Prospect,
    ProspectListing,
    ProspectMissing,
    ProspectState,
)
from atrium.product.onboarding.service import require_owner
from atrium.seams.context import Context

DAYS = 30


async def list_prospects(
    ctx: Context, state: ProspectState | None, verdict: str | None, q: str | None, limit: int, cursor: str | None
) -> ProspectListing:
    """Who signed up, newest first and a few at a time when their answers are long; the first page tells as well how many came how far."""
    org_id = await require_owner(ctx)
    pager = Pager(ctx.services.keys, "prospects", ctx.who.team_id, state, verdict, q)
    pattern = contains_pattern(q.lower()) if q else None
    before = pager.read(cursor, UUID)
    found, fits = await prospect_rows.list_prospects(ctx.db, org_id, state, verdict, pattern, before, limit + 1)
    page = pager.page(found, min(limit, fits), lambda one: one.id)
    days = await store.list_days(ctx.db, org_id, DAYS) if cursor is None else []
    return ProspectListing(page.items, days, page.next_cursor)


async def read_prospect(ctx: Context, id: UUID) -> Prospect:
    """A person who signed up."""
    found = await prospect_rows.find_prospect(ctx.db, await require_owner(ctx), id)
    if found is None:
        raise ProspectMissing("there is no such prospect; a declined one is erased after 90 days")
    return found


async def decide(ctx: Context, id: UUID, decision: Decision, note: str | None) -> Prospect:
    """Accept or decline, once; the same decision again changes nothing, the other one is refused."""
    org_id = await require_owner(ctx)
    state = OUTCOMES[decision]
    if await prospect_rows.decide(ctx.db, org_id, id, ctx.who.user_id, state, note):
        await audit.record(ctx, f"onboarding.{state}", id)
    found = await read_prospect(ctx, id)
    if found.state != state:
        raise Decided(f"this prospect was {found.state} already; that decision stands", state=found.state)
    return found

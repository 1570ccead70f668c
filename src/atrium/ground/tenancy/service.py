"""The verbs of tenancy."""

from atrium.ground.tenancy import store
from atrium.ground.tenancy.model import Org, SlugTaken, Team
from atrium.kit.errors import Missing
from atrium.kit.ids import new_id
from atrium.kit.text import slug_of
from atrium.seams.context import Context


async def create_org(ctx: Context, name: str, slug: str | None = None) -> Org:
    """Found a company; an explicit slug that exists is refused, a derived one is made unique."""
    id = new_id()
    wanted = slug or slug_of(name)
    org = await store.insert_org(ctx.db, id, wanted, name)
    if org is None and slug is None:
        org = await store.insert_org(ctx.db, id, f"{wanted[:50]}-{id.hex[-12:]}", name)
    if org is None:
        raise SlugTaken(f"a company with the slug {slug} exists already", slug=slug)
    return org


async def create_team(ctx: Context, org: Org, name: str) -> Team:
    """Add a team to a company."""
    team = await store.insert_team(ctx.db, new_id(), org.id, name)
    assert team is not None  # noqa: S101 - INSERT … RETURNING without a conflict clause always returns
    return team


async def read_own(ctx: Context) -> tuple[Org, Team]:
    """The caller's company and team."""
    org = await store.find_org(ctx.db, ctx.who.org_id)
    team = await store.find_team(ctx.db, ctx.who.org_id, ctx.who.team_id)
    if org is None or team is None:
        raise Missing("this company or team is gone")
    return org, team


async def count_all(ctx: Context) -> dict[str, int]:
    """How many companies and teams the instance carries; only a system transaction sees them all."""
    return {"orgs": await store.count_orgs(ctx.db), "teams": await store.count_teams(ctx.db)}

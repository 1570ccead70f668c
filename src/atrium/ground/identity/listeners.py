"""What others ask about people: who set a limit, and who may raise one, as far as a caller may know them."""

from uuid import UUID

from atrium.ground.identity import store
from atrium.ground.quotas.model import LimitReached, SettersShown
from atrium.seams.context import Context, Principal
from atrium.seams.wiring import Listener

# As many names as a sentence bears.
_NAMED = 3
# With one of these a narrowed token lists people.
_LISTS_PEOPLE = frozenset({"members:manage", "org:read"})


async def on_setters_shown(ctx: Context, event: SettersShown) -> None:
    """Name those whom the caller finds in the list of people."""
    if _knows_people(ctx.who):
        found = await store.list_known(ctx.db, ctx.who.org_id, _team_known(ctx.who), list(event.people))
        event.known.update(found)


async def on_limit_reached(ctx: Context, event: LimitReached) -> None:
    """Name operators: a team's limit is raised by those of that team, the company's by any of them."""
    if _knows_people(ctx.who) and not ctx.who.hosted:
        team_id = event.team_id if event.level == "team" else _team_known(ctx.who)
        if event.level == "org" or _team_known(ctx.who) in (None, team_id):
            event.known += await store.list_operators(ctx.db, ctx.who.org_id, team_id, _NAMED)


def _knows_people(who: Principal) -> bool:
    return who.scope is None or not who.scope.isdisjoint(_LISTS_PEOPLE)


def _team_known(who: Principal) -> UUID | None:
    """The team whose people the caller may list; None when those of the whole company."""
    return None if "org:read" in who.permissions else who.team_id


LISTENERS = (Listener(SettersShown, on_setters_shown), Listener(LimitReached, on_limit_reached))

"""SQL of listings of runs."""

from functools import lru_cache
from uuid import UUID

import msgspec

from atrium.engine.workflows.model import STATES, RunState
from atrium.engine.workflows.run_model import RunFacts
from atrium.engine.workflows.store import RUN, summary_of
from atrium.kit.postgres.database import Transaction

FILTERS = {"workflow": "slug", "trigger": "trigger_id", "user_id": "user_id"}
LAST_ID = UUID(int=2**128 - 1)


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs of a team."""

    state: RunState | None = None
    workflow: str | None = None
    trigger: UUID | None = None
    user_id: UUID | None = None


async def list_runs(
    db: Transaction, org_id: UUID, team_id: UUID, chosen: RunFilter, before: UUID | None, limit: int
) -> list[RunFacts]:
    """The newest runs below an id."""
    given = {name: value for name, value in msgspec.structs.asdict(chosen).items() if value is not None}
    states = [given.pop("state")] if chosen.state else list(STATES)
    sql = listing_sql(frozenset(given))
    rows = await db.rows(
        sql, org_id=org_id, team_id=team_id, states=states, before=before or LAST_ID, limit=limit, **given
    )
    return [summary_of(row) for row in rows]


@lru_cache
def listing_sql(filters: frozenset[str]) -> str:
    """A statement of its own for every set of filters, so that each goes by the index that has them.

    A page of each state, then the page of all: every index has the state before the id. The state is bounded from both sides and not
    equated, because then only such an index has this order.
    """
    also = "".join(f" AND k.{column} = :{name}" for name, column in FILTERS.items() if name in filters)
    return f"""
        SELECT {RUN} FROM unnest(:states::text[]) AS s (state)
         CROSS JOIN LATERAL (
           SELECT * FROM runs k
            WHERE k.org_id = :org_id AND k.team_id = :team_id AND (k.state, k.id) < (s.state, :before::uuid) AND k.state >= s.state{also}
            ORDER BY k.state DESC, k.id DESC LIMIT :limit) r
         JOIN users u ON u.org_id = :org_id AND u.id = r.user_id
         ORDER BY r.id DESC LIMIT :limit
        """

"""Listing a team's jobs: in order over all pages, and as cheap among many jobs as among few."""

from datetime import UTC, datetime, timedelta

import pytest

from atrium.engine.jobs import service, store
from atrium.engine.jobs.model import State
from atrium.kit.postgres.database import compile_statement
from tests.postgres import blocks_read
from tests.support.queue import Member, Queue

# Old ones of every state, under a sea of newer ones that succeeded.
SEA = """
    INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, priority, state, max_attempts, lease, run_at, input, finished_at)
    SELECT (lpad(to_hex(1700000000000 + n), 12, '0') || '70008000000000000000')::uuid, $1, $2, $3, 'probe.plain', 'probe.plain', 0,
           s.state, 3, interval '1 minute', now(), '{}', CASE WHEN s.state NOT IN ('queued', 'scheduled') THEN now() END
      FROM generate_series(1, $4::int) n
     CROSS JOIN LATERAL (SELECT CASE n WHEN 1 THEN 'failed' WHEN 2 THEN 'cancelled' WHEN 3 THEN 'queued' WHEN 4 THEN 'scheduled'
                                ELSE 'succeeded' END) s (state)
"""


async def pages_touched(queue: Queue, member: Member, states: list[str]) -> int:
    """Pages of the database that one page of the listing reads, with a plan that is made for any value."""
    text, names = compile_statement(store.LISTED_BY_STATE)
    values = {
        "org_id": member.company.org.id, "team_id": member.team.id, "kind": None, "before": store.LAST_ID,
        "limit": 51, "served": [], "states": states,
    }  # fmt: skip
    return await blocks_read(queue.url, member.company.org.id, text, *(values[name] for name in names))


@pytest.mark.parametrize("states", [["failed"], ["cancelled"], ["running"], ["queued", "scheduled"], ["succeeded"]])
async def test_a_page_of_one_state_reads_as_little_among_many_jobs(
    queue: Queue, member: Member, states: list[str]
) -> None:
    await queue.sql(SEA, member.company.org.id, member.team.id, member.op.who.user_id, 20_000)
    await queue.sql("VACUUM ANALYZE jobs")

    assert await pages_touched(queue, member, states) < 100


@pytest.mark.parametrize(("state", "expected"), [("queued", 6), ("succeeded", 0), ("running", 2)])
async def test_pages_of_a_state_hold_each_job_once_newest_first(
    queue: Queue, member: Member, state: State, expected: int
) -> None:
    await member.enqueue(2)
    await queue.claim(2)
    for _ in range(3):
        await member.enqueue(1)
        await member.enqueue(1, run_at=datetime.now(UTC) + timedelta(hours=1))

    found, cursor = [], None
    while True:
        async with member.op.begin() as ctx:
            page = await service.list_jobs(ctx, state, None, 2, cursor)
        found += [job.id for job in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found) == expected

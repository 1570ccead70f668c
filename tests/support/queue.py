"""The queue under test: people who queue, workers who claim, and somebody who checks the books."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from atrium.boot.assemble import Application
from atrium.engine.jobs import attempts, queue_rows, service
from atrium.engine.jobs.model import Attempt, AttemptReport, Claim, Lease, SettledJob
from atrium.engine.jobs.settlement import settle
from atrium.ground.quotas import service as quotas
from atrium.ground.tenancy.model import Team
from atrium.kit.ids import new_id
from atrium.seams.context import Operation, Principal
from tests.postgres import run_as_owner
from tests.support.people import Company, found_company

# Must find nothing, at any committed instant.
AUDIT = """
    SELECT 'running drifted' AS what, t.team_id FROM job_teams t
     WHERE running <> (SELECT count(*) FROM jobs j WHERE j.team_id = t.team_id AND j.state = 'running')
    UNION ALL SELECT 'lane and team disagree', l.team_id FROM job_lanes l JOIN job_teams t USING (team_id) WHERE l.open <> t.open
    UNION ALL SELECT 'gate drifted', t.team_id FROM job_teams t JOIN orgs o ON o.id = t.org_id
     WHERE t.org_open <> (o.suspended_at IS NULL)
    UNION ALL SELECT 'company drifted', o.org_id FROM job_orgs o
     WHERE o.cap IS NOT NULL AND o.running <> (SELECT coalesce(sum(t.running), 0) FROM job_teams t WHERE t.org_id = o.org_id)
    UNION ALL SELECT 'cap of the company drifted', o.org_id FROM job_orgs o WHERE o.cap IS DISTINCT FROM job_org_cap(o.org_id)
    UNION ALL SELECT 'queued where nobody looks', q.team_id FROM (SELECT DISTINCT team_id, pool FROM jobs WHERE state = 'queued') q
      LEFT JOIN job_lanes l USING (team_id, pool)
     WHERE l.ready IS NOT TRUE AND NOT EXISTS (SELECT FROM job_wakes w WHERE w.team_id = q.team_id AND w.pool = q.pool)
"""
# Raises at the very statement that would break a promise.
TRIPWIRE = """
    CREATE OR REPLACE FUNCTION tripwire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.running > OLD.running AND NEW.running > NEW.cap THEN RAISE EXCEPTION 'TRIPPED: % of % running', NEW.running, NEW.cap; END IF;
      IF NEW.running > OLD.running AND EXISTS (SELECT FROM orgs WHERE id = NEW.org_id AND suspended_at IS NOT NULL)
        THEN RAISE EXCEPTION 'TRIPPED: claimed while suspended'; END IF;
      RETURN NEW; END $$;
    CREATE OR REPLACE TRIGGER tripwire BEFORE UPDATE ON job_teams FOR EACH ROW EXECUTE FUNCTION tripwire();
    CREATE OR REPLACE FUNCTION org_tripwire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      -- A cap that is lowered or set below what runs is no breach; starting one more above it is.
      IF NEW.running > OLD.running AND NEW.cap = OLD.cap AND NEW.running > NEW.cap
        THEN RAISE EXCEPTION 'TRIPPED: company with % of % running', NEW.running, NEW.cap; END IF;
      RETURN NEW; END $$;
    CREATE OR REPLACE TRIGGER tripwire BEFORE UPDATE ON job_orgs FOR EACH ROW EXECUTE FUNCTION org_tripwire();
"""


@dataclass(slots=True)
class Queue:
    """A house and its queue."""

    house: Application

    @property
    def url(self) -> str:
        return self.house.services.settings.database_url

    async def sql(self, text: str, *values: object) -> list[Any]:
        return await run_as_owner(self.url, text, *values)

    async def company(self) -> "Member":
        company = await found_company(self.house)
        return await self.member(company, company.team)

    async def member(self, company: Company, team: Team | None = None) -> "Member":
        """Somebody who queues in a team, a new one unless told."""
        team = team or await company.add_team()
        client = await company.join("member", team=team)
        who = Principal(
            user_id=UUID(client.user_id), team_id=team.id, org_id=company.org.id, username=client.username,
            role="member", permissions=frozenset({"chat:use"}),
        )  # fmt: skip
        return Member(self, company, team, Operation(who=who, services=self.house.services))

    async def claim(
        self,
        most: int = 100,
        kinds: Sequence[str] = ("probe.plain",),
        worker: UUID | None = None,
        bound_to: UUID | None = None,
    ) -> list[Claim]:
        return await attempts.claim(self.house.services.database, list(kinds), worker or new_id(), most, bound_to)

    async def begin(self, claims: list[Claim]) -> list[Attempt]:
        return await attempts.begin(self.house.services, claims)

    async def heartbeat(self, *claims: Claim) -> list[Lease]:
        async with self.house.services.database.begin_system() as db:
            return await queue_rows.extend(db, [c.id for c in claims], [c.token for c in claims])

    async def complete(self, claim: Claim, result: Any = None) -> SettledJob:
        return await settle(
            self.house.services, AttemptReport(claim=claim, outcome="succeeded", result=result or {"done": True})
        )

    async def fail(self, claim: Claim, **more: Any) -> SettledJob:
        return await settle(self.house.services, AttemptReport(claim=claim, outcome="failed", error="no", **more))

    async def hand_back(self, claim: Claim) -> SettledJob:
        return await settle(self.house.services, AttemptReport(claim=claim, outcome="returned"))

    async def expire(self, *claims: Claim) -> None:
        """As if the leases had run out."""
        await self.sql(
            "UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = ANY($1) AND state = 'running'",
            [c.id for c in claims],
        )

    async def sweep(self) -> int:
        return await service.sweep(self.house.services)

    async def state(self, id: UUID) -> str:
        return str((await self.sql("SELECT state FROM jobs WHERE id = $1", id))[0][0])

    async def broken_promises(self) -> list[str]:
        return [f"{row['what']} {row['team_id']}" for row in await self.sql(AUDIT)]

    async def empty(self) -> None:
        """No jobs of anybody; teams and companies stay."""
        await self.sql("TRUNCATE jobs, job_wakes, job_lanes, job_workers")
        await self.sql("UPDATE job_teams SET running = 0, org_full = false WHERE running > 0 OR org_full")
        await self.sql("UPDATE job_orgs SET running = 0 WHERE running > 0")


@dataclass(slots=True)
class Member:
    """Somebody in a team."""

    queue: Queue
    company: Company
    team: Team
    op: Operation

    async def enqueue(self, count: int = 1, kind: str = "probe.plain", **more: Any) -> list[UUID]:
        async with self.op.begin() as ctx:
            return await service.enqueue(ctx, kind, [{}] * count, **more)

    async def cancel(self, id: UUID) -> str:
        async with self.op.begin() as ctx:
            return (await service.cancel_job(ctx, id)).state

    async def read(self, id: UUID) -> Any:
        async with self.op.begin() as ctx:
            return msgspec.to_builtins(await service.read_job(ctx, id))

    async def cap(self, most: int | None, *, company: bool = False) -> None:
        scope = self.company.org.id if company else self.team.id
        await self.limit("jobs.concurrency", most, scope, "total")

    async def limit(self, dimension: Any, most: int | None, scope: UUID | None = None, window: Any = "day") -> None:
        async with self.op.begin() as ctx:
            await quotas.set_limit(ctx, self.company.org.id, scope or self.team.id, dimension, window, most)

    async def usage(self, dimension: str) -> tuple[int, int]:
        """Used and reserved by the team."""
        rows = await self.queue.sql(
            "SELECT day, reserved FROM quota_usage WHERE scope_id = $1 AND dimension = $2", self.team.id, dimension
        )
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

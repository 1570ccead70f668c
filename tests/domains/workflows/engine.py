"""The run engine under test: people who start runs, a worker that goes on with them, and a check of what was promised."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.engine.jobs import service as jobs
from atrium.engine.jobs.runner import Runner
from atrium.engine.workflows.progress import STEP_KIND
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.queue import AUDIT

# Must find nothing at any committed instant.
PROMISES = """
    SELECT 'a run without anything under way' AS what, r.id FROM runs r WHERE r.state = 'running'
       AND NOT EXISTS (SELECT FROM run_steps s JOIN jobs j ON j.id = s.job_id
                        WHERE s.run_id = r.id AND s.state = 'open' AND j.state IN ('queued', 'scheduled', 'running'))
    UNION ALL SELECT 'an ended run with something that waits', r.id FROM runs r JOIN run_steps s ON s.run_id = r.id
       JOIN jobs j ON j.id = s.job_id WHERE r.state <> 'running' AND j.state IN ('queued', 'scheduled')
    UNION ALL SELECT 'an ended job of an open step', s.run_id FROM run_steps s JOIN jobs j ON j.id = s.job_id
       WHERE s.state = 'open' AND j.state IN ('succeeded', 'failed', 'cancelled')
    UNION ALL SELECT 'two jobs for one step', (j.input ->> 'run_id')::uuid FROM jobs j WHERE j.kind = 'workflows.step'
       GROUP BY j.input ->> 'run_id', j.input ->> 'step', j.input ->> 'place' HAVING count(*) > 1
    UNION ALL SELECT 'a job without its step', j.id FROM jobs j LEFT JOIN run_steps s ON s.job_id = j.id
       WHERE j.kind = 'workflows.step' AND s.run_id IS NULL
    UNION ALL SELECT 'items not counted', m.run_id FROM run_steps m WHERE m.kind = 'map' AND m.place = -1 AND m.pending IS NOT NULL
       AND m.state = 'open' AND m.pending <> (SELECT count(*) FROM run_steps i
                                  WHERE i.run_id = m.run_id AND i.step = m.step AND i.place >= 0 AND i.state = 'open')
    UNION ALL SELECT 'failed items not counted', r.id FROM runs r WHERE r.state = 'running' AND r.failed_items IS NOT NULL
       OR r.failed_items <> (SELECT count(*) FROM run_steps i WHERE i.run_id = r.id AND i.place >= 0 AND i.state = 'failed')
"""


# Refuses the very commit that would break a promise: a job that ends without its step, a run that nothing is under way for.
AT_COMMIT = (
    """
    CREATE FUNCTION job_reaches_its_run() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF EXISTS (SELECT FROM run_steps s JOIN jobs j ON j.id = s.job_id
                  WHERE s.job_id = NEW.id AND s.state = 'open' AND j.state IN ('succeeded', 'failed', 'cancelled'))
        THEN RAISE EXCEPTION 'TRIPPED: job % ended and its step did not', NEW.id; END IF;
      RETURN NULL; END $$
    """,
    """
    CREATE FUNCTION run_goes_on() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF EXISTS (SELECT FROM runs r WHERE r.id = NEW.id AND r.state = 'running'
          AND NOT EXISTS (SELECT FROM run_steps s JOIN jobs j ON j.id = s.job_id WHERE s.run_id = r.id AND s.state = 'open'
                             AND j.state IN ('queued', 'scheduled', 'running')))
        THEN RAISE EXCEPTION 'TRIPPED: nothing is under way for run %', NEW.id; END IF;
      RETURN NULL; END $$
    """,
    """
    CREATE CONSTRAINT TRIGGER job_reaches_its_run AFTER UPDATE ON jobs DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.kind = 'workflows.step') EXECUTE FUNCTION job_reaches_its_run()
    """,
    """
    CREATE CONSTRAINT TRIGGER run_goes_on AFTER INSERT OR UPDATE ON runs DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION run_goes_on()
    """,
)


@dataclass(slots=True)
class Engine:
    """A server and its runs."""

    server: Application

    async def sql(self, text: str, *values: object) -> list[Any]:
        return await run_as_owner(self.server.services.settings.database_url, text, *values)

    async def company(self) -> "Starter":
        company = await found_company(self.server)
        client = await company.join("admin")
        return Starter(self, company, client)

    async def empty(self) -> None:
        await self.sql("TRUNCATE runs, run_steps, run_objects, jobs, job_wakes, job_lanes, job_workers")
        await self.sql("UPDATE job_teams SET running = 0, org_full = false WHERE running > 0 OR org_full")

    async def broken_promises(self) -> list[str]:
        found = await self.sql(PROMISES) + await self.sql(AUDIT)
        return [f"{row[0]} {row[1]}" for row in found]

    @asynccontextmanager
    async def working(self, concurrency: int = 4) -> AsyncIterator[Runner]:
        """A worker, and what a server does in the background."""
        runner = Runner(self.server.services, concurrency)
        runner.start()
        sweeping = asyncio.create_task(self._sweep())
        try:
            yield runner
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            await runner.stop(0)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(0.2)
            await jobs.sweep(self.server.services)

    async def expire(self) -> None:
        """As if every lease had run out."""
        await self.sql(
            "UPDATE jobs SET lease_until = now() - interval '1 second' WHERE state = 'running' AND kind = $1", STEP_KIND
        )


@dataclass(slots=True)
class Starter:
    """A person with a team who publishes and starts."""

    engine: Engine
    company: Company
    client: Client

    async def publish(self, spec: dict[str, Any]) -> dict[str, Any]:
        reply = await self.client.post("/api/workflows", spec)
        assert reply.status == 201, reply.body
        return dict(reply.body)

    async def start(self, slug: str, input: dict[str, Any] | None = None, **more: Any) -> UUID:
        body = {**({"input": input} if input is not None else {}), **more}
        reply = await self.client.post(f"/api/workflows/{slug}/run", body)
        assert reply.status == 202, reply.body
        return UUID(reply["id"])

    async def read(self, id: UUID) -> dict[str, Any]:
        reply = await self.client.get(f"/api/runs/{id}")
        assert reply.status == 200, reply.body
        return dict(reply.body)

    async def ended(self, id: UUID, seconds: float = PATIENCE) -> dict[str, Any]:
        async with asyncio.timeout(seconds):
            while (run := await self.read(id))["state"] == "running":
                await asyncio.sleep(0.02)
        return run

    async def run(self, spec: dict[str, Any], input: dict[str, Any] | None = None) -> dict[str, Any]:
        """Publish, start and wait for the end."""
        await self.publish(spec)
        id = await self.start(spec["slug"], input)
        async with self.engine.working():
            return await self.ended(id)


def spec_of(*steps: dict[str, Any], slug: str = "probe", **more: Any) -> dict[str, Any]:
    """A spec of these steps."""
    return {"slug": slug, "start": steps[0]["name"], "max_steps": 1000, "steps": list(steps), **more}


def tool(name: str, tool: str, with_: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A step that calls a tool of the tests."""
    return {"name": name, "kind": "tool", "tool": f"probe_{tool}", "with": with_ or {}, **more}


def ref(name: str, **more: Any) -> dict[str, Any]:
    """A reference."""
    return {"$": name, **more}

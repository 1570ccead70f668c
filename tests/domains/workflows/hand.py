"""A worker whose every move a test decides: it claims, performs and reports one attempt at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from atrium.engine.jobs import attempts, service
from atrium.engine.jobs.model import Attempt, AttemptReport, JobStream, SettledJob
from atrium.engine.jobs.runner import _performed
from atrium.engine.jobs.settlement import settle_and_take
from atrium.engine.workflows.progress import STEP_KIND
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import HoldLevel, Operation
from atrium.seams.jobs import Assignment
from tests.domains.workflows.engine import Engine


@dataclass(slots=True)
class Hand:
    """One worker."""

    engine: Engine
    id: UUID = field(default_factory=new_id)

    async def claim(self, most: int = 1, kinds: Sequence[str] = (STEP_KIND,)) -> list[Attempt]:
        """Attempts that may begin."""
        services = self.engine.server.services
        return await attempts.begin(services, await attempts.claim(services.database, list(kinds), self.id, most, None))

    async def perform(self, attempt: Attempt) -> AttemptReport:
        """Do what the attempt is for, as a worker process does; it has not ended yet."""
        claim, services = attempt.claim, self.engine.server.services
        op = Operation(who=attempt.owner, services=services, request_id=str(claim.id), holding=HoldLevel.CREDENTIAL)
        assignment = Assignment(
            id=claim.id, kind=claim.kind, model=claim.model, attempt=claim.attempt, arguments=attempt.arguments,
            lease_until=claim.lease_until,
        )  # fmt: skip
        return await _performed(op, attempt, assignment)

    async def settle(self, report: AttemptReport, *, take: bool = False) -> tuple[SettledJob, Attempt | None]:
        """End the attempt; with `take` go on with what follows from it, where its turn is next."""
        if take:
            report = replace(report, take=self._take)
        return await settle_and_take(self.engine.server.services, report)

    async def _take(self, db: Transaction, following: JobStream, most: int) -> list[Attempt]:
        return await attempts.claim_next(self.engine.server.services, db, following, self.id, most)

    async def do(self, attempt: Attempt, *, take: bool = False) -> tuple[SettledJob, Attempt | None]:
        """Perform and end the attempt."""
        return await self.settle(await self.perform(attempt), take=take)

    async def work(self, most: int = 1000) -> int:
        """Until nothing can be claimed; how many attempts that took."""
        done = 0
        while done < most and (attempts := await self.claim()):
            for attempt in attempts:
                await self.do(attempt)
                done += 1
        return done

    async def stage(self) -> None:
        """As if the time of everything put off had come."""
        await self.engine.sql("UPDATE jobs SET run_at = now() - interval '1 second' WHERE state = 'scheduled'")
        await self.engine.sql("UPDATE job_lanes SET opens_at = now() - interval '1 second' WHERE opens_at IS NOT NULL")
        await service.sweep(self.engine.server.services)


def job_of(run: dict[str, Any], step: str) -> str:
    """The job of a run's step."""
    return next(str(one["job_id"]) for one in run["steps"] if one["name"] == step)

"""27. Take away one lock, check or wake at a time and see the stress fail: `python -m tests.domains.jobs.mutants`.

Each mutant is the schema with one phrase changed. A mutant that survives means a protection nobody would miss, or a stress
that is not hard enough; either way it is printed and the exit code is 1.
"""

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from atrium.kit.telemetry.log import set_up_logging
from atrium.seams.setting_values import LogLevel
from tests.domains.jobs import stress
from tests.domains.jobs.kinds import WITH_PROBES
from tests.postgres import fresh_database, run_as_owner
from tests.support.queue import TRIPWIRE, Queue
from tests.support.schema_functions import newest
from tests.support.servers import open_application, settings_for

# A claim is over in a millisecond, and the moments between its steps in less; here they last long enough to be met.
PAUSES = (
    (
        "AND l.team_id <> ALL (passing)\n                 ORDER BY l.turn",
        "AND l.team_id <> ALL (passing) AND pg_sleep(0.001) IS NOT NULL\n                 ORDER BY l.turn",
    ),
    (
        "    RETURN QUERY\n      UPDATE jobs j SET state = 'running'",
        "    PERFORM pg_sleep(0.005);\n    RETURN QUERY\n      UPDATE jobs j SET state = 'running'",
    ),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One phrase of one function, and what it becomes."""

    name: str
    function: str
    phrase: str
    becomes: str = ""


MUTANTS = (
    Mutant("a claim does not hold the team", "claim_jobs", "LIMIT most - got FOR NO KEY UPDATE OF t SKIP LOCKED", "LIMIT most - got"),
    Mutant("a claim does not hold the jobs", "claim_jobs", "           FOR NO KEY UPDATE SKIP LOCKED) j", ") j"),
    Mutant("a claim does not cut at the cap", "claim_jobs", "FROM head WHERE nth <= room", "FROM head WHERE true"),
    Mutant("a claim does not look at the team's gate again", "claim_jobs", "WHERE l.ready AND t.open AND", "WHERE l.ready AND"),
    Mutant("a claim ignores the company's cap", "claim_jobs", "OR s.org_nth <= o.cap - o.running AS fits", "OR true AS fits"),
    Mutant("a claim does not hold the company", "claim_jobs", "ORDER BY o.org_id FOR NO KEY UPDATE) x", "ORDER BY o.org_id) x"),
    Mutant("a claim counts nothing", "claim_jobs", "SET running = t.running + s.n,", "SET running = t.running,"),
    Mutant("a woken lane stays idle", "claim_jobs", "DO UPDATE SET ready = true WHERE NOT l.ready", "DO NOTHING"),
    Mutant("a served lane is taken for empty", "claim_jobs", "ready = EXISTS (SELECT", "ready = NOT EXISTS (SELECT"),
    Mutant("settling ignores the token", "settle_jobs", "AND j.claim_token = u.token"),
    Mutant("settling ignores the lease", "settle_jobs", "AND j.lease_until > clock_timestamp()", ""),
    Mutant("settling gives no place back", "settle_jobs", "free_job_slots(company, array_agg(e.team_id))", "count(*)"),
    Mutant("lapsing does not look at the lease", "lapse_jobs", "AND j.lease_until < clock_timestamp()"),
    Mutant("lapsing gives no place back", "lapse_jobs", "PERFORM free_job_slots(company, teams);"),
    Mutant("lanes do not follow their team", "job_lanes_follow", "AND open <> NEW.open", "AND false"),
    Mutant("a suspension closes nothing", "job_gate", "AND t.org_open <> g.open", "AND false"),
    Mutant("a team is born open", "job_team_born", "company_open AND coalesce(instance_open, true)", "true"),
    Mutant("a changed cap is not taken over", "job_caps_follow", "SET cap = job_org_cap(company),", "SET cap = NULL,"),
)  # fmt: skip


def slowed() -> str:
    """The claim as it is, with pauses."""
    body = newest()["claim_jobs"].replacing
    for step, paused in PAUSES:
        if step not in body:
            raise SystemExit(f"a pause has lost its place: {step}")
        body = body.replace(step, paused)
    return body


def mutated(mutant: Mutant) -> str:
    """The newest definition of the function with the change, in place of it."""
    body = slowed() if mutant.function == "claim_jobs" else newest()[mutant.function].replacing
    if mutant.phrase not in body:
        raise SystemExit(f"{mutant.name}: the phrase is gone from {mutant.function}; rewrite the mutant")
    return body.replace(mutant.phrase, mutant.becomes)


async def problems_of(mutant: Mutant | None, jobs: int) -> list[str]:
    """What the stress finds with this change; nothing is changed for None."""
    with tempfile.TemporaryDirectory() as folder:
        async with fresh_database() as url:
            statements = [f"CREATE OR REPLACE {part.strip()}" for part in TRIPWIRE.split("CREATE OR REPLACE ")[1:]]
            statements.append(slowed())
            for statement in [*statements, *([mutated(mutant)] if mutant else [])]:
                await run_as_owner(url, statement)
            async with open_application(settings_for(url, data_dir=Path(folder)), domains=WITH_PROBES) as house:
                return await stress.run(Queue(house), jobs, seconds=25, disturbed=6)


async def main() -> int:
    wanted = [mutant for mutant in MUTANTS if not sys.argv[1:] or any(word in mutant.name for word in sys.argv[1:])]
    survived = 0
    set_up_logging(LogLevel.ERROR)
    if found := await problems_of(None, 1200):
        raise SystemExit(f"the stress fails without any mutant: {found[:3]}")
    for mutant in wanted:
        found = await problems_of(mutant, 1200)
        survived += not found
        print(f"{'killed  ' if found else 'SURVIVED'} {mutant.name}: {found[0][:100] if found else ''}", flush=True)
    print(f"{len(wanted) - survived} of {len(wanted)} killed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

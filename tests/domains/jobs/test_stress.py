"""19. No deadlock, no loss and no broken promise with everything happening at once."""

import os

import pytest

from tests.domains.jobs import stress
from tests.domains.jobs.mutants import MUTANTS, Mutant, mutated, slowed
from tests.support.patience import PATIENCE
from tests.support.queue import Queue
from tests.support.schema_functions import newest

JOBS = 10_000 if os.environ.get("ATRIUM_FULL") else 600


async def test_19_a_few_jobs_end_once_while_workers_stall_and_operators_interfere(queue: Queue) -> None:
    assert await stress.run(queue, 60, seconds=PATIENCE) == []


@pytest.mark.proof
@pytest.mark.timeout(900)
async def test_19_every_job_ends_once_while_workers_stall_and_operators_interfere(queue: Queue) -> None:
    assert await stress.run(queue, JOBS, seconds=600) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_27_every_mutant_still_changes_something(mutant: Mutant) -> None:
    """The mutants themselves are run by `python -m tests.domains.jobs.mutants`."""
    body = slowed() if mutant.function == "claim_jobs" else newest()[mutant.function].replacing

    assert mutated(mutant) != body.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)

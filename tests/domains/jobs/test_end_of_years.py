"""A finding about jobs: none waits for the end of all years."""

import pytest

from tests.domains.s3.test_odd_requests import FAR
from tests.support.people import Company

pytestmark = pytest.mark.finding


@pytest.mark.parametrize("moment", FAR)
async def test_f16_a_job_for_the_end_of_all_years_is_refused(company: Company, moment: str) -> None:
    owner = await company.join("owner")
    turn = {"kind": "ai.turn", "input": {"messages": [{"role": "user", "content": "x"}]}, "run_at": moment}

    answer = await owner.post("/api/jobs", turn)

    assert answer.status == 400, answer.raw

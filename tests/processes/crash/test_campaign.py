"""kill -9 of servers and workers, crashes of PostgreSQL, under load: the queue is back within its lease, loses and repeats nothing."""

from pathlib import Path

import pytest

from tests.postgres import run_as_owner
from tests.processes.crash.campaign import CAP, campaigning, fight
from tests.support.load import chance
from tests.support.processes import private_postgres, rounds

pytestmark = [pytest.mark.proof, pytest.mark.timeout(3600)]


async def test_nothing_acknowledged_is_lost_or_done_twice_whoever_is_killed(tmp_path: Path) -> None:
    with private_postgres() as postgres:
        async with campaigning(postgres, tmp_path, chance()) as campaign:
            took = await fight(campaign, rounds(2, 40))

            print(
                f"{len(campaign.queued)} jobs, recoveries {[round(one, 1) for one in took]} s, {dict(campaign.statuses)}"
            )
            capped = await run_as_owner(campaign.url, "SELECT min(cap) FROM job_teams")
    assert campaign.wrong == []
    assert set(campaign.statuses) <= {200, 201, 204, 409, 503}
    assert capped[0][0] == CAP
    assert len(campaign.queued) > 20
    assert sum(campaign.landed.values()) > 3

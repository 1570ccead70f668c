"""First runs at the same moment, through two servers: one of them founds the instance."""

import asyncio

import httpx
import pytest

from tests.postgres import run_as_owner
from tests.processes.races.conftest import Pair, statuses
from tests.support.processes import FIRST_RUN, holding, rounds, sized, until_queued

MANY, AT_ONCE = sized(12, 50), sized(8, 20)
pytestmark = pytest.mark.timeout(1800)


def run_of(number: int, alike: bool) -> dict[str, str]:
    """The same wish many times, or as many wishes that have nothing in common."""
    return FIRST_RUN if alike else FIRST_RUN | {"username": f"ada{number}", "org": f"Acme {number}"}


async def first_runs(pair: Pair, alike: bool) -> list[httpx.Response]:
    """Many first runs; none may claim the instance before AT_ONCE of them stand in its door."""
    async with pair.servers[0].client() as one, pair.servers[1].client() as other:
        clients = (one, other)
        async with holding(pair.url, "LOCK TABLE instance IN SHARE MODE"):
            sent = [
                asyncio.create_task(clients[n % 2].post("/api/bootstrap", json=run_of(n, alike))) for n in range(MANY)
            ]
            await until_queued(pair.url, AT_ONCE)
        return await asyncio.gather(*sent)


@pytest.mark.parametrize("alike", [True, False], ids=["same-names", "different-names"])
async def test_of_fifty_first_runs_one_founds_the_instance_and_the_others_leave_nothing(
    pair: Pair, alike: bool
) -> None:
    for _ in rounds(1, 40):
        await pair.empty()

        answers = await first_runs(pair, alike)

        assert statuses(answers) == [201] + [409] * (MANY - 1)
        winner = next(answer.json() for answer in answers if answer.status_code == 201)
        for table in ("orgs", "teams", "users", "tokens", "instance", "audit_events"):
            assert await pair.count(f"SELECT count(*) FROM {table}") == 1, table
        operator = await run_as_owner(pair.url, "SELECT operator_id::text, org_id::text FROM instance")
        assert tuple(operator[0]) == (winner["user"]["id"], winner["org"]["id"])


async def test_a_first_run_after_the_first_is_refused_for_good(pair: Pair) -> None:
    await pair.founded()

    async with pair.servers[1].client() as client:
        answer = await client.post("/api/bootstrap", json=FIRST_RUN | {"username": "eve", "org": "Other"})

    assert (answer.status_code, answer.json()["code"]) == (409, "instance.bootstrapped")
    assert await pair.count("SELECT count(*) FROM users") == 1

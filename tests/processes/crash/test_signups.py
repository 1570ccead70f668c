"""Many strangers, few proofs, kill -9 and a crash of PostgreSQL: a proof is spent once, a person is there once, no promise is broken."""

import os
from pathlib import Path

import pytest

from tests.processes.crash.servers import CARELESS, HURRIED
from tests.processes.crash.signups import Size, rage, storming
from tests.support.load import chance
from tests.support.processes import private_postgres, rounds

pytestmark = [pytest.mark.proof, pytest.mark.timeout(1800)]
SHORT, FULL = Size(signups=600, proofs=60, people=30), Size(signups=10_000, proofs=1_000, people=500)


async def test_each_proof_is_spent_once_and_each_person_kept_once_whoever_is_killed(tmp_path: Path) -> None:
    size = FULL if os.environ.get("ATRIUM_FULL") else SHORT
    with private_postgres() as postgres:
        async with storming(postgres, tmp_path, size, chance()) as storm:
            await rage(storm, rounds(1, 6))

    print(f"{len(storm.acknowledged)} acknowledged, {dict(storm.statuses)}")
    assert storm.wrong == []
    assert set(storm.statuses) <= {202, 409, 503}
    assert len(storm.acknowledged) > size.proofs / 2


@pytest.mark.parametrize(
    ("module", "symptom"),
    [(CARELESS, "was accepted twice"), (HURRIED, "lost: ")],
    ids=["looked-up-first", "reply-first"],
)
async def test_these_checks_catch_a_server_that_breaks_its_promise(
    tmp_path: Path, module: tuple[str, ...], symptom: str
) -> None:
    with private_postgres() as postgres:
        async with storming(postgres, tmp_path, Size(signups=400, proofs=20, people=10), chance(), module) as storm:
            await rage(storm, range(1))

    assert [text for text in storm.wrong if symptom in text], storm.wrong

"""The short form of `python -m benchmarks.bench_polls`: workers that wait cost next to nothing and are served at once.

test_workers.py says the same of a few without a clock.
"""

import pytest

from benchmarks.bench_polls import measure


@pytest.mark.proof
async def test_fifty_waiting_workers_cost_little_and_get_a_new_job_at_once() -> None:
    found = await measure(workers=50, seconds=4, jobs=20)

    assert found.idle.server + found.idle.backends < 10
    assert found.idle.connections <= 10
    assert found.wait(0.5) < 0.1

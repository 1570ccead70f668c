"""A short run of the request benchmark, to notice when answering becomes much dearer than the SQL it takes."""

import pytest

from benchmarks.bench_requests import Comparison, against_bare
from benchmarks.load import Kind

pytestmark = pytest.mark.finding

FLOOR = {Kind.READ: 0.60, Kind.LIST: 0.70, Kind.CREATE: 0.70}


def share_of(one: Comparison) -> float:
    """What is left of the bare app's speed. Neighbours on the machine spoil one of the two measures, never both upwards."""
    return max(one.ratio, 1 / one.cpu_ratio)


@pytest.mark.proof
async def test_requests_keep_most_of_the_speed_of_a_bare_app_with_the_same_sql() -> None:
    report = await against_bare(rounds=5, seconds=1, companies=5)

    found = {one.kind: share_of(one) for one in report.comparisons}
    assert found.keys() == FLOOR.keys()
    assert {kind: share for kind, share in found.items() if share < FLOOR[kind]} == {}

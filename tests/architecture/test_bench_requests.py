"""What `benchmarks.bench_requests` says of its rounds: medians, how far they lie apart, and whether goals were met."""

import pytest

from benchmarks.bench_requests import CHANGE_GOAL, Comparison, Goal, Report, describe, spread_of
from benchmarks.load import WITHOUT_INDEX, Kind, Run

RUN = Run(1000.0, 1.0, 2.0, 250.0)


def comparison(ratio: float, cpu_ratio: float, kind: Kind = Kind.SEARCH) -> Comparison:
    return Comparison(kind, ratio, cpu_ratio, RUN, RUN, [ratio], [cpu_ratio - 0.1, cpu_ratio, cpu_ratio + 0.2])


def test_a_spread_is_from_the_least_to_the_most_with_its_quarters() -> None:
    spread = spread_of([1.4, 1.0, 1.1, 1.2, 1.3])

    assert (spread.least, spread.quarter, spread.median, spread.three_quarters, spread.most) == (
        1.0,
        1.1,
        1.2,
        1.3,
        1.4,
    )
    assert str(spread) == "1.000 to 1.400, half of the rounds 1.100 to 1.300"


def test_one_round_has_a_spread_too() -> None:
    assert str(spread_of([0.98])) == "0.980 to 0.980, half of the rounds 0.980 to 0.980"


@pytest.mark.parametrize(
    ("ratio", "cpu_ratio", "met"), [(0.97, 1.05, True), (0.96, 1.0, False), (1.1, 1.06, False), (0.9, 1.2, False)]
)
def test_a_change_is_judged_by_its_rate_and_by_its_processor_time(ratio: float, cpu_ratio: float, met: bool) -> None:
    assert CHANGE_GOAL.is_met(comparison(ratio, cpu_ratio)) is met


def test_a_goal_without_processor_time_judges_the_rate_alone() -> None:
    assert Goal(0.9).is_met(comparison(0.95, 3.0))


def test_the_report_tells_medians_goals_and_spread() -> None:
    report = Report("new", "old", 20, 5, "wrk", "3.11", [comparison(1.01, 1.1)])

    told = describe(report, {Kind.SEARCH: CHANGE_GOAL})

    assert "search  1.010  (goal 0.97, met): 1.010 to 1.010" in told
    assert "processor time 1.100  (at most 1.05, MISSED): 1.000 to 1.300, half of the rounds 1.050 to 1.200" in told


def test_writing_comes_last_and_search_needs_an_index() -> None:
    assert list(Kind)[-1] is Kind.CREATE
    assert set(Kind) - set(WITHOUT_INDEX) == {Kind.SEARCH}

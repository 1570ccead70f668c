"""The rate of one credential: a minute's burst, then one by one, told to the caller as it goes."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.edge import limits
from atrium.edge.limits import Rates
from atrium.ground.limits.model import TooOften

ANN, BEN = UUID(int=1), UUID(int=2)


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(limits, "time", clock)
    return clock


def left_of(header: bytes) -> int:
    found = re.fullmatch(rb'"credential";r=(\d+);t=(\d+)', header)
    assert found is not None
    assert 0 <= int(found[2]) <= 61
    return int(found[1])


def admitted(rates: Rates, credential: UUID, times: int) -> int:
    count = 0
    for _ in range(times):
        try:
            rates.admit(credential)
        except TooOften:
            break
        count += 1
    return count


def test_a_minutes_worth_is_admitted_at_once_and_counted_down(clock: Clock) -> None:
    rates = Rates(5)

    assert [left_of(rates.admit(ANN)) for _ in range(5)] == [4, 3, 2, 1, 0]
    with pytest.raises(TooOften):
        rates.admit(ANN)


def test_the_refused_are_told_when_to_come_back_and_then_are_welcome(clock: Clock) -> None:
    rates = Rates(5)
    admitted(rates, ANN, 5)

    with pytest.raises(TooOften) as refused:
        rates.admit(ANN)
    wait = refused.value.facts["retry_after"]
    assert isinstance(wait, int)
    assert 12 <= wait <= 13
    clock.now += wait

    assert admitted(rates, ANN, 2) == 1


def test_being_refused_costs_nothing(clock: Clock) -> None:
    rates = Rates(5)
    admitted(rates, ANN, 5)
    for _ in range(100):
        with pytest.raises(TooOften):
            rates.admit(ANN)

    clock.now += 12.01

    assert admitted(rates, ANN, 5) == 1


def test_after_a_quiet_minute_the_whole_burst_is_back(clock: Clock) -> None:
    rates = Rates(5)
    admitted(rates, ANN, 5)

    clock.now += 60

    assert admitted(rates, ANN, 10) == 5


def test_credentials_do_not_share(clock: Clock) -> None:
    rates = Rates(5)
    admitted(rates, ANN, 5)

    assert admitted(rates, BEN, 10) == 5


def test_those_long_gone_are_forgotten(clock: Clock) -> None:
    rates = Rates(6000)
    for number in range(10_000):
        rates.admit(UUID(int=number))
    clock.now += 60

    rates.admit(ANN)

    assert len(rates._arrives) == 1


def test_the_policy_is_told_in_the_same_words() -> None:
    assert Rates(6000).policy == b'"credential";q=6000;w=60'


@given(st.integers(1, 600), st.lists(st.floats(0, 30), max_size=40))
def test_no_pattern_of_asking_gets_more_than_the_burst_and_the_rate(per_minute: int, pauses: list[float]) -> None:
    clock, rates, count = Clock(), Rates(per_minute), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "time", clock)
        for pause in pauses:
            clock.now += pause
            count += admitted(rates, ANN, 20)

    assert count <= per_minute + (clock.now - 1000) * per_minute / 60 + 1

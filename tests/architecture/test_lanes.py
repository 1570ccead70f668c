"""The gate holds no clock, draws nothing without a seed, and loses no test."""

import ast
import json
from collections.abc import Callable, Iterator

import pytest

from tests import lanes, processor
from tests.architecture import clocks, long_tests

Rule = Callable[[str, ast.Module], Iterator[str]]
# A port must be free, whichever it is.
DRAWN = {"support/processes.py"}


@pytest.mark.parametrize("rule", [clocks.clocks_in_assertions, clocks.unseeded_draws])
def test_the_gate_keeps_the_rule(rule: Rule) -> None:
    assert [line for path, tree in clocks.modules() if path not in DRAWN for line in rule(path, tree)] == []


def long_faults(spent: dict[str, float], long: dict[str, str], gate: set[str]) -> Iterator[str]:
    """Where the list of long tests and what was measured of those of the gate do not agree."""
    longest: dict[str, float] = {}
    for case, seconds in spent.items():
        test = case.split("[")[0]
        longest[test] = max(seconds, longest.get(test, 0))
    for test in sorted(gate):
        if longest.get(test, 0) > processor.LONG and test not in long:
            yield f"{test} takes {longest[test]} s of the processor: make it shorter, or a proof"
    for test in long:
        if test not in gate or longest.get(test, 0) <= processor.LISTED:
            yield f"{test} is no long test of the gate any more: take it from the list"


def gate_of_today() -> set[str]:
    return {test for test, lane in lanes.tests_now().items() if lane == "gate"}


def test_a_long_test_is_named_with_its_reason_and_the_list_only_shrinks() -> None:
    measured = json.loads(processor.FIGURES.read_text())["tests"]

    assert list(long_faults(measured, long_tests.LONG, gate_of_today())) == []
    assert len(long_tests.LONG) <= long_tests.MOST


def test_a_long_test_without_a_reason_and_a_reason_without_a_long_test_are_found() -> None:
    spent, gate = (
        {"a::test_long[1]": 2.5, "a::test_long[2]": 0.1, "a::test_quick": 1.1},
        {"a::test_long", "a::test_quick"},
    )

    assert list(long_faults(spent, {"a::test_long": "-", "a::test_quick": "-"}, gate)) == []
    [missing] = long_faults(spent, {}, gate)
    assert missing.startswith("a::test_long takes 2.5 s")
    [gone] = long_faults(spent, {"a::test_long": "-", "a::test_gone": "-"}, gate)
    assert gone.startswith("a::test_gone")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            clocks.clocks_in_assertions,
            "def test_a():\n    began = time.monotonic()\n    assert time.monotonic() - began < 2",
        ),
        (clocks.clocks_in_assertions, "async def test_a():\n    took = loop.time() - x\n    assert 2 > took"),
        (
            clocks.clocks_in_assertions,
            "def spent():\n    began = time.perf_counter()\n    return time.perf_counter() - began\n"
            "def test_a():\n    quick = spent()\n    assert quick <= 0.25",
        ),
        (clocks.unseeded_draws, "import random\nx = random.choice([1])"),
        (clocks.unseeded_draws, "from random import Random\nx = Random()"),
    ],
)
def test_a_breach_is_found(rule: Rule, text: str) -> None:
    assert list(rule("test_a.py", ast.parse(text)))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (clocks.clocks_in_assertions, "@pytest.mark.proof\ndef test_a():\n    assert time.monotonic() - x < 2"),
        (clocks.clocks_in_assertions, "def test_a():\n    assert time.monotonic() - x > 2"),
        (clocks.clocks_in_assertions, "def test_a():\n    assert time.monotonic() - x < PATIENCE"),
        (clocks.unseeded_draws, "from random import Random\nx = Random(1).choice([1])"),
    ],
)
def test_what_holds_on_a_busy_machine_is_none(rule: Rule, text: str) -> None:
    assert list(rule("test_a.py", ast.parse(text))) == []


def test_a_lost_test_is_told_from_one_that_moved() -> None:
    now = dict(lanes.tests_in("tests/b.py", "def test_moved(): ...\n@pytest.mark.proof\ndef test_slow(): ..."))

    counted, lost = lanes.compare({"tests/a.py::test_moved", "tests/b.py::test_slow", "tests/a.py::test_gone"}, now)

    assert dict(counted) == {"gate": 1, "proofs": 1}
    assert lost == ["tests/a.py::test_gone"]
    twice = {"tests/a.py::test_moved", "tests/c.py::test_moved"}
    assert lanes.compare(twice, now)[1] == ["tests/c.py::test_moved"]
    assert lanes.compare(twice, now, {"tests/c.py": "tests/b.py"})[1] == ["tests/a.py::test_moved"]


def test_each_test_is_listed_with_its_lane() -> None:
    old, new = min(lanes.REPLACED.items())
    now = {"tests/b.py::test_moved": "gate", "tests/b.py::test_slow": "proofs", new: "gate"}

    lines = lanes.listed({"tests/a.py::test_moved", "tests/b.py::test_slow", "tests/a.py::test_gone", old}, now)

    assert len(lines) == 5
    assert {tuple(line.split(maxsplit=1)) for line in lines} == {
        ("gone", "tests/a.py::test_gone"),
        ("gate", "tests/a.py::test_moved"),
        ("replaced", old),
        ("proofs", "tests/b.py::test_slow"),
        ("gate", f"{new}  (new)"),
    }

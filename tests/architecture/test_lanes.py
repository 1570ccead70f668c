"""The gate holds no clock, draws nothing without a seed, and loses no test."""

import ast
from collections.abc import Callable, Iterator

import pytest

from tests import lanes
from tests.architecture import clocks

Rule = Callable[[str, ast.Module], Iterator[str]]
# A port must be free, whichever it is.
DRAWN = {"processes.py"}


@pytest.mark.parametrize("rule", [clocks.clocks_in_assertions, clocks.unseeded_draws])
def test_the_gate_keeps_the_rule(rule: Rule) -> None:
    assert [line for path, tree in clocks.modules() if path not in DRAWN for line in rule(path, tree)] == []


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

"""Files that take long come first, and the order is the same in every process."""

import pytest

from tests import order


def test_files_come_by_what_their_tests_take_together() -> None:
    tests = [f"tests/a.py::test_{number}" for number in range(20)] + [
        "tests/b.py::test_long[x]",
        "tests/c.py::test_one",
    ]
    known = {"tests/b.py::test_long[x]": 24.8, "tests/gone.py::test_gone": 90.0}

    assert order.longest_first(tests, known) == ["tests/b.py", "tests/a.py", "tests/c.py"]
    assert order.longest_first(reversed(tests), known) == ["tests/b.py", "tests/a.py", "tests/c.py"]


def test_files_that_take_the_same_come_by_name() -> None:
    assert order.longest_first(["b.py::test_b", "a.py::test_a", "c.py::test_c"], {}) == ["a.py", "b.py", "c.py"]


def test_what_was_measured_is_known() -> None:
    assert min(order.known_seconds().values()) > order.USUAL


def test_files_are_given_out_in_the_order_of_collection(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.option.loadscopereorder is False

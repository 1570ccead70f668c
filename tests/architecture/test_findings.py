"""The page of findings and the tests that hold them: every number on one side has its match on the other."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.finding

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security" / "findings.md"
NUMBERS = (
    {f"F{n}" for n in range(1, 24)}
    | {f"D{n}" for n in range(4, 20)} - {"D6"}
    | {f"G{n}" for n in range(1, 17)}
    | {f"E{n}" for n in range(1, 26)}
    | {"P1"}
)
_ROW = re.compile(r"^\| ((?:[A-Z]\d+)(?:, [A-Z]\d+)*) \|.*\| ([^|]+) \|$", re.MULTILINE)
# A file below the root with a test of it, another test of the same file; all tests of a number end with an ellipsis; a page of decisions.
_TESTS = re.compile(r"`(?:([\w/]+\.py)::)?(test_\w+)(…?)`")
_DECISION = re.compile(r"\]\(\.\./decisions/([\w-]+\.md)\)")
_NAME = re.compile(r"^(?:async )?def (test_(?:[fdgep]\d+_)+\w+)", re.MULTILINE)
_NUMBERS = re.compile(r"test_((?:[fdgep]\d+_)+)")


def rows() -> list[tuple[list[str], str]]:
    """The numbers of each row and what its last cell names."""
    return [(numbers.split(", "), named) for numbers, named in _ROW.findall(PAGE.read_text())]


def numbers_in(name: str) -> set[str]:
    """The findings that a test is named by."""
    found = _NUMBERS.match(name)
    return {part.upper() for part in found[1].split("_") if part} if found else set()


def functions() -> dict[str, set[str]]:
    """Tests that are named by a finding, by their file below the root."""
    found = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        if names := set(_NAME.findall(path.read_text())):
            found[path.relative_to(ROOT).as_posix()] = names
    return found


def named_in(cell: str) -> list[tuple[str, str, bool]]:
    """File, function and whether it is the beginning of several, of every test that a cell names."""
    file, found = "", []
    for path, name, several in _TESTS.findall(cell):
        file = path or file
        found.append((file, name, bool(several)))
    return found


def test_every_finding_is_on_the_page_once() -> None:
    listed = [number for numbers, _ in rows() for number in numbers]

    assert sorted(listed) == sorted(set(listed))
    assert NUMBERS - set(listed) == set()


def test_every_row_names_a_test_or_a_decision() -> None:
    missing = [numbers for numbers, cell in rows() if not named_in(cell) and not _DECISION.search(cell)]

    assert missing == []
    assert [page for _, cell in rows() for page in _DECISION.findall(cell) if not _decision(page).exists()] == []


def _decision(page: str) -> Path:
    return ROOT / "docs" / "decisions" / page


def test_the_page_names_tests_of_the_findings_own_number() -> None:
    held = functions()

    wrong = [
        (file, name)
        for numbers, cell in rows()
        for file, name, several in named_in(cell)
        if not any(one == name or (several and one.startswith(name)) for one in held.get(file, ()))
        or numbers_in(f"{name}_").isdisjoint(numbers)
    ]

    assert wrong == []


def test_every_test_that_is_named_by_a_finding_is_of_one_on_the_page() -> None:
    listed = {number for numbers, _ in rows() for number in numbers}

    assert {name for names in functions().values() for name in names if not numbers_in(name) <= listed} == set()


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("test_f1_x", {"F1"}), ("test_g3_g4_g5_no_field", {"G3", "G4", "G5"}), ("test_p1_a_f2_b", {"P1"})],
)
def test_a_name_begins_with_its_numbers(name: str, numbers: set[str]) -> None:
    assert numbers_in(name) == numbers

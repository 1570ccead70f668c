"""The page of findings and the tests that hold them: every number on one side has its match on the other."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "security" / "findings.md"
NUMBERS = {f"F{n}" for n in range(1, 24)} | {f"D{n}" for n in range(4, 20)} - {"D6"}
_ROW = re.compile(r"^\| ([FD]\d+) \|.*\| `(\w+\.py)::(\w+)` \|$", re.MULTILINE)
_NAME = re.compile(r"test_([fd]\d+)_")


def functions_by_number() -> dict[str, set[str]]:
    """`file::function` of every test that is named by a finding."""
    found: dict[str, set[str]] = {}
    for path in HERE.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            name = getattr(node, "name", "")
            if match := _NAME.match(name):
                found.setdefault(match[1].upper(), set()).add(f"{path.name}::{name}")
    return found


def test_every_finding_is_on_the_page_once() -> None:
    listed = [number for number, _, _ in _ROW.findall(PAGE.read_text())]

    assert sorted(listed) == sorted(NUMBERS)


def test_every_finding_has_a_test_of_its_number_and_no_test_has_another() -> None:
    assert functions_by_number().keys() == NUMBERS


def test_the_page_names_a_test_of_the_findings_own_number() -> None:
    held = functions_by_number()

    assert [row for row in _ROW.findall(PAGE.read_text()) if f"{row[1]}::{row[2]}" not in held.get(row[0], ())] == []

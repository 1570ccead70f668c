"""Each dependency has its line in the decisions: what it does here, who keeps it, what was rejected."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"


def of_python(project: dict[str, Any]) -> Iterator[str]:
    """The names that a pyproject.toml asks for, by itself, for an extra and for development."""
    wanted = [*project["project"].get("dependencies", [])]
    for group in (project["project"].get("optional-dependencies", {}), project.get("dependency-groups", {})):
        wanted += [one for some in group.values() for one in some if isinstance(one, str)]
    yield from (re.split(r"[\s\[<>=!~;@]", one)[0].lower() for one in wanted)


def of_console(package: dict[str, Any]) -> Iterator[str]:
    yield from (*package.get("dependencies", {}), *package.get("devDependencies", {}))


def unexplained(names: Iterator[str], text: str) -> list[str]:
    """Those that the decisions do not name."""
    return sorted({one for one in names if not re.search(rf"(?<![\w@/-]){re.escape(one.lower())}(?![\w/-])", text)})


def decisions() -> str:
    return "\n".join(page.read_text().lower() for page in sorted(DECISIONS.glob("*.md")))


@pytest.mark.parametrize("path", ["pyproject.toml", "worker/pyproject.toml"])
def test_every_package_of_python_has_its_line(path: str) -> None:
    assert unexplained(of_python(tomllib.loads((ROOT / path).read_text())), decisions()) == []


@pytest.mark.parametrize("path", ["console/package.json", "client/package.json"])
def test_every_package_of_the_console_has_its_line(path: str) -> None:
    assert unexplained(of_console(json.loads((ROOT / path).read_text())), decisions()) == []


def test_a_planted_dependency_is_found() -> None:
    project = {
        "project": {
            "dependencies": ["asyncpg>=0.30", "left-pad[fast]==1"],
            "optional-dependencies": {"x": ["known; a"]},
        },
        "dependency-groups": {"dev": ["unknown", {"include-group": "x"}]},
    }
    package = {"dependencies": {"@known/core": "1", "@known/other": "1"}}

    assert unexplained(of_python(project), "| asyncpg, known |") == ["left-pad", "unknown"]
    assert unexplained(of_console(package), "| @known/core |") == ["@known/other"]

"""The floor plan: which domains stand on which line of their floor, as the import contract lists them."""

import tomllib
from functools import cache
from pathlib import Path

from tests.architecture.source import FLOORS, SOURCE

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@cache
def listed() -> dict[str, list[set[str]]]:
    """Every floor's lines of domains, lowest first."""
    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    rooms = {c["containers"][0]: c["layers"] for c in contracts if c["name"].startswith("Rooms of")}
    return {
        floor: [{room.strip() for room in line.split("|")} for line in reversed(rooms[f"atrium.{floor}"])]
        for floor in FLOORS
    }


@cache
def unlisted() -> dict[str, set[str]]:
    """Every floor's domains that the plan does not name: each stands alone, above all others of its floor."""
    return {floor: rooms_of(floor) - set().union(*listed()[floor]) for floor in FLOORS}


def rooms_of(floor: str) -> set[str]:
    return {path.parent.name for path in (SOURCE / floor).glob("*/__init__.py")}

"""In which order the gate's processes take files of tests: the longest first, so that none is left alone with one at the end."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

# Written by `python -m tests.processor`; read without it, because its hooks are for a run that measures.
FIGURES = Path(__file__).resolve().parent.parent / "docs/figures/durations.json"
# Seconds of the processor of a test that docs/figures/durations.json does not list, on the average.
USUAL = 0.07


def known_seconds() -> dict[str, float]:
    """What each long test took when it was measured."""
    return dict(json.loads(FIGURES.read_text())["tests"]) if FIGURES.exists() else {}


def file_of(test: str) -> str:
    """The file of a test by its id."""
    return test.partition("::")[0]


def longest_first(tests: Iterable[str], known: Mapping[str, float]) -> list[str]:
    """Their files by what their tests take together; files that take the same stand by name."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for test in tests:
        seconds[file_of(test)] += known.get(test, USUAL)
    return sorted(seconds, key=lambda file: (-round(seconds[file], 3), file))

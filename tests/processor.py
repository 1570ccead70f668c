"""What each test of the gate takes of the processor, in its own process and in those it starts.

`python -m tests.processor` runs the suite as the gate does and writes what took longer than LISTED into docs/figures/durations.json.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures/durations.json"
# Seconds of the processor: what is written down, and what needs a reason (tests/architecture/long_tests.py).
LISTED, LONG = 1.0, 2.0
_FOLDER = "ATRIUM_PROCESSOR"
_TICKS, _CORES = os.sysconf("SC_CLK_TCK"), os.cpu_count() or 1
_spent: dict[str, float] = {}


def processor_seconds(pid: int) -> float:
    """Of a process and all below it, those included that have ended and were waited for."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal() and (stat := _stat(entry.path)):
            below[int(stat[1])].append(int(entry.name))
            ticks[int(entry.name)] = sum(map(int, stat[11:15]))
    total, ahead = 0, [pid]
    while ahead:
        one = ahead.pop()
        total += ticks.get(one, 0)
        ahead += below[one]
    return total / _TICKS


def _stat(folder: str) -> list[str]:
    try:
        return Path(folder, "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Of a test with what is set up for it; what a file or the run shares counts for the first that needs it."""
    before, began = processor_seconds(os.getpid()), time.monotonic()
    try:
        return (yield)
    finally:
        spent, most = processor_seconds(os.getpid()) - before, (time.monotonic() - began) * _CORES
        # A process that left its parent takes what it used before with it, or brings it along.
        _spent[item.nodeid] = round(min(max(spent, 0.0), most), 1)


def pytest_sessionfinish() -> None:
    """Write down what was measured in this process of the run."""
    if (folder := os.environ.get(_FOLDER)) and _spent:
        (Path(folder) / f"{os.getpid()}.json").write_text(json.dumps(_spent))


def main() -> int:
    """Run the suite and keep what is long."""
    with tempfile.TemporaryDirectory(prefix="atrium-processor-") as folder:
        command = ["-p", "tests.processor", "-q", "-n", "2", "--dist", "loadfile", "-m", "not proof"]
        seen = os.environ | {_FOLDER: folder}
        code = subprocess.run([sys.executable, "-m", "pytest", *command], env=seen, check=False).returncode
        spent: dict[str, float] = {}
        for part in Path(folder).glob("*.json"):
            spent |= json.loads(part.read_text())
    write(spent)
    return code


def write(spent: dict[str, float]) -> None:
    """The sum and what is listed, the longest first."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    longest = sorted(((name, one) for name, one in spent.items() if one > LISTED), key=lambda one: (-one[1], one[0]))
    kept = {"commit": commit.stdout.strip(), "seconds": round(sum(spent.values())), "tests": dict(longest)}
    FIGURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())

"""The suite as the gate runs it: what failed is asked once more, alone, and a test that then passes is told as flaky.

`python -m tests.again PYTEST-ARGUMENTS...` runs pytest with them. It never asks again where one failure is a finding.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

MOST = 3
# A leak, a lost row or a broken promise that shows once is there: tests of these folders are not asked again,
# nor are those with this mark.
NEVER = tuple(f"tests/{name}/" for name in ("walls", "table", "domains/quotas", "processes/races", "processes/crash"))
FINDING = "finding"
# What a wait says that ran out (tests/support/patience.py): the machine may have been too busy.
PATIENCE_RAN_OUT = ("TimeoutError", "asyncio.exceptions.TimeoutError", "httpx.ReadTimeout", "httpx.ConnectTimeout")
# How one test is asked by itself, in a process of its own.
ALONE = ("-q", "-p", "no:xdist")
_TOLD = "ATRIUM_FAILURES"
_ONE_FAILED = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, the first line of why, and whether it is marked as a finding."""

    test: str
    line: str
    is_finding: bool = False

    @property
    def can_be_asked_again(self) -> bool:
        """Whether a second try may speak for it."""
        if "::" not in self.test or "crashed while running" in self.line:
            return False
        never = self.is_finding or self.test.startswith(NEVER)
        return not never or self.line.startswith(PATIENCE_RAN_OUT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """As a plugin: write down what failed, for whoever asks again."""
    if path := os.environ.get(_TOLD):
        reports = [*terminalreporter.stats.get("failed", ()), *terminalreporter.stats.get("error", ())]
        Path(path).write_text(json.dumps([_told_of(report) for report in reports]))


def _told_of(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, bool]:
    return report.nodeid, _first_line(report), FINDING in getattr(report, "keywords", ())


def _first_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash else report.longreprtext
    return said.strip().partition("\n")[0]


def verdict(failures: list[Failure], code: int, passes_alone: Callable[[str], bool]) -> tuple[int, list[str]]:
    """The exit code, and a line for every test that failed: FAILED, or FLAKY when it passed alone."""
    asked = code == _ONE_FAILED and 0 < len(failures) <= MOST and all(one.can_be_asked_again for one in failures)
    passed = {one.test for one in failures if asked and passes_alone(one.test)}
    lines = [f"{'FLAKY' if one.test in passed else 'FAILED'} {one.test}: {one.line}" for one in failures]
    return (0 if failures and len(passed) == len({one.test for one in failures}) else code), lines


def main(arguments: list[str]) -> int:
    """Run, ask again, and end with what failed."""
    with tempfile.TemporaryDirectory(prefix="atrium-again-") as folder:
        told = Path(folder) / "failures.json"
        code = _pytest("-p", "tests.again", *arguments, told=told)
        failures = [Failure(*one) for one in json.loads(told.read_text())] if told.exists() else []
    code, lines = verdict(failures, code, _passes_alone)
    print("\n".join(lines))
    if path := os.environ.get("ATRIUM_VERDICTS"):
        with Path(path).open("a") as verdicts:
            verdicts.writelines(f"{line}\n" for line in lines)
    return code


def asked_alone(test: str, *, passed: bool) -> str:
    """The line that tells what a test came to that was asked once more."""
    return f"asked alone, {'passed' if passed else 'failed'}: {test}"


def _passes_alone(test: str) -> bool:
    passed = _pytest(*ALONE, test) == 0
    print(asked_alone(test, passed=passed), flush=True)
    return passed


def _pytest(*arguments: str, told: Path | None = None) -> int:
    seen = os.environ | ({_TOLD: str(told)} if told else {})
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], env=seen, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

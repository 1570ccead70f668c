"""The gate ends with 0 when every step passed, and with an error that names the step when one did not, whichever it was."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

GATE = Path(__file__).parents[2] / ".ci" / "run"

# Every command that the gate runs, as the steps call them.
STEPS = (
    "make setup",
    "make check",
    "make docs",
    "make workflows",
    "npm ci --prefix console",
    "npm run --prefix console check",
    "npm run --prefix console test",
    "npm run --prefix console build",
    "npm run --prefix console budget",
    "python -m tests.again",
    "npm run --prefix console e2e",
)

# A command that notes how it was called, takes a moment, and fails when it is the one that is told to.
STAND_IN = """#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >>"$CALLS"
case "$call" in "${FAILING:-none}"*) exit 3 ;; esac
exit 0
"""


def gate(folder: Path, failing: str) -> tuple[int, str, str]:
    """The gate in an empty folder whose commands are stand-ins: its exit code, what it called, and what it printed."""
    commands = [folder / "bin" / name for name in ("make", "npm", "curl", "pgbouncer", "bwrap", "chromium", "apt-get")]
    for command in [*commands, folder / ".venv" / "bin" / "python"]:
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(STAND_IN)
        command.chmod(0o755)
    (folder / ".ci").mkdir()
    shutil.copy(GATE, folder / ".ci" / "run")
    calls = folder / "calls"
    environment = os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "FAILING": failing,
        "ATRIUM_TEST_DATABASE_URL": "postgresql://nobody@127.0.0.1/none",
    }
    ended = subprocess.run(
        [folder / ".ci" / "run"], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return ended.returncode, calls.read_text(), ended.stdout


def test_a_gate_whose_steps_pass_ends_with_0_and_leaves_none_out(tmp_path: Path) -> None:
    code, calls, said = gate(tmp_path, failing="")
    assert code == 0
    assert [step for step in STEPS if step not in calls] == []
    told = re.findall(r"^=== (.+) took \d+s, \d+s of the processor$", said, re.MULTILINE)
    assert {"set up", "tests", "console: unit tests", "console: browser tests"} <= set(told)


@pytest.mark.parametrize("step", STEPS)
def test_a_gate_with_a_step_that_fails_does_not_pass(tmp_path: Path, step: str) -> None:
    code, _, _ = gate(tmp_path, failing=step)
    assert code != 0


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("make check", "lint, types, floor plan, documentation, and the console beside them"),
        ("make workflows", "console: workflows"),
        ("npm run --prefix console check", "console: fresh client, complete catalogs, types, lint"),
        ("npm run --prefix console test", "console: unit tests"),
        ("npm run --prefix console b", "console: build and budget"),
        ("python -m tests.again", "tests"),
    ],
)
def test_a_step_that_fails_is_named_once_and_hides_no_later_one(tmp_path: Path, step: str, name: str) -> None:
    _, calls, said = gate(tmp_path, failing=step)

    assert [one for one in STEPS if one not in calls] == []
    assert [line for line in said.splitlines() if line.startswith("Failed: ")] == [f"Failed: {name}"]

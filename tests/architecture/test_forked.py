"""A fork of the process that is kept ready runs, hears and ends like the start it stands for."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from tests.support.forked import Forked, can_fork, fork
from tests.support.patience import PATIENCE
from tests.support.processes import ROOT, environment

TELLS = "tests.architecture.tells_itself"


def begin(forked: bool, arguments: list[str], log: IO[bytes]) -> subprocess.Popen[bytes] | Forked:
    seen = environment(planted="yes")
    if forked:
        return fork(arguments, seen, log)
    # As a shell starts it that listens to its terminal; one that runs the tests in the background ignores both.
    command = ["env", "--default-signal=INT,HUP", sys.executable, *arguments]
    return subprocess.Popen(command, env=seen, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def told(output: Path, wish: str, *, forked: bool) -> tuple[list[str], int]:
    """What the module prints, and how it ends."""
    with output.open("wb") as log:
        process = begin(forked, ["-m", TELLS, wish], log)
        deadline = time.monotonic() + PATIENCE
        while wish == "wait" and b"waiting" not in output.read_bytes():
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        if wish == "wait":
            process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE)
    return output.read_text().splitlines(), code


@pytest.mark.parametrize(("wish", "ends"), [("leave", 7), ("raise", 1), ("wait", -signal.SIGTERM)])
def test_a_fork_is_told_the_same_and_ends_the_same(tmp_path: Path, wish: str, ends: int) -> None:
    forked, code = told(tmp_path / "output", wish, forked=True)
    started, other = told(tmp_path / "output", wish, forked=False)

    assert (code, other) == (ends, ends)
    # Between them a traceback also names the lines that lead to the module.
    assert forked[:6] == started[:6]
    assert forked[-1] == started[-1]
    assert "['SERVICE_PLANTED']" in forked


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONOPTIMIZE", "LD_PRELOAD", "MALLOC_ARENA_MAX"])
def test_what_an_interpreter_reads_when_it_starts_is_not_left_to_a_fork(name: str) -> None:
    assert can_fork(("-m", "atrium"), environment())
    assert not can_fork(("-c", "pass"), environment())
    assert not can_fork(("-m", "atrium"), environment() | {name: "1"})

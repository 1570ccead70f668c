"""What the gate says about itself is what it was told."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT

REPORT = """<testsuites><testsuite>
<testcase classname="tests.domains.notes.test_api" name="a" time="1.25"/>
<testcase classname="tests.domains.notes.test_api" name="b[x]" time="2.5"/>
<testcase classname="tests.domains.branding.test_theme.TestOne" name="c" time="9"/>
</testsuite></testsuites>"""


LOG = """
=== tests
FAILED tests/domains/turns/test_money.py::test_a - TimeoutError
1 failed, 7900 passed
=== tests took 498s, 955s of the processor
=== console: browser tests took 661s, 1204s of the processor
  498s  tests
  661s  console: browser tests
 1166s  in all
processor of what was waited for: 36m10.250s 1m0.500s
FLAKY tests/domains/turns/test_money.py::test_a: TimeoutError
"""


def figures(folder: Path) -> str:
    (folder / "report.xml").write_text(REPORT)
    command = [sys.executable, str(ROOT / "dev" / "gate.py"), "75", "report.xml", "   12s  set up", "   61s  tests"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_steps_and_files_are_printed(tmp_path: Path) -> None:
    said = figures(tmp_path)

    assert said.splitlines() == [
        "    9.0s  tests/domains/branding/test_theme.py", "    3.8s  tests/domains/notes/test_api.py",
        "   12s  set up", "   61s  tests", "   75s  in all",
    ]  # fmt: skip


def test_a_log_is_read_step_by_step() -> None:
    again = runpy.run_path(str(ROOT / "dev" / "gate_again.py"))

    found = again["read_log"](LOG, 3)

    assert found["passed"]
    assert (found["seconds"], found["processor_seconds"], found["busy"]) == (1166, 2231, 3)
    assert found["steps"] == {"tests": 498, "console: browser tests": 661}
    assert found["processor_by_step"] == {"tests": 955, "console: browser tests": 1204}
    assert found["flaky"] == ["tests/domains/turns/test_money.py::test_a"]


def test_folders_that_changed_since_their_proofs_are_named(tmp_path: Path) -> None:
    author = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=tmp_path, env=os.environ | author, capture_output=True, text=True, check=True
        ).stdout

    for folder in ("tests/domains/jobs", "tests/processes/crash", "docs/figures"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "test_it.py").write_text("1")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "--no-gpg-sign", "-m", "x")
    proven = {"commit": git("rev-parse", "HEAD").strip()}
    parts = {
        "tests/domains/jobs/test_it.py": proven,
        "tests/processes/crash/test_it.py": proven,
        "tests/processor.py": proven,
    }
    (tmp_path / "docs/figures/proofs.json").write_text(json.dumps(parts))
    (tmp_path / "tests/domains/jobs/test_it.py").write_text("2")
    git("commit", "-q", "--no-gpg-sign", "-am", "y")

    assert figures(tmp_path).splitlines()[-1] == "changed since their proofs were run: tests/domains/jobs"

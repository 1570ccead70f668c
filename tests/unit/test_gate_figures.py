"""What the gate says about itself is what it was told."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.processes import ROOT

REPORT = """<testsuites><testsuite>
<testcase classname="tests.api.test_notes" name="a" time="1.25"/>
<testcase classname="tests.api.test_notes" name="b[x]" time="2.5"/>
<testcase classname="tests.unit.test_theme.TestOne" name="c" time="9"/>
</testsuite></testsuites>"""


def figures(folder: Path, **environment: str) -> str:
    (folder / "report.xml").write_text(REPORT)
    command = [sys.executable, str(ROOT / "dev" / "gate.py"), "75", "report.xml", "   12s  set up", "   61s  tests"]
    seen = {name: value for name, value in os.environ.items() if name != "ATRIUM_WRITE_GATE"} | environment
    return subprocess.run(command, cwd=folder, env=seen, capture_output=True, text=True, check=True).stdout


def test_steps_and_files_are_printed_and_nothing_is_written(tmp_path: Path) -> None:
    said = figures(tmp_path)

    assert said.splitlines() == [
        "    9.0s  tests/unit/test_theme.py", "    3.8s  tests/api/test_notes.py", "   12s  set up", "   61s  tests", "   75s  in all",
    ]  # fmt: skip
    assert not (tmp_path / "docs").exists()


def test_on_request_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "docs" / "figures").mkdir(parents=True)
    author = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, env=os.environ | author, check=True)

    figures(tmp_path, ATRIUM_WRITE_GATE="1")

    kept = json.loads((tmp_path / "docs" / "figures" / "gate.json").read_text())
    assert (kept["seconds"], kept["steps"]) == (75, {"set up": 12, "tests": 61})
    assert kept["files"] == {"tests/unit/test_theme.py": 9.0, "tests/api/test_notes.py": 3.8}

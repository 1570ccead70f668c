"""The worker package in an environment of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT


@pytest.fixture(scope="package")
def worker_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the worker package and what it needs, and nothing of the server."""
    home = tmp_path_factory.mktemp("worker-environment")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    interpreter = home / "bin" / "python"
    install = [str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(ROOT / "worker")]
    subprocess.run(install, check=True)
    return interpreter

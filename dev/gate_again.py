"""The gate in fresh clones of HEAD, again and again, quiet and beside busy loops; each run is appended to docs/figures/gate.json.

`python dev/gate_again.py --quiet 3 --busy 2`; it may be run in parts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures/gate.json"
LOOPS = 3


@contextmanager
def beside(loops: int) -> Any:
    """As many processes as are said, each of which uses all the processor that it gets."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def run_gate(busy: int) -> dict[str, Any]:
    """One run, as it is on what is handed in."""
    with tempfile.TemporaryDirectory(prefix="atrium-gate-") as folder, beside(busy):
        clone, log = Path(folder) / "main", Path(folder) / "log"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        began, before = time.monotonic(), os.times()
        with log.open("wb") as output:
            ended = subprocess.run(["bash", ".ci/run"], cwd=clone, stdout=output, stderr=subprocess.STDOUT, check=False)
        after, said = os.times(), log.read_text(errors="replace")
        return {
            "seconds": round(time.monotonic() - began),
            # Of processes that were waited for; PostgreSQL's own is not among them.
            "processor_seconds": round(
                after.children_user + after.children_system - before.children_user - before.children_system
            ),
            "busy": busy,
            "load": round(os.getloadavg()[0], 1),
            "passed": ended.returncode == 0,
            "flaky": sorted(set(re.findall(r"^FLAKY (\S+)", said, re.MULTILINE))),
            "failed": sorted(set(re.findall(r"^(?:FAILED|Failed:) (.+)", said, re.MULTILINE)))[:20],
            "steps": {
                name: int(spent)
                for spent, name in re.findall(r"^\s*(\d+)s  ((?!tests/|plugins/).+)$", said, re.MULTILINE)
            },
        }


def main() -> int:
    """Run, append, and say by the exit code whether all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quiet", type=int, default=0, help="how many runs with nothing beside them")
    parser.add_argument("--busy", type=int, default=0, help=f"how many runs beside {LOOPS} busy loops")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"runs": []}
    passed = True
    for busy in [0] * options.quiet + [LOOPS] * options.busy:
        found = {"commit": commit, **run_gate(busy)}
        passed = passed and found["passed"]
        kept["commit"] = commit
        kept["runs"].append(found)
        FIGURES.write_text(json.dumps(kept, indent=1) + "\n")
        print(
            f"{'passed' if found['passed'] else 'failed'} in {found['seconds']} s, {busy} busy, flaky: {found['flaky']}",
            flush=True,
        )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

"""The gate in fresh clones of HEAD, again and again, quiet and beside busy loops; each run is appended to docs/figures/gate.json.

`python dev/gate_again.py --quiet 3 --busy 2`; it may be run in parts, and `--log FILE` appends a run of HEAD that was made already.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
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
        with log.open("wb") as output:
            subprocess.run(["bash", ".ci/run"], cwd=clone, stdout=output, stderr=subprocess.STDOUT, check=False)
        return read_log(log.read_text(errors="replace"), busy)


def read_log(said: str, busy: int) -> dict[str, Any]:
    """What a run of the gate came to, out of what it printed."""
    steps = {
        name: int(spent) for spent, name in re.findall(r"^\s*(\d+)s  ((?!tests/|plugins/).+)$", said, re.MULTILINE)
    }
    # Of processes that were waited for; PostgreSQL's own is not among them.
    processor = re.search(r"^processor of what was waited for: (\d+)m([\d.]+)s (\d+)m([\d.]+)s$", said, re.MULTILINE)
    by_step = re.findall(r"^=== (.+) took \d+s, (\d+)s of the processor$", said, re.MULTILINE)
    minutes, seconds, more_minutes, more_seconds = map(float, processor.groups() if processor else [0] * 4)
    # What the gate says at its end; before it pytest has named what failed once, too.
    verdicts = said.rpartition("\nprocessor of what was waited for")[2]
    failed = sorted(set(re.findall(r"^(?:FAILED|Failed:) (.+)", verdicts, re.MULTILINE)))[:20]
    return {
        "seconds": steps.pop("in all", 0),
        "processor_seconds": round(60 * (minutes + more_minutes) + seconds + more_seconds),
        "busy": busy,
        "load": round(os.getloadavg()[0], 1),
        "passed": processor is not None and not failed,
        "flaky": sorted(set(re.findall(r"^FLAKY (.+?): ", said, re.MULTILINE))),
        "failed": failed,
        "steps": steps,
        "processor_by_step": {name: int(spent) for name, spent in by_step},
    }


def main() -> int:
    """Run, append, and say by the exit code whether all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quiet", type=int, default=0, help="how many runs with nothing beside them")
    parser.add_argument("--busy", type=int, default=0, help=f"how many runs beside {LOOPS} busy loops")
    parser.add_argument("--log", type=Path, help="a log of .ci/run in a fresh clone of HEAD")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"runs": []}
    passed = True
    runs: list[Callable[[], dict[str, Any]]] = [partial(run_gate, 0)] * options.quiet + [
        partial(run_gate, LOOPS)
    ] * options.busy
    if options.log:
        runs = [partial(read_log, options.log.read_text(errors="replace"), LOOPS if options.busy else 0)]
    for run in runs:
        found = {"commit": commit, **run()}
        passed = passed and found["passed"]
        kept["commit"] = commit
        kept["runs"].append(found)
        FIGURES.write_text(json.dumps(kept, indent=1) + "\n")
        print(
            f"{'passed' if found['passed'] else 'failed'} in {found['seconds']} s, {found['busy']} busy, flaky: {found['flaky']}",
            flush=True,
        )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

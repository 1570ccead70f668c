"""What the gate took, printed at its end; with ATRIUM_WRITE_GATE=1 also kept in docs/figures/gate.json.

`python dev/gate.py SECONDS JUNIT STEP...`, each step as the gate prints it: "   12s  its name".
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

FIGURES = Path("docs/figures/gate.json")
_STEP = re.compile(r"\s*(\d+)s\s+(.+)")
LISTED = 20


def seconds_by_file(report: Path) -> dict[str, float]:
    """Seconds of every file of tests, the longest first; empty without a report."""
    if not report.exists():
        return {}
    spent: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.get("classname", "").split(".")
        while module and not module[-1].startswith("test_"):
            module.pop()
        spent["/".join(module) + ".py"] += float(case.get("time", 0))
    return {name: round(each, 1) for name, each in sorted(spent.items(), key=lambda one: -one[1])}


def steps_of(lines: list[str]) -> dict[str, int]:
    """Seconds of every step, in their order."""
    found = [_STEP.fullmatch(line) for line in lines]
    return {one[2]: int(one[1]) for one in found if one}


def main() -> None:
    seconds, report, *lines = sys.argv[1:]
    files, steps = seconds_by_file(Path(report)), steps_of(lines)
    for name, each in list(files.items())[:LISTED]:
        print(f"{each:7.1f}s  {name}")
    print("\n".join(f"{each:5}s  {name}" for name, each in steps.items()))
    print(f"{seconds:>5}s  in all")
    if os.environ.get("ATRIUM_WRITE_GATE"):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        load = round(os.getloadavg()[2], 1)
        figures = {
            "seconds": int(seconds),
            "steps": steps,
            "files": files,
            "load_15_minutes": load,
            "cores": os.cpu_count(),
        }
        FIGURES.write_text(json.dumps(figures | {"commit": commit.stdout.strip()}, indent=1) + "\n")
        print(f"written to {FIGURES}")


if __name__ == "__main__":
    main()

"""What the gate took and which proofs are older than what they prove, printed at its end.

`python dev/gate.py SECONDS JUNIT STEP...`, each step as the gate prints it: "   12s  its name".
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

PROOFS = Path("docs/figures/proofs.json")
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


def stale_proofs() -> list[str]:
    """Folders whose tests changed since their proofs were run."""
    parts = json.loads(PROOFS.read_text()) if PROOFS.exists() else {}
    stale = set()
    for file, part in parts.items():
        folder = str(Path(file).parent)
        # What measures every test is not older than each of them.
        if folder == "tests":
            continue
        changed = subprocess.run(
            ["git", "diff", "--quiet", part["commit"], "HEAD", "--", folder], capture_output=True, check=False
        )
        if changed.returncode:
            stale.add(folder)
    return sorted(stale)


def main() -> None:
    seconds, report, *steps = sys.argv[1:]
    for name, each in list(seconds_by_file(Path(report)).items())[:LISTED]:
        print(f"{each:7.1f}s  {name}")
    print("\n".join(steps))
    print(f"{seconds:>5}s  in all")
    if stale := stale_proofs():
        print(f"changed since their proofs were run: {', '.join(stale)}")


if __name__ == "__main__":
    main()

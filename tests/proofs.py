"""Every proof, one file after the other and nothing beside it; what they measured goes into docs/figures/proofs.json.

`python -m tests.proofs [PATH…]` runs all of them, or those below the paths, and replaces their entries. ATRIUM_SEED sets the seed.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures/proofs.json"
# A figure that was measured while other machines took more than this share of the processor is marked.
MOST_STOLEN = 0.10
_MOST_LINES, _LONGEST_LINE = 12, 300


@dataclass(slots=True)
class Part:
    """What the proofs of one file came to."""

    commit: str
    seed: int
    seconds: float = 0.0
    load: float = 0.0
    steal: float = 0.0
    disturbed: bool = False
    tests: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    flaky: list[str] = field(default_factory=list)
    figures: dict[str, list[str]] = field(default_factory=dict)


def files_with_proofs(paths: list[str]) -> list[str]:
    """The files below the paths that hold a proof, by name."""
    found = [
        one
        for path in paths or ["tests"]
        for one in ([Path(path)] if path.endswith(".py") else Path(path).rglob("test_*.py"))
    ]
    return sorted({str(one) for one in found if "mark.proof" in one.read_text()})


def read_report(report: Path, part: Part) -> None:
    """Counts, failures and what the tests printed, out of pytest's own report."""
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "")
        part.tests += 1
        if case.find("failure") is not None or case.find("error") is not None:
            part.failed.append(name)
        if (skipped := case.find("skipped")) is not None:
            part.skipped[name] = skipped.get("message", "")[:_LONGEST_LINE]
        printed = (case.findtext("system-out") or "").splitlines()
        lines = [line[:_LONGEST_LINE] for line in printed if line.strip() and not _is_log(line)]
        if lines:
            part.figures[name] = lines[-_MOST_LINES:]


def _is_log(line: str) -> bool:
    # A server in the test's own process writes its log there too.
    return "[info " in line or "[warning " in line or "[error " in line or line.startswith("---")


def stolen() -> tuple[float, float]:
    """Seconds of all cores so far, and how many of them went to other machines on this host."""
    ticks = [int(one) for one in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(ticks) / 100, ticks[7] / 100


def prove(file: str, seed: int) -> Part:
    """Run the proofs of one file in a process of their own."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    part = Part(commit.stdout.strip(), seed)
    with tempfile.TemporaryDirectory(prefix="atrium-proofs-") as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable, "-m", "pytest", "-q", "-m", "proof", "-p", "no:xdist", f"--hypothesis-seed={seed}", "-rs", "--junitxml",
            str(report), "-o", "junit_logging=system-out", file,
        ]  # fmt: skip
        seen = os.environ | {"ATRIUM_PROOFS": "1", "ATRIUM_SEED": str(seed)}
        (all_before, stolen_before), began = stolen(), time.monotonic()
        subprocess.run(command, env=seen, check=False)
        part.seconds, (all_after, stolen_after) = round(time.monotonic() - began, 1), stolen()
        part.load = round(os.getloadavg()[0], 1)
        part.steal = round((stolen_after - stolen_before) / max(all_after - all_before, 1e-9), 3)
        part.disturbed = part.steal > MOST_STOLEN
        if report.exists():
            read_report(report, part)
        else:
            part.failed.append("no report: the run crashed")
    return part


def main(paths: list[str]) -> int:
    """Run, keep, and tell what failed."""
    kept: dict[str, object] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    failed: list[str] = []
    for file in files_with_proofs(paths):
        part = prove(file, int(os.environ.get("ATRIUM_SEED") or random.randrange(2**32)))
        failed += [f"{file}::{name}" for name in part.failed]
        kept[file] = asdict(part)
        FIGURES.write_text(json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False) + "\n")
    print("\n".join(f"FAILED {one}" for one in failed) or "every proof held")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

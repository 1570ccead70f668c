"""Every proof, one part after the other and nothing beside it; what they measured goes into docs/figures/proofs.json.

`python -m tests.proofs [PATH…]` runs all of them, or those below the paths, and replaces their entries: files of tests, the
processor time of the gate's tests (tests/processor.py), and what is measured in a browser (console/e2e/screens,
console/e2e/figures). ATRIUM_SEED sets the seed. With ATRIUM_FULL the tests of the gate that have a full size run at it, too.
A part that fails keeps no other from running.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tests.processes.start import older_schemas

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs/figures/proofs.json"
# A figure that was measured while other machines took more than this share of the processor is marked.
MOST_STOLEN = 0.10
_MOST_LINES, _LONGEST_LINE = 12, 300
FULL = bool(os.environ.get("ATRIUM_FULL"))
# How a file of tests says that it has a full size; and that it draws, or is larger, wherever proofs run.
_SIZED = re.compile(r"ATRIUM_FULL|\bFULL\b| rounds\(| sized\(")
_DRAWN = re.compile(r"\bPROOFS\b|\bfrom hypothesis\b|\btests\.support\.state_machines import")
# Parts that are no files of tests: what each runs, and what of it is read.
_PROCESSOR = "tests/processor.py"
_BROWSER = {"console/e2e/screens": "e2e:screens", "console/e2e/figures": "e2e:figures"}
# What node says at the end of its report, behind what the tests say.
_COUNTS = re.compile(r"(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+")
_SCHEMAS = "tests/processes/start/test_migrations.py"
_NOTHING_CHOSEN = 5


@dataclass(slots=True)
class Part:
    """What the proofs of one file, or of one set of browser suites, came to."""

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


@dataclass(frozen=True, slots=True)
class Run:
    """A command of a part and what it sees."""

    command: list[str]
    seen: dict[str, str]
    reports: bool = True


def parts_below(paths: list[str], root: Path = ROOT, *, full: bool = FULL) -> list[str]:
    """Every part, or those below the paths: files of tests by name, then what runs the whole suite or a browser."""
    found = {
        str(file.relative_to(root))
        for path in paths or ["tests"]
        for file in _test_files(root / path)
        if _is_proof(file.read_text(), full=full)
    }
    others = [one for one in (_PROCESSOR, *_BROWSER) if not paths or any(_is_below(one, path) for path in paths)]
    return sorted(found) + others


def _test_files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from path.rglob("test_*.py")
    elif path.name.startswith("test_") and path.suffix == ".py":
        yield path


def _is_proof(text: str, *, full: bool) -> bool:
    return "mark.proof" in text or is_run_whole(text, full=full)


def _is_below(part: str, path: str) -> bool:
    return Path(part).is_relative_to(path)


def is_run_whole(text: str, *, full: bool) -> bool:
    """Whether proofs run all tests of such a file, marked or not: they are larger there, or draw what the gate does not."""
    return bool(_DRAWN.search(text)) or (full and bool(_SIZED.search(text)))


def read_report(report: Path, part: Part) -> None:
    """Counts, failures and what the tests printed, out of the report of pytest or of node."""
    name, with_comments = "", ElementTree.TreeBuilder(insert_comments=True)
    for element in ElementTree.parse(report, ElementTree.XMLParser(target=with_comments)).iter():
        if element.tag == "testcase":
            name = element.get("name", "")
            _read_case(element, name, part)
        elif not isinstance(element.tag, str) and name:
            # A comment: what a test tells of itself stands behind it in node's report.
            _add_figures(part, name, [(element.text or "").strip()])


def _read_case(case: ElementTree.Element, name: str, part: Part) -> None:
    part.tests += 1
    if case.find("failure") is not None or case.find("error") is not None:
        part.failed.append(name)
    if (skipped := case.find("skipped")) is not None:
        part.skipped[name] = skipped.get("message", "")[:_LONGEST_LINE]
    _add_figures(part, name, (case.findtext("system-out") or "").splitlines())


def _add_figures(part: Part, name: str, printed: list[str]) -> None:
    lines = [line[:_LONGEST_LINE] for line in printed if line.strip() and not _is_log(line)]
    if lines:
        part.figures[name] = [*part.figures.get(name, []), *lines][-_MOST_LINES:]


def _is_log(line: str) -> bool:
    # A server in the test's own process writes its log there too.
    return (
        "[info " in line
        or "[warning " in line
        or "[error " in line
        or line.startswith("---")
        or _COUNTS.fullmatch(line) is not None
    )


def stolen() -> tuple[float, float]:
    """Seconds of all cores so far, and how many of them went to other machines on this host."""
    ticks = [int(one) for one in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    return sum(ticks) / 100, ticks[7] / 100


def run_of(name: str, seed: int, report: Path) -> Run:
    """How a part is run."""
    if name == _PROCESSOR:
        return Run([sys.executable, "-m", "tests.processor"], dict(os.environ), reports=False)
    if name in _BROWSER:
        # On the screen as people read it, and beside that as a report.
        told = (
            "--test-reporter=spec --test-reporter-destination=stdout"
            f" --test-reporter=junit --test-reporter-destination={report}"
        )
        return Run(["npm", "run", "--prefix", "console", _BROWSER[name]], os.environ | {"NODE_OPTIONS": told})
    # What draws more or is larger takes as long as it takes.
    whole = is_run_whole((ROOT / name).read_text(), full=FULL)
    chosen = ["-m", "", "-o", "timeout=7200"] if whole else ["-m", "proof"]
    command = [
        sys.executable, "-m", "pytest", "-q", *chosen, "-p", "no:xdist", f"--hypothesis-seed={seed}", "-rs", "--junitxml",
        str(report), "-o", "junit_logging=system-out", name,
    ]  # fmt: skip
    return Run(command, os.environ | {"ATRIUM_PROOFS": "1", "ATRIUM_SEED": str(seed)})


def prove(name: str, seed: int) -> Part:
    """Run a part in a process of its own."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    part = Part(commit.stdout.strip(), seed)
    with tempfile.TemporaryDirectory(prefix="atrium-proofs-") as folder:
        report = Path(folder) / "report.xml"
        run = run_of(name, seed, report)
        (all_before, stolen_before), began = stolen(), time.monotonic()
        code = subprocess.run(run.command, cwd=ROOT, env=run.seen, check=False).returncode
        part.seconds, (all_after, stolen_after) = round(time.monotonic() - began, 1), stolen()
        part.load = round(os.getloadavg()[0], 1)
        part.steal = round((stolen_after - stolen_before) / max(all_after - all_before, 1e-9), 3)
        part.disturbed = part.steal > MOST_STOLEN
        if report.exists():
            read_report(report, part)
        elif run.reports:
            part.failed.append("no report: the run crashed")
    if code not in (0, _NOTHING_CHOSEN) and not part.failed:
        part.failed.append(f"ended with {code}")
    return part


def main(paths: list[str]) -> int:
    """Run, keep, and tell what failed."""
    kept: dict[str, object] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    failed: list[str] = []
    for name in parts_below(paths):
        part = prove(name, int(os.environ.get("ATRIUM_SEED") or random.randrange(2**32)))
        failed += [f"{name}::{one}" for one in part.failed]
        kept[name] = asdict(part)
        FIGURES.write_text(json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False) + "\n")
        if name == _SCHEMAS and not part.failed:
            older_schemas.keep()
    print("\n".join(f"FAILED {one}" for one in failed) or "every proof held")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Plant a fault in each of ten domains and see the gate refuse it: `python -m tests.faults [NAME…]`.

A fault is one phrase of one file in a copy of the checkout. The gate's own command, the line of .ci/run asked for the
domain's tests, must be red and name the test that knows better, and that test must be red again alone;
docs/figures/faults.json says what came out.
`python -m tests.faults --whole NAME` runs one through the whole of .ci/run, in a fresh clone of the last commit.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests import again
from tests.mutants import COPIED, ROOT, Mutant, copy_to, mutate

FIGURES = ROOT / "docs/figures/faults.json"
GATE = ROOT / ".ci/run"
# What tests of these domains read beside what a mutant needs.
_READ = (*COPIED, "docs", ".ci", "deploy", "dev")
# The gate's line runs as it stands there: as the last command, on a PostgreSQL that is found as tests find it.
_SHELL = 'work=$1; shift; must() { "$@"; }; on_postgres() { "$@"; }; %s "$@"'


@dataclass(frozen=True, slots=True)
class Fault:
    """What is changed and the test that knows better, and the tests of its domain."""

    mutant: Mutant
    where: tuple[str, ...]

    @property
    def name(self) -> str:
        """The domain."""
        return self.mutant.number


FAULTS = (
    Fault(
        Mutant(
            "identity", "a one-time code works again", "src/atrium/ground/identity/store.py",
            " AND totp_last_step < :step", " AND :step > 0",
            "tests/domains/identity/test_two_factor.py::test_a_code_works_once",
        ),
        tuple(f"tests/domains/identity/test_{name}.py" for name in ("two_factor", "api", "sessions", "resets")),
    ),
    Fault(
        Mutant(
            "quotas", "a settlement that is repeated counts again", "src/atrium/ground/quotas/model.py",
            'if hold is None or hold.state == "settled":', "if hold is None:",
            "tests/domains/quotas/test_admission.py::test_a_repeated_settlement_counts_once",
        ),
        ("tests/domains/quotas",),
    ),
    Fault(
        Mutant(
            "notes", "a save over a newer version is taken", "src/atrium/product/notes/permissions.py",
            "names_tag(if_match, note.etag()):", "names_tag(if_match, if_match):",
            "tests/domains/notes/test_api.py::test_a_stale_edit_is_refused_with_the_current_version",
        ),
        ("tests/domains/notes/test_api.py", "tests/domains/notes/test_history.py"),
    ),
    Fault(
        Mutant(
            "s3", "the signature of a chunk is not compared", "src/atrium/product/s3/chunks.py",
            'given.encode("utf-8", "replace")', "good.encode()",
            "tests/domains/s3/test_signatures.py::test_one_flipped_byte_in_a_framed_body_stores_nothing",
        ),
        ("tests/domains/s3",),
    ),
    Fault(
        Mutant(
            "jobs", "a job is not narrowed to the token that queued it", "src/atrium/engine/jobs/attempts.py",
            "identity.narrow_principal(owner, content.scope)", "identity.narrow_principal(owner, None)",
            "tests/domains/jobs/test_runner.py::test_a_job_reaches_no_further_than_the_token_that_queued_it",
        ),
        ("tests/domains/jobs",),
    ),
    Fault(
        Mutant(
            "workflows", "a colleague goes on with a run that read what they may not", "src/atrium/engine/workflows/resumption.py",
            'raise CannotResume("this run has read what you may not; start a run of your own instead")', "return run",
            "tests/domains/workflows/test_resume.py::test_a_run_under_way_is_not_resumed_and_a_colleague_cannot_take_it_over",
        ),
        ("tests/domains/workflows",),
    ),
    Fault(
        Mutant(
            "triggers", "a run fires the trigger that it descends from", "src/atrium/product/triggers/guard.py",
            "trigger.id in descent.lineage.ancestry", "trigger.id in descent.lineage.bound_to",
            "tests/domains/triggers/test_loops.py::test_a_trigger_that_feeds_itself_ends",
        ),
        ("tests/domains/triggers",),
    ),
    Fault(
        Mutant(
            "search", "what is excluded is found", "src/atrium/product/search/ranking.py",
            "for phrase in query.without)", "for phrase in query.without[1:])",
            "tests/domains/search/test_finding.py::test_e4_what_is_excluded_is_not_found_in_any_way",
        ),
        ("tests/domains/search",),
    ),
    Fault(
        Mutant(
            "ai", "what a model tells with its pieces is not paid", "src/atrium/engine/turns/active_turn.py",
            "reported.exact else self.told", "reported.exact else None",
            "tests/domains/turns/test_streams.py::test_what_a_model_tells_with_its_pieces_is_what_is_paid",
        ),
        ("tests/domains/turns",),
    ),
    Fault(
        Mutant(
            "localization", "a file outranks what a person approved", "src/atrium/product/localization/comparison.py",
            'if new and state["by_person"] and text != state["text"]:', 'if new and state["by_person"] and text == state["text"]:',
            "tests/domains/localization/test_exchange.py::test_what_a_person_approved_outranks_a_file",
        ),
        ("tests/domains/localization",),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the gate said to a fault."""

    fault: str
    file: str
    test: str
    seconds: int
    # Whether the run was red, whether it named the test, and whether that was red again by itself; None was not asked.
    red: bool
    named: bool
    red_alone: bool | None
    failed: tuple[str, ...]

    @property
    def is_refused(self) -> bool:
        """Whether the gate is red for the right reason, twice."""
        return self.red and self.named and self.red_alone is True


def command_of(fault: Fault, work: Path) -> list[str]:
    """The line of the gate that runs the Python tests, asked for those of a domain; what it writes goes into the folder."""
    [line] = [line for line in GATE.read_text().splitlines() if " -m tests.again " in line]
    return ["bash", "-c", _SHELL % line, "gate", str(work), *fault.where]


def outcome(fault: Fault, code: int, said: str, verdicts: str, seconds: float = 0) -> Outcome:
    """Read a run: its exit code, what it printed, and its lines of FAILED and FLAKY."""
    mutant = fault.mutant
    failed = tuple(line.removeprefix("FAILED ") for line in verdicts.splitlines() if line.startswith("FAILED "))
    # Of a test with several cases, each that failed was asked.
    asked = [
        passed
        for passed in (True, False)
        if re.search(rf"^{re.escape(again.asked_alone(mutant.test, passed=passed))}(?:\[.*)?$", said, re.MULTILINE)
    ]
    return Outcome(
        fault=mutant.name,
        file=mutant.file,
        test=mutant.test,
        seconds=round(seconds),
        red=code != 0,
        named=any(line.startswith((f"{mutant.test}:", f"{mutant.test}[")) for line in failed),
        red_alone=(False in asked) if asked else None,
        failed=tuple(line.partition(": ")[0] for line in failed),
    )


def run_domain(fault: Fault, bytecode: Path) -> Outcome:
    """The gate's command on the domain's tests in a copy with the fault; then the test alone, unless the command has asked it."""
    with tempfile.TemporaryDirectory(prefix="atrium-fault-") as name:
        folder, work = Path(name) / "main", Path(name) / "work"
        folder.mkdir()
        work.mkdir()
        copy_to(folder, _READ)
        mutate(folder, fault.mutant)
        (folder / ".venv").symlink_to(sys.prefix)
        seen = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
            "PYTHONPATH": str(folder / "src"),
            "PYTHONPYCACHEPREFIX": str(bytecode),
            "ATRIUM_VERDICTS": str(work / "verdicts"),
        }
        began = time.monotonic()
        code, said = _run(command_of(fault, work), folder, seen)
        seconds = time.monotonic() - began
        found = outcome(fault, code, said, (work / "verdicts").read_text(), seconds)
        if found.red_alone is None:
            code, more = _run([".venv/bin/python", "-m", "pytest", *again.ALONE, fault.mutant.test], folder, seen)
            said += f"{more}\n{again.asked_alone(fault.mutant.test, passed=code != 1)}"
            found = outcome(fault, int(found.red), said, (work / "verdicts").read_text(), seconds)
    if not found.is_refused:
        print(said[-4000:], flush=True)
    return found


def run_whole(fault: Fault) -> Outcome:
    """The whole gate in a fresh clone of the last commit, with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="atrium-fault-") as name:
        clone = Path(name) / "main"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        mutate(clone, fault.mutant)
        seen = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        began = time.monotonic()
        code, said = _run(["bash", ".ci/run"], clone, seen)
    # The gate's last lines are its verdicts; lines of FAILED before them are pytest's own.
    verdicts = said.rpartition("\nprocessor of what was waited for")[2]
    found = outcome(fault, code, said, verdicts, time.monotonic() - began)
    if not found.is_refused:
        print(said[-4000:], flush=True)
    return found


def _run(command: list[str], folder: Path, seen: dict[str, str]) -> tuple[int, str]:
    ran = subprocess.run(command, cwd=folder, env=seen, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return ran.returncode, ran.stdout.decode(errors="replace")


def kept() -> dict[str, dict[str, Any]]:
    """What came out so far: of the domains' own tests, and of whole gates."""
    found: dict[str, dict[str, Any]] = {"domains": {}, "whole": {}}
    return found | (json.loads(FIGURES.read_text()) if FIGURES.exists() else {})


def keep(lane: str, name: str, found: Outcome) -> None:
    """Write an outcome down, in place of an older one of the same fault."""
    before = kept()
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    of_lane = before[lane] | {name: {"commit": commit.stdout.strip(), **asdict(found)}}
    now = before | {lane: dict(sorted(of_lane.items()))}
    FIGURES.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    """Plant, tell and keep; the exit code says whether every fault was refused."""
    names = [fault.name for fault in FAULTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all of them unless said")
    parser.add_argument("--whole", choices=names, help="run this one through the whole gate instead")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no fault is called {', '.join(sorted(unknown))}")
    wanted = [options.whole] if options.whole else options.names or names
    missed = 0
    with tempfile.TemporaryDirectory(prefix="atrium-bytecode-") as bytecode:
        for fault in FAULTS:
            if fault.name not in wanted:
                continue
            found = run_whole(fault) if options.whole else run_domain(fault, Path(bytecode))
            keep("whole" if options.whole else "domains", fault.name, found)
            missed += not found.is_refused
            told = "refused" if found.is_refused else "MISSED "
            print(f"{told} {fault.name}: {found.fault}; {len(found.failed)} failed in {found.seconds} s", flush=True)
    print(f"{len(wanted) - missed} of {len(wanted)} refused")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

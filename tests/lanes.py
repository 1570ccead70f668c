"""Every test of an older commit and its lane now: `python -m tests.lanes COMMIT`, with `--list` each by its name.

A test is a function of a file. One that is gone must be named in REPLACED with the test that shows more; the exit code is 1 otherwise.
"""

import argparse
import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTHING: Mapping[str, str] = {}
# What is gone, and what shows as much or more.
REPLACED: dict[str, str] = {
    "tests/findings/test_table.py::test_every_finding_has_a_test_of_its_number_and_no_test_has_another":
        "tests/architecture/test_findings.py::test_every_test_that_is_named_by_a_finding_is_of_one_on_the_page",
    "tests/findings/test_table.py::test_the_page_names_a_test_of_the_findings_own_number":
        "tests/architecture/test_findings.py::test_the_page_names_tests_of_the_findings_own_number",
    "tests/ai/test_agent_faults.py::test_a_run_whose_server_was_killed_goes_on_elsewhere_and_does_nothing_twice":
        "tests/processes/kills/test_agent.py::test_runs_whose_servers_are_killed_at_any_moment_do_nothing_twice",
    "tests/ai/test_faults.py::test_a_model_that_dies_is_told_in_two_seconds_with_what_it_said":
        "tests/domains/turns/test_faults.py::test_a_model_that_dies_is_told_with_what_it_said",
    "tests/extraction/test_extraction.py::test_a_hostile_document_ends_in_time_and_gives_nothing_away":
        "tests/domains/extraction/test_extraction.py::test_a_hostile_document_ends_and_gives_nothing_away",
    "tests/findings/test_schemas.py::test_f5_what_is_taken_ends_and_keeps_nobody_waiting":
        "tests/domains/inference/test_schemas.py::test_f5_what_is_taken_ends",
    "tests/pipeline/test_render.py::test_a_bomb_ends_in_a_refusal_and_the_loop_goes_on":
        "tests/domains/pipeline/test_render.py::test_a_bomb_ends_in_a_refusal_and_leaves_nothing",
    "tests/pipeline/test_render.py::test_a_harmless_oddity_is_a_form_soon":
        "tests/domains/pipeline/test_render.py::test_a_harmless_oddity_is_a_form",
    "tests/sandbox/test_confinement.py::test_a_guest_that_breaks_fails_its_own_call_and_is_back_within_a_second":
        "tests/domains/sandbox/test_confinement.py::test_a_guest_that_breaks_fails_its_own_call_and_is_back",
    "tests/start/test_backup.py::test_what_was_deleted_between_rows_and_bytes_is_read_after_a_restore":
        "tests/domains/backups/test_restore.py::test_backups_taken_while_people_write_and_delete_come_back_equal",
    "tests/start/test_backup.py::test_without_the_hours_the_same_backup_would_have_lost_it":
        "tests/domains/backups/test_restore.py::test_bytes_that_were_released_meanwhile_make_no_backup",
    "tests/start/test_slow_clients.py::test_others_are_served_while_hundreds_dribble":
        "tests/processes/start/test_slow_clients.py::test_others_are_served_while_many_dribble",
    "tests/translation/test_translate.py::test_a_long_text_goes_in_batches_and_does_not_stop_the_others":
        "tests/domains/translation/test_translate.py::test_a_long_text_goes_in_batches",
    "tests/walls/test_pool.py::test_ten_thousand_transactions_read_nothing_across":
        "tests/walls/test_pool.py::test_no_transaction_of_thousands_reads_across",
    "tests/workflows/test_cost.py::test_a_step_that_writes_takes_six_more":
        "tests/domains/workflows/test_cost.py::test_a_step_that_writes_takes_eight_more",
}  # fmt: skip


def tests_in(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Tests of a file and their lanes."""
    tree = ast.parse(text)
    whole = any(
        isinstance(node, ast.Assign)
        and "pytestmark" in ast.unparse(node.targets[0])
        and "mark.proof" in ast.unparse(node.value)
        for node in tree.body
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marked = whole or any("mark.proof" in ast.unparse(one) for one in node.decorator_list)
            # A parameter set may be marked by itself: the rest of it stays in the gate.
            yield f"{path}::{node.name}", "proofs" if marked and not _is_partly(node) else "gate"


def _is_partly(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("parametrize" in (said := ast.unparse(one)) and "mark.proof" in said for one in node.decorator_list)


def tests_now() -> dict[str, str]:
    """Every test of the checkout."""
    files = sorted((ROOT / "tests").rglob("test_*.py")) + sorted((ROOT / "plugins").rglob("test_*.py"))
    return {name: lane for file in files for name, lane in tests_in(str(file.relative_to(ROOT)), file.read_text())}


def tests_of(commit: str) -> set[str]:
    """Every test of an older commit."""
    listed = _git("ls-tree", "-r", "--name-only", commit, "tests", "plugins").splitlines()
    files = [one for one in listed if Path(one).name.startswith("test_") and one.endswith(".py")]
    return {name for file in files for name, _ in tests_in(file, _git("show", f"{commit}:{file}"))}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def renamed_since(commit: str) -> dict[str, str]:
    """Files that stand elsewhere now, as git tells by what is in them."""
    options = ("-M25%", "-l0", "--diff-filter=R", "--name-status")
    lines = _git("diff", *options, commit, "--", "tests", "plugins").splitlines()
    return {old: new for _, old, new in (line.split("\t") for line in lines)}


def successors(before: set[str], now: Iterable[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Where each test is now: in its file, in the file that this one became, or under its name in another. None stands for two."""
    found: dict[str, str] = {}
    free = dict.fromkeys(sorted(now))

    def take(name: str, here: str | None) -> None:
        if name not in found and here is not None and here in free:
            found[name] = here
            del free[here]

    for name in sorted(before):
        take(name, name)
    for name in sorted(before):
        file, _, function = name.partition("::")
        take(name, f"{renamed.get(file, file)}::{function}")
    elsewhere: defaultdict[str, list[str]] = defaultdict(list)
    for here in free:
        elsewhere[here.partition("::")[2]].append(here)
    for name in sorted(before - set(found)):
        if places := elsewhere[name.partition("::")[2]]:
            take(name, places.pop(0))
    return found


def lanes_of(before: set[str], now: dict[str, str], renamed: Mapping[str, str] = NOTHING) -> dict[str, str]:
    """The lane of each test, by name; a test that moved to another file is still there, and one that is gone without a word is `gone`."""
    at = successors(before, now, renamed)
    lost = {name: "replaced" if REPLACED.get(name) in now else "gone" for name in before - set(at)}
    return {name: now[at[name]] if name in at else lost[name] for name in sorted(before)}


def compare(
    before: set[str], now: dict[str, str], renamed: Mapping[str, str] = NOTHING
) -> tuple[Counter[str], list[str]]:
    """How many are in which lane, and those that are gone without a word."""
    found = lanes_of(before, now, renamed)
    lost = [name for name, lane in found.items() if lane == "gone"]
    return Counter(lane for lane in found.values() if lane != "gone"), lost


def listed(before: set[str], now: dict[str, str], renamed: Mapping[str, str] = NOTHING) -> list[str]:
    """A line for every test of before with its lane now, then one for every test that was not there."""
    known = {name.partition("::")[2] for name in before}
    old = [f"{lane:8}  {name}" for name, lane in lanes_of(before, now, renamed).items()]
    new = [f"{lane:8}  {name}  (new)" for name, lane in sorted(now.items()) if name.partition("::")[2] not in known]
    return old + new


def main(commit: str, *, by_name: bool = False) -> int:
    """Print the lanes, and what is gone."""
    now, before, renamed = tests_now(), tests_of(commit), renamed_since(commit)
    lanes, lost = compare(before, now, renamed)
    if by_name:
        print("\n".join(listed(before, now, renamed)))
    print(
        f"of {len(before)} tests of {commit}: " + ", ".join(f"{count} {lane}" for lane, count in sorted(lanes.items()))
    )
    print(f"now: {len(now)}, of which {sum(lane == 'proofs' for lane in now.values())} proofs")
    print("\n".join(f"gone: {name}" for name in lost))
    return 1 if lost else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", metavar="COMMIT")
    parser.add_argument("--list", action="store_true", help="print every test and its lane")
    options = parser.parse_args()
    sys.exit(main(options.commit, by_name=options.list))

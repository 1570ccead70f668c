"""27. Take away one protection of the run engine or of its calls and see a test fail: `python -m tests.domains.workflows.mutants [word …]`.

Each mutant is a source file with one phrase changed, in a copy of the project beside this one. A mutant that survives means a
protection that no test would miss; it is printed and the exit code is 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import ROOT
from tests.support.schema_functions import newest


@dataclass(frozen=True, slots=True)
class Mutant:
    """One phrase of one file, what it becomes, and the tests that miss it."""

    name: str
    file: str
    phrase: str
    becomes: str
    tests: tuple[str, ...]


ROWS, ADVANCING, SETTLING = (
    "src/atrium/engine/workflows/run_rows.py",
    "src/atrium/engine/workflows/progress.py",
    "src/atrium/engine/jobs/settlement.py",
)
CALLS, STEP, AGENT_CALLS = (
    "src/atrium/engine/tools/calls.py",
    "src/atrium/engine/workflows/step_attempt.py",
    "src/atrium/engine/agent/calls.py",
)
WRITES_ONCE = "tests/domains/workflows/test_protections.py::test_a_late_attempt_has_no_effect_after_another"
RECORDS = "tests/domains/agent/test_records.py"
# Where these functions of the schema are made last.
SETTLED, HANDED_ON = newest()["settle_jobs"].file, newest()["hand_on_jobs"].file
MUTANTS = (
    Mutant(
        "advancing does not hold the run", ROWS, "AND s.state = 'open' ORDER BY r.id FOR NO KEY UPDATE OF r", "AND s.state = 'open'",
        ("tests/domains/workflows/test_protections.py::test_a_settlement_waits_for_the_run",),
    ),
    Mutant(
        "a kept result does not keep the effect from being repeated", "src/atrium/engine/workflows/attempt_rows.py",
        "AND NOT kept AND state = 'open'", "",
        ("tests/domains/workflows/test_protections.py::test_a_late_attempt_has_no_effect_after_another",),
    ),
    Mutant(
        "a later attempt does not look for a kept result", "src/atrium/engine/workflows/step_attempt.py",
        "if job.attempt > 1 and await _is_done(op, key):", "if False:",
        ("tests/domains/workflows/test_protections.py::test_a_second_attempt_does_not_call_the_tool_again",),
    ),
    Mutant(
        "a step has no record", STEP, "call_tool(acting, given.tool, given.arguments, record)",
        "call_tool(acting, given.tool, given.arguments)", (WRITES_ONCE,),
    ),
    Mutant(
        "a step records nothing before an effect elsewhere", STEP, "if not tool.acts_elsewhere:", "if True:",
        ("tests/domains/workflows/test_rights.py::test_an_effect_elsewhere_whose_end_was_not_seen_is_not_repeated",),
    ),
    Mutant(
        "what a tool changes is not recorded with it", CALLS,
        "await (record.begin(ctx, tool) if tool.perform is not None else record.end(ctx, result))",
        "await record.begin(ctx, tool) if tool.perform is not None else None", (f"{WRITES_ONCE}[write]",),
    ),
    Mutant(
        "a tool that waits has no record", CALLS, "record=own_record)", "record=None)", (f"{WRITES_ONCE}[write_slowly]",),
    ),
    Mutant(
        "a transaction of a tool that waits has no record", "src/atrium/seams/context.py", "            record=self.record,\n", "",
        (f"{WRITES_ONCE}[write_slowly]", f"{RECORDS}::test_an_effect_that_was_recorded_is_not_repeated_when_its_process_is_lost"),
    ),
    Mutant(
        "a tool's own tool has its record", CALLS, "op = msgspec.structs.replace(op, record=None)", "record = record or op.record",
        (
            "tests/domains/workflows/test_protections.py::test_what_a_tools_own_tool_comes_to_is_not_what_the_step_comes_to",
            f"{RECORDS}::test_what_a_tools_own_tool_comes_to_is_not_what_the_call_comes_to",
        ),
    ),
    Mutant(
        "a tool that writes may record nothing", CALLS, "    if tool.must_record:\n", "    if False:\n",
        (f"{RECORDS}::test_a_tool_that_writes_and_records_nothing_fails",),
    ),
    Mutant(
        "a tool that writes need not say that it records", "src/atrium/seams/tools.py",
        "not returns(tool.perform, RecordedResult)", "False",
        ("tests/domains/plugins/test_api.py::test_a_plugin_with_a_fault_is_refused_by_name_and_leaves_nothing",),
    ),
    Mutant(
        "a call of the agent has no record", AGENT_CALLS, "await call_tool(op, call.name, call.arguments, record)",
        "await call_tool(op, call.name, call.arguments)",
        ("tests/domains/agent/test_api.py::test_a_call_of_a_process_taken_for_dead_leaves_nothing",),
    ),
    Mutant(
        "the agent keeps no result with its effect", AGENT_CALLS,
        "if not await store.end_call(ctx.db, ctx.who.org_id, self.run.id, kept):", "if False:",
        (f"{RECORDS}::test_an_effect_that_was_recorded_is_not_repeated_when_its_process_is_lost",),
    ),
    Mutant(
        "the agent does not note that a call has begun", AGENT_CALLS,
        "if not await store.begin_call(ctx.db, ctx.who.org_id, self.run.id, self.call.number):", "if False:",
        (
            "tests/domains/agent/test_api.py::test_what_a_stopped_run_had_begun_outside_is_unknown_and_what_it_had_not_is_not_done",
            f"{RECORDS}::test_a_tool_that_waits_in_a_process_taken_for_dead_writes_nothing",
        ),
    ),
    Mutant(
        "a process that lost its run records all the same", AGENT_CALLS,
        "        await require_ours(ctx, self.run)\n        if not await store.end_call(",
        "        if not await store.end_call(",
        (f"{RECORDS}::test_a_tool_that_waits_in_a_process_taken_for_dead_writes_nothing",),
    ),
    Mutant(
        "the agent takes any definition of a tool", AGENT_CALLS, "if digest_of(tool, self.call.arguments) != self.call.digest:",
        "if False:", (f"{RECORDS}::test_a_tool_that_changed_after_the_question_is_not_called",),
    ),
    Mutant(
        "a call that breaks off after its effect counts as refused", AGENT_CALLS, "if self.ended is None:", "if True:",
        (f"{RECORDS}::test_a_call_that_breaks_off_after_its_effect_is_told_as_done",),
    ),
    Mutant(
        "what was recorded and undone counts as done", AGENT_CALLS, 'and one.status == "ok" for one in calls', "for one in calls",
        (f"{RECORDS}::test_what_was_recorded_and_undone_is_told_as_refused",),
    ),
    Mutant(
        "a document is not recorded with what writes it", "src/atrium/product/pipeline/derived.py",
        "recorded.append(await ctx.record_result(described(written)))",
        "recorded.append(RecordedResult(described(written)))",
        ("tests/domains/pipeline/test_derived.py::test_attempts_of_one_step_at_once_write_once",),
    ),
    Mutant(
        "one job's error undoes nothing of what was done for it", SETTLING,
        "            async with ctx.db.savepoint():\n", "            if True:\n",
        ("tests/domains/workflows/test_protections.py::test_what_was_half_done_for_a_broken_run_is_undone",),
    ),
    Mutant(
        "a settlement whose batch fails is not taken apart", SETTLING,
        "return [await _settle_alone(services, org_id, one) for one in reports]", "raise",
        ("tests/domains/workflows/test_invariants.py::test_25_an_interpreter_error_fails_its_own_run_only",),
    ),
    Mutant(
        "settling ignores the token", SETTLED, "AND j.claim_token = u.token", "",
        ("tests/domains/workflows/test_protections.py::test_the_word_of_a_lost_attempt_does_not_count",),
    ),
    Mutant(
        "settling ignores the lease", SETTLED, "         AND j.lease_until > clock_timestamp()\n", "",
        ("tests/domains/workflows/test_protections.py::test_the_word_of_an_attempt_past_its_lease_does_not_count",),
    ),
    Mutant(
        "handing on does not look at what else waits", "src/atrium/engine/jobs/store.py",
        "CASE WHEN w.busy THEN '{{}}' ELSE q.ids END", "q.ids",
        ("tests/domains/workflows/test_handing_on.py::test_a_kind_that_spends_is_not_passed_either",),
    ),
    Mutant(
        "handing on ignores a closed team", HANDED_ON, "AND t.open AND l.opens_at IS NULL) f", ") f",
        ("tests/domains/workflows/test_handing_on.py::test_nothing_is_handed_on_while_the_company_is_suspended",),
    ),
    Mutant(
        "handing on ignores the caps", HANDED_ON,
        "WHERE f.nth <= f.room AND (f.company_room IS NULL OR f.company_nth <= f.company_room)", "WHERE true",
        ("tests/domains/workflows/test_handing_on.py::test_nothing_is_handed_on_above_a_cap",),
    ),
    Mutant(
        "what was done beside a lost attempt counts", SETTLING,
        "for report in counted for one in report.beside}:", "for report in reports for one in report.beside}:",
        ("tests/domains/workflows/test_beside.py::test_what_a_worker_did_beside_an_attempt_that_it_lost_counts_for_nothing",),
    ),
    Mutant(
        "what was done beside an attempt ends also where another worker has it", "src/atrium/engine/jobs/attempt_rows.py",
        "AND k.state = 'queued' AND k.attempt = 0", "",
        ("tests/domains/workflows/test_beside.py::test_an_item_that_another_worker_has_ends_with_that_worker",),
    ),
    Mutant(
        "tools with an effect are done beside others", "src/atrium/engine/tools/calls.py",
        'return own is not None and effect_of(own) == "read" and own.perform is None', "return own is not None",
        ("tests/domains/workflows/test_beside.py::test_only_what_reads_within_its_call_is_done_beside",),
    ),
    Mutant(
        "an ended run leaves its jobs waiting", ADVANCING,
        "    if cancelled := await jobs.drop(ctx, open_jobs):\n", "    if cancelled := []:\n",
        ("tests/domains/workflows/test_invariants.py::test_26_cancelling_cancels_what_waits_of_a_map_and_starts_nothing_more",),
    ),
)  # fmt: skip


def mutated(mutant: Mutant) -> str:
    """The file with the change."""
    text = (ROOT / mutant.file).read_text()
    if mutant.phrase not in text:
        raise SystemExit(f"{mutant.name}: the phrase is gone from {mutant.file}; rewrite the mutant")
    return text.replace(mutant.phrase, mutant.becomes)


def is_killed(mutant: Mutant | None, tests: tuple[str, ...], folder: Path) -> bool:
    """Whether a test fails with this change; nothing is changed for None."""
    for name in ("src", "tests", "migrations", "plugins", "locales"):
        if (ROOT / name).exists() and not (folder / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    if mutant is not None:
        (folder / mutant.file).write_text(mutated(mutant))
    seen = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(folder / "src"), str(folder))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-x", "--timeout", "120", *tests]
    ended = subprocess.run(command, cwd=folder, env=seen, capture_output=True, text=True)
    if mutant is not None:
        shutil.copy(ROOT / mutant.file, folder / mutant.file)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {ended.returncode}:\n{ended.stdout[-3000:]}{ended.stderr[-2000:]}")
    return ended.returncode == 1


def main() -> int:
    """Run the mutants, or those whose names have a word."""
    wanted = [one for one in MUTANTS if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:])]
    survived = 0
    with tempfile.TemporaryDirectory(prefix="atrium-mutants-") as folder:
        tests = tuple(sorted({test for mutant in wanted for test in mutant.tests}))
        if is_killed(None, tests, Path(folder)):
            raise SystemExit("a test fails without any mutant")
        for mutant in wanted:
            killed = is_killed(mutant, mutant.tests, Path(folder))
            survived += not killed
            print(f"{'killed  ' if killed else 'SURVIVED'} {mutant.name}", flush=True)
    print(f"{len(wanted) - survived} of {len(wanted)} killed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

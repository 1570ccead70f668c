"""Take one repair away at a time and see its test fail: `python -m tests.findings.mutants [number …]`.

Each mutant is a copy of the checkout with one phrase changed. A mutant that survives means a repair that no test would miss;
it is printed, and the exit code is 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
COPIED = ("src", "tests", "migrations", "plugins", "locales", "benchmarks", "worker", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One phrase of one file, what it becomes, and the test that must notice."""

    number: str
    name: str
    file: str
    phrase: str
    becomes: str
    test: str


MUTANTS = (
    Mutant(
        "F1", "S3's replies carry no policy", "src/atrium/edge/app.py",
        "return (_NOSNIFF, policy) if reply.download.bare", "return () if reply.download.bare",
        "tests/findings/test_content.py::test_f1_every_reply_of_s3_has_a_policy",
    ),
    Mutant(
        "F1", "replies of the table carry no policy", "src/atrium/edge/app.py",
        "COMMON = (_NOSNIFF, _STRICT,", "COMMON = (_NOSNIFF,",
        "tests/findings/test_content.py::test_f1_every_reply_of_every_row_has_a_policy",
    ),
    Mutant(
        "F1", "a CORS document needs no rule", "src/atrium/product/s3/cors.py",
        "if not 1 <= len(found) <= MOST_RULES:", "if len(found) > MOST_RULES:",
        "tests/findings/test_content.py::test_f1_a_document_without_a_rule_is_refused",
    ),
    Mutant(
        "F1", "a session in a cookie gives without the password", "src/atrium/edge/app.py",
        "confirms = op.who.cookie and gate.gives(route, arguments)", "confirms = False",
        "tests/api/test_cookies.py",
    ),
    Mutant(
        "F2", "an operator may claim jobs", "src/atrium/ground/access/model.py",
        "held = PERMISSIONS - WORKER if operator", "held = PERMISSIONS if operator",
        "tests/findings/test_workers.py::test_f2_no_person_claims_a_job_not_even_an_operator",
    ),
    Mutant(
        "F3", "the gate lets a worker into every row", "src/atrium/edge/gate.py",
        'if who.credential == "worker" and route.permission not in WORKER:', "if False:",
        "tests/findings/test_workers.py::test_f3_a_worker_reaches_nothing_that_people_reach",
    ),
    Mutant(
        "F4", "what is given is not compared with what is held", "src/atrium/ground/identity/giving.py",
        "if beyond := sorted(given - who.permissions):", "if beyond := sorted(given - given):",
        "tests/findings/test_people.py",
    ),
    Mutant(
        "F5", "a schema may ask for a reply of any size", "src/atrium/kit/scales.py",
        "if least.values > MOST_VALUES or least.text > MOST_TEXT:", "if False:",
        "tests/findings/test_schemas.py::test_f5_what_would_cost_too_much_is_refused_when_it_is_asked_for",
    ),
    Mutant(
        "F5", "a schema may have any number of places", "src/atrium/kit/scales.py",
        "if places > HEAVIEST:", "if False:",
        "tests/findings/test_schemas.py::test_f5_what_would_cost_too_much_is_refused_when_it_is_asked_for",
    ),
    Mutant(
        "F6", "a head may have any number of headers", "src/atrium/boot/connection.py",
        "if len(headers) >= MOST_HEADERS:", "if False:",
        "tests/findings/test_stalls.py::test_f6_a_head_is_bounded_in_bytes_and_headers",
    ),
    Mutant(
        "F6", "a head may have any number of bytes", "src/atrium/boot/connection.py",
        "if self._untold > LARGEST_HEAD:", "if False:",
        "tests/findings/test_stalls.py::test_f6_a_head_is_bounded_in_bytes_and_headers",
    ),
    Mutant(
        "G1", "an admin sees the values of every run", "src/atrium/engine/workflows/reading.py",
        "shown = mine | {id for id in others if touched[id].isdisjoint(unreadable)}", "shown = mine | others",
        "tests/findings/test_silence.py::test_g1_what_a_run_read_is_shown_to_those_who_can_read_it",
    ),
    Mutant(
        "G1", "what is in scope is not asked for", "src/atrium/engine/workflows/reading.py",
        "return all(ctx.who.within_scope(permission) for permission in needed)", "return True",
        "tests/findings/test_silence.py::test_g1_a_token_needs_the_scope_of_everything_that_was_read",
    ),
    Mutant(
        "G2", "an error's message is for everybody", "src/atrium/engine/workflows/reading.py",
        "asdict(run.error), shown=False))", "asdict(run.error), shown=True))",
        "tests/findings/test_silence.py::test_g2_a_failure_tells_its_code_to_all_and_its_words_to_those_who_see_the_values",
    ),
    Mutant(
        "G3", "snippets are cut on the loop", "src/atrium/product/search/service.py",
        "small=_CUT_AT_ONCE, seconds=_CUT_SECONDS,", "small=1 << 40, seconds=_CUT_SECONDS,",
        "tests/findings/test_loop.py::test_g3_snippets_of_long_texts_are_cut_elsewhere",
    ),
    Mutant(
        "G4", "signing in shares the threads of all work", "src/atrium/kit/passwords.py",
        "run_in_executor(self._thread,", "run_in_executor(None,",
        "tests/findings/test_loop.py::test_g4_signing_in_waits_for_no_thread_that_texts_can_take",
    ),
    Mutant(
        "G4", "heavy work may be called on the loop", "src/atrium/kit/compute.py",
        "if asyncio._get_running_loop() is not None and not _at_once.get():", "if False:",
        "tests/unit/test_compute.py::test_heavy_work_on_the_event_loop_is_refused",
    ),
    Mutant(
        "G4", "a question is read before it is admitted", "src/atrium/engine/ai/service.py",
        "await quotas.settle(op, await quotas.admit(op, turns.reserved_for(turn, 0), lease=_SHORT_LEASE), {})", "pass",
        "tests/findings/test_loop.py::test_g4_a_question_that_is_refused_anyway_is_not_read_first",
    ),
    Mutant(
        "G5", "values by default are not counted", "src/atrium/engine/workflows/bindings.py",
        "    allowance.count()\n    if isinstance(value, list):", "    if isinstance(value, list):",
        "tests/findings/test_loop.py::test_g5_values_by_default_count_like_all_others",
    ),
    Mutant(
        "G5", "a process that says nothing is dead", "src/atrium/engine/ai/store.py",
        "THEN :longest ELSE :silence END))", "THEN :silence ELSE :silence END)) AND :longest > 0",
        "tests/findings/test_loop.py::test_g5_a_busy_process_keeps_its_turns_while_its_session_lives",
    ),
    Mutant(
        "G6", "a refusal taints nothing", "src/atrium/engine/ai/agent_calls.py",
        "taints=tool.untrusted or tool.perform is not None)", "taints=False)",
        "tests/findings/test_silence.py::test_g6_a_refusal_of_a_tool_that_waits_for_a_model_taints",
    ),
    Mutant(
        "G9", "a page is bounded by what is stored", "src/atrium/engine/workflows/store.py",
        "sum(coalesce(value_bytes, octet_length(concat(input, item, output))))", "sum(coalesce(pg_column_size(output), 0))",
        "tests/workflows/test_sizes.py::test_g9_a_page_of_a_run_is_bounded_in_bytes_that_are_sent",
    ),
    Mutant(
        "G15", "the cache of folded characters grows", "src/atrium/product/search/words.py",
        "if len(self) < _MOST_FOLDED:", "if True:",
        "tests/findings/test_loop.py::test_g15_the_cache_of_folded_characters_is_bounded",
    ),
    Mutant(
        "P1", "the trail tells the words of private things", "src/atrium/ground/audit/words.py",
        "if hidden.isdisjoint(event.facts):", "if True:",
        "tests/findings/test_silence.py::test_p1_what_the_trail_said_before_is_left_out_for_all_but_the_owner",
    ),
)  # fmt: skip


def copy_to(folder: Path) -> None:
    """The checkout without what is built or installed."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / name)


def mutate(folder: Path, mutant: Mutant) -> None:
    path = folder / mutant.file
    text = path.read_text()
    if mutant.phrase not in text:
        raise SystemExit(f"{mutant.number} {mutant.name}: the phrase is gone from {mutant.file}; rewrite the mutant")
    path.write_text(text.replace(mutant.phrase, mutant.becomes))


def is_noticed(mutant: Mutant) -> bool:
    """Whether the test fails once the repair is gone; that it could not run at all is no proof."""
    with tempfile.TemporaryDirectory(prefix="atrium-mutant-") as name:
        folder = Path(name)
        copy_to(folder)
        mutate(folder, mutant)
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutant.test],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder / "src")},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    if ran.returncode not in (0, 1) or "error" in ran.stdout.splitlines()[-1]:
        raise SystemExit(
            f"{mutant.number} {mutant.name}: the test did not run:\n{ran.stdout[-2000:]}{ran.stderr[-500:]}"
        )
    return ran.returncode == 1


def main() -> int:
    asked = {word.upper() for word in sys.argv[1:]}
    wanted = [mutant for mutant in MUTANTS if not asked or mutant.number in asked]
    survived = 0
    for mutant in wanted:
        noticed = is_noticed(mutant)
        survived += not noticed
        print(f"{'noticed ' if noticed else 'SURVIVED'} {mutant.number} {mutant.name}", flush=True)
    print(f"{len(wanted) - survived} of {len(wanted)} noticed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

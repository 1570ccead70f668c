"""Take one repair away at a time and see its test fail: `python -m tests.mutants [number …]`.

Each mutant is a copy of the checkout with one phrase changed. A mutant that survives means a repair that no test would miss;
it is printed, and the exit code is 1.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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
        "G8", "connections are on one account", "src/atrium/kit/postgres/pool.py",
        "await self._shares.take(owner, ACQUIRE_SECONDS)", "await self._shares.take(owner := None, ACQUIRE_SECONDS)",
        "tests/domains/edge/test_shares.py::test_g8_requests_of_a_company_that_waits_do_not_delay_anothers",
    ),
    Mutant(
        "G8", "searches wait for no place", "src/atrium/edge/dispatch.py",
        "if not _takes_long(route, request):", "if True:",
        "tests/domains/edge/test_shares.py::test_g8_searches_wait_for_each_other_and_nothing_else_waits_for_them",
    ),
    Mutant(
        "G11", "a company may hold every stream", "src/atrium/kit/work/shares.py",
        "self._held[owner] < self.GENEROSITY * free", "free > 0",
        "tests/domains/edge/test_shares.py::test_g11_whoever_has_many_streams_leaves_room_for_who_comes_later",
    ),
    Mutant(
        "G7", "a fired run acts as its writer alone", "src/atrium/engine/workflows/bounds.py",
        "others = tuple(people[id]", "others = () and tuple(people[id]",
        "tests/domains/triggers/test_deputies.py::test_g7_a_generated_dozen_carries_nothing_out",
    ),
    Mutant(
        "G7", "what is handed out is not compared with what others can read", "src/atrium/seams/sharing.py",
        "for other in ctx.others_bound():", "for other in ():",
        "tests/domains/triggers/test_deputies.py::test_g7_a_generated_dozen_carries_nothing_out",
    ),
    Mutant(
        "G7", "a file that others cannot read confines nothing", "src/atrium/engine/workflows/bounds.py",
        "confined = found.fired_by is not None and", "confined = False and",
        "tests/domains/triggers/test_deputies.py::test_g7_a_private_file_fires_and_stays_private",
    ),
    Mutant(
        "G7", "nothing is asked before something is sent elsewhere", "src/atrium/engine/tools/calls.py",
        "if ctx.bound is None or not tool.sends_out or ctx.bound.egress:", "if True:",
        "tests/domains/triggers/test_deputies.py::test_g7_nothing_is_sent_elsewhere_without_an_admins_word_for_this_version",
    ),
    Mutant(
        "G7", "a resumed run acts as who resumes it alone", "src/atrium/engine/workflows/resumption.py",
        "if bound.trigger_id is None:", "if True:",
        "tests/domains/triggers/test_deputies.py::test_g7_going_on_with_a_fired_run_reads_no_more_than_it_did",
    ),
    Mutant(
        "G7", "the word for sending is not read again", "src/atrium/product/triggers/fires.py",
        " and await may_send(ctx, trigger.id, found.digest)", "",
        "tests/domains/triggers/test_makers.py::test_a_word_that_is_taken_back_while_a_version_fires_counts",
    ),
    Mutant(
        "G7", "the word for sending is not held", "src/atrium/product/triggers/store.py",
        "id = :id FOR SHARE", "id = :id",
        "tests/domains/triggers/test_makers.py::test_taking_back_the_word_waits_for_a_version_that_fires",
    ),
    Mutant(
        "G7", "the word for sending survives another input", "src/atrium/product/triggers/service.py",
        "elif not _is_given_alike(before, after):", "elif False:",
        "tests/domains/triggers/test_makers.py::test_a_word_for_sending_does_not_count_for_another_workflow_or_input",
    ),
    Mutant(
        "G7", "what fired a run is not noted as its thing", "src/atrium/engine/workflows/service.py",
        "fired_by = [] if run.fired_by is None else", "fired_by = [] if True else",
        "tests/domains/triggers/test_makers.py::test_a_run_shows_its_input_to_who_can_read_the_file_that_fired_it",
    ),
    Mutant(
        "G7", "another member's version is started without a look", "src/atrium/product/knowledge/service.py",
        "        await definitions.require_accepted(ctx, found)\n", "",
        "tests/domains/workflows/test_review.py::test_reading_documents_into_the_graph_starts_no_version_that_nobody_looked_at",
    ),
    Mutant(
        "F1", "S3's replies carry no policy", "src/atrium/edge/app.py",
        "return (_NOSNIFF, policy) if reply.download.bare", "return () if reply.download.bare",
        "tests/domains/edge/test_policies.py::test_f1_every_reply_of_s3_has_a_policy",
    ),
    Mutant(
        "F1", "replies of the table carry no policy", "src/atrium/edge/app.py",
        "COMMON = (_NOSNIFF, _STRICT,", "COMMON = (_NOSNIFF,",
        "tests/domains/edge/test_policies.py::test_f1_every_reply_of_every_row_has_a_policy",
    ),
    Mutant(
        "F1", "a CORS document needs no rule", "src/atrium/product/s3/cors.py",
        "if not 1 <= len(found) <= MOST_RULES:", "if len(found) > MOST_RULES:",
        "tests/domains/edge/test_policies.py::test_f1_a_document_without_a_rule_is_refused",
    ),
    Mutant(
        "F1", "a session in a cookie gives without the password", "src/atrium/edge/dispatch.py",
        "confirms = op.who.cookie and gate.gives(route, arguments)", "confirms = False",
        "tests/domains/identity/test_cookies.py",
    ),
    Mutant(
        "F2", "an operator may claim jobs", "src/atrium/ground/access/model.py",
        "held = PERMISSIONS - WORKER if operator", "held = PERMISSIONS if operator",
        "tests/domains/executors/test_workers.py::test_f2_no_person_claims_a_job_not_even_an_operator",
    ),
    Mutant(
        "F3", "the gate lets a worker into every row", "src/atrium/edge/gate.py",
        'if who.credential == "worker" and route.permission not in WORKER:', "if False:",
        "tests/domains/executors/test_workers.py::test_f3_a_worker_reaches_nothing_that_people_reach",
    ),
    Mutant(
        "F4", "what is given is not compared with what is held", "src/atrium/ground/identity/role_changes.py",
        "if beyond := sorted(given - who.permissions):", "if beyond := sorted(given - given):",
        "tests/domains/identity/test_people.py",
    ),
    Mutant(
        "F5", "a schema may ask for a reply of any size", "src/atrium/kit/schemas/cost.py",
        "if least.values > MOST_VALUES or least.text > MOST_TEXT:", "if False:",
        "tests/domains/inference/test_schemas.py::test_f5_what_would_cost_too_much_is_refused_when_it_is_asked_for",
    ),
    Mutant(
        "F5", "a schema may have any number of places", "src/atrium/kit/schemas/cost.py",
        "if places > HEAVIEST:", "if False:",
        "tests/domains/inference/test_schemas.py::test_f5_what_would_cost_too_much_is_refused_when_it_is_asked_for",
    ),
    Mutant(
        "F6", "a head may have any number of headers", "src/atrium/boot/connection.py",
        "if len(headers) >= MOST_HEADERS:", "if False:",
        "tests/domains/edge/test_stalls.py::test_f6_a_head_is_bounded_in_bytes_and_headers",
    ),
    Mutant(
        "F6", "a head may have any number of bytes", "src/atrium/boot/connection.py",
        "if self._untold > LARGEST_HEAD:", "if False:",
        "tests/domains/edge/test_stalls.py::test_f6_a_head_is_bounded_in_bytes_and_headers",
    ),
    Mutant(
        "G1", "an admin sees the values of every run", "src/atrium/engine/workflows/run_view.py",
        "shown = mine | {id for id in others if touched[id].isdisjoint(unreadable)}", "shown = mine | others",
        "tests/domains/sharing/test_silence.py::test_g1_what_a_run_read_is_shown_to_those_who_can_read_it",
    ),
    Mutant(
        "G1", "what is in scope is not asked for", "src/atrium/engine/workflows/run_view.py",
        "return all(ctx.who.within_scope(permission) for permission in needed)", "return True",
        "tests/domains/sharing/test_silence.py::test_g1_a_token_needs_the_scope_of_everything_that_was_read",
    ),
    Mutant(
        "G2", "an error's message is for everybody", "src/atrium/engine/workflows/run_view.py",
        "asdict(run.error), shown=False))", "asdict(run.error), shown=True))",
        "tests/domains/sharing/test_silence.py::test_g2_a_failure_tells_its_code_to_all_and_its_words_to_those_who_see_the_values",
    ),
    Mutant(
        "G3", "snippets are cut on the loop", "src/atrium/product/search/hits.py",
        "small=_CUT_AT_ONCE, seconds=_CUT_SECONDS,", "small=1 << 40, seconds=_CUT_SECONDS,",
        "tests/domains/kit/test_loop.py::test_g3_snippets_of_long_texts_are_cut_elsewhere",
    ),
    Mutant(
        "G4", "signing in shares the threads of all work", "src/atrium/kit/crypto/passwords.py",
        "self._thread.run(account.get(), function", '__import__("asyncio").to_thread(function',
        "tests/domains/kit/test_loop.py::test_g4_signing_in_waits_for_no_thread_that_texts_can_take",
    ),
    Mutant(
        "G8", "whoever signs in takes turns with nobody", "src/atrium/kit/crypto/passwords.py",
        "self._thread.run(account.get(), function", "self._thread.run(None, function",
        "tests/domains/kit/test_passwords.py::test_one_who_signs_in_does_not_wait_for_all_attempts_of_another",
    ),
    Mutant(
        "G4", "heavy work may be called on the loop", "src/atrium/kit/work/compute.py",
        "if asyncio._get_running_loop() is not None and not _at_once.get():", "if False:",
        "tests/domains/kit/test_compute.py::test_heavy_work_on_the_event_loop_is_refused",
    ),
    Mutant(
        "G4", "a question is read before it is admitted", "src/atrium/engine/turns/utility.py",
        "await quotas.settle(op, await quotas.admit(op, turns.reserved_for(turn, 0), lease=SHORT_LEASE), {})", "pass",
        "tests/domains/kit/test_loop.py::test_g4_a_question_that_is_refused_anyway_is_not_read_first",
    ),
    Mutant(
        "G5", "values by default are not counted", "src/atrium/engine/workflows/bindings.py",
        "    allowance.count()\n    if isinstance(value, list):", "    if isinstance(value, list):",
        "tests/domains/kit/test_loop.py::test_g5_values_by_default_count_like_all_others",
    ),
    Mutant(
        "G5", "a process that says nothing is dead", "src/atrium/engine/turns/store.py",
        "THEN :longest ELSE :silence END))", "THEN :silence ELSE :silence END)) AND :longest > 0",
        "tests/domains/kit/test_loop.py::test_g5_a_busy_process_keeps_its_turns_while_its_session_lives",
    ),
    Mutant(
        "G6", "a refusal taints nothing", "src/atrium/engine/agent/calls.py",
        "taints=tool.untrusted or tool.perform is not None)", "taints=False)",
        "tests/domains/sharing/test_silence.py::test_g6_a_refusal_of_a_tool_that_waits_for_a_model_taints",
    ),
    Mutant(
        "G9", "a page is bounded by what is stored", "src/atrium/engine/workflows/store.py",
        "sum(coalesce(value_bytes, octet_length(concat(input, item, output))))", "sum(coalesce(pg_column_size(output), 0))",
        "tests/domains/workflows/test_sizes.py::test_g9_a_page_of_a_run_is_bounded_in_bytes_that_are_sent",
    ),
    Mutant(
        "G15", "the cache of folded characters grows", "src/atrium/product/search/words.py",
        "if len(self) < _MOST_FOLDED:", "if True:",
        "tests/domains/kit/test_loop.py::test_g15_the_cache_of_folded_characters_is_bounded",
    ),
    Mutant(
        "E18", "a tool that is offered taints", "src/atrium/engine/agent/service.py",
        "offered, _with_rules(messages), taint)",
        "offered, _with_rules(messages), taint + [Taint.of(t.name, '') for t in offered if t.foreign])",
        "tests/domains/agent/test_injection.py::test_e18_a_foreign_tool_taints_by_its_result_and_not_by_being_offered",
    ),
    Mutant(
        "E18", "a model reads what nobody sees", "src/atrium/kit/text/plain.py",
        'return _UNSEEN.sub("", text)', "return text",
        "tests/domains/mcp/test_definitions.py::test_e18_a_model_reads_what_the_person_read_who_turned_a_tool_on",
    ),
    Mutant(
        "E21", "a text that is being read is not waited for", "src/atrium/engine/chat/message_parts.py",
        "found = await _once_read(op, found, until)", "pass",
        "tests/domains/chat/test_api.py::test_e21_a_turn_waits_for_the_text_of_its_file",
    ),
    Mutant(
        "E21", "the end of a text is told to nobody", "src/atrium/engine/repository/text_rows.py",
        "SELECT pg_notify('atrium_jobs', :topic) FROM ended", "SELECT :topic FROM ended",
        "tests/domains/chat/test_api.py::test_e21_a_turn_waits_for_the_text_of_its_file",
    ),
    Mutant(
        "E11", "every text waits for a job", "src/atrium/engine/extraction/listeners.py",
        "if read is not None:", "if False:",
        "tests/domains/search/test_bodies.py::test_e11_the_body_of_a_document_is_found_with_its_change",
    ),
    Mutant(
        "E11", "a long upload is read at once", "src/atrium/engine/repository/writes.py",
        "_AT_HAND = 256 << 10", "_AT_HAND = 256 << 20",
        "tests/domains/search/test_bodies.py::test_e11_a_text_that_cannot_be_read_at_once_waits_for_the_job",
    ),
    Mutant(
        "E13", "shape hides meaning", "src/atrium/seams/workflows.py",
        "return _some(chain(misshapen, misled, follow))", "return misshapen or _some(chain(misled, follow))",
        "tests/domains/workflows/test_format.py::test_e13_a_problem_of_shape_does_not_hide_what_is_wrong_elsewhere",
    ),
    Mutant(
        "E14", "a run's tag is of the run", "src/atrium/engine/workflows/run_model.py",
        "return etag_of(self)", "return etag_of(getattr(self, 'id', 0))",
        "tests/domains/workflows/test_rights.py::test_e14_a_runs_tag_is_of_what_its_reader_is_shown",
    ),
    Mutant(
        "E19", "terms are compared as they are written", "src/atrium/product/translation/glossary.py",
        "fold_case(other.term) == plain", "other.term == plain",
        "tests/domains/translation/test_glossary.py::test_e19_a_term_that_another_contradicts_is_refused_and_the_other_is_named",
    ),
    Mutant(
        "E22", "a role in the company counts everywhere", "src/atrium/product/knowledge/service.py",
        'reader["org_wide"] and org_wide', 'reader["org_wide"]',
        "tests/domains/knowledge/test_readers.py::test_e22_a_role_in_the_company_shows_other_teams_entities_where_the_company_is_asked_for",
    ),
    Mutant(
        "G16", "events do not name the token", "src/atrium/ground/identity/role_changes.py",
        'if who.credential != "token":', "if True:",
        "tests/domains/identity/test_given.py::test_g16_revoking_a_token_tells_what_it_gave",
    ),
    Mutant(
        "G5", "behind a pooler nothing tells that the process is there", "src/atrium/kit/postgres/presence.py",
        "                if not direct:", "                if False:",
        "tests/domains/kit/test_presence.py::test_g5_behind_a_pooler_a_thread_tells_that_a_busy_process_is_there",
    ),
    Mutant(
        "G9", "what fits is counted as it is stored", "src/atrium/kit/web/pages.py",
        "len(msgspec.json.encode(text)) for text in texts", "len(text.encode()) for text in texts",
        "tests/domains/edge/test_pages.py::test_g9_what_fits_is_counted_as_it_is_sent",
    ),
    Mutant(
        "G9", "a page of triggers has no bound of bytes", "src/atrium/product/triggers/service.py",
        "page = pager.page(found, min(limit, fits), lambda trigger", "page = pager.page(found, limit, lambda trigger",
        "tests/domains/edge/test_pages.py::test_g9_a_page_of_the_longest_things_is_bounded_in_bytes_that_are_sent",
    ),
    Mutant(
        "G9", "a page of workflows has no bound of bytes", "src/atrium/engine/workflows/definitions.py",
        "min(limit, fits), lambda one: one.slug", "limit, lambda one: one.slug",
        "tests/domains/edge/test_pages.py::test_g9_a_page_of_the_longest_things_is_bounded_in_bytes_that_are_sent",
    ),
    Mutant(
        "G12", "a refused merge says that something is hidden", "src/atrium/product/knowledge/merges.py",
        "if not of_team or await entity_rows.has_unreadable(ctx.db, reader, members):",
        'if await entity_rows.has_unreadable(ctx.db, reader, members):\n        raise NotMergeable("some of it is hidden")\n'
        "    if not of_team:",
        "tests/domains/sharing/test_silence.py::test_with_its_repair_the_same_is_not_heard",
    ),
    Mutant(
        "P1", "the key of a conversation is its question", "src/atrium/engine/chat/conversations.py",
        'key = f"chats/{new_id()}.json"', 'key = f"chats/{title}.json"',
        "tests/domains/sharing/test_silence.py::test_p1_a_conversations_key_says_nothing_of_its_question",
    ),
    Mutant(
        "P1", "the trail keeps the title of what was deleted", "src/atrium/product/notes/trash.py",
        'await audit.record(ctx, "notes.deleted", id)', 'await audit.record(ctx, "notes.deleted", id, title=note.title)',
        "tests/domains/sharing/test_silence.py::test_p1_the_trail_names_things_by_id_and_tells_names_to_those_who_can_read_them",
    ),
    Mutant(
        "P1", "the log quotes what an exception says", "src/atrium/kit/telemetry/exceptions.py",
        'return f"{name}: {\', \'.join(facts)}" if facts else name', 'return f"{name}: {error}"',
        "tests/domains/kit/test_log.py::test_no_message_of_an_exception_is_written_by_us_a_library_or_the_event_loop",
    ),
    Mutant(
        "P1", "the log has whole paths", "src/atrium/edge/access_log.py",
        'if ":" not in route:\n        return route', 'if ":" not in route:\n        return path',
        "tests/domains/sharing/test_silence.py::test_p1_the_log_of_a_request_holds_no_word_of_it",
    ),
    Mutant(
        "P1", "the trail tells the words of private things", "src/atrium/ground/audit/words.py",
        "if hidden.isdisjoint(event.facts):", "if True:",
        "tests/domains/sharing/test_silence.py::test_p1_what_the_trail_said_before_is_left_out_for_all_but_the_owner",
    ),
)  # fmt: skip


def copy_to(folder: Path, names: Sequence[str] = COPIED) -> None:
    """The checkout, or these parts of it, without what is built or installed."""
    for name in names:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, folder / name)


def mutate(folder: Path, mutant: Mutant) -> None:
    """Change the phrase in a copy."""
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

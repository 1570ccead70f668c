"""Tests of the gate with a case of more than two seconds of the processor, each with its reason; the list only shrinks.

`python -m tests.processor` measures; tests/architecture/test_lanes.py compares. A new test that is long belongs to the proofs, with a short
form in the gate.
"""

MOST = 62
_REASONS: dict[str, tuple[str, ...]] = {
    "starts and kills servers": (
        "tests/domains/turns/test_faults.py::test_streams_go_on_without_postgresql_and_are_settled_after",
        "tests/processes/crash/test_lost_connections.py::test_a_server_without_postgresql_answers_503_and_serves_again_when_it_is_back",
        "tests/processes/kills/test_workers.py::test_a_second_signal_hands_everything_back_at_once",
        "tests/processes/kills/test_workers.py::test_a_told_worker_finishes_what_it_can_and_hands_the_rest_back",
        "tests/processes/kills/test_workers.py::test_killed_workers_lose_nothing_and_nothing_lands_twice",
        "tests/processes/kills/test_import.py::test_an_import_of_a_killed_server_goes_on_in_another_one",
        "tests/domains/mcp/test_broken_answers.py::test_a_stream_that_ends_without_an_answer_is_not_resumed_for_ever",
        "tests/domains/mcp/test_client.py::test_a_lost_server_is_connected_again_and_leaves_one_child",
        "tests/processes/kills/test_moving.py::test_a_kill_on_the_way_leaves_the_company_whole_on_one_side",
        "tests/processes/kills/test_moving.py::test_the_commands_of_the_guide_work",
        "tests/processes/races/test_starts.py::test_twenty_migrations_at_once_apply_each_file_once",
    ),
    "many at once, and a password is hashed for each": (
        "tests/domains/identity/test_people.py::test_f23_guesses_from_a_hundred_addresses_keep_nobody_out",
        "tests/processes/races/test_first_run.py::test_of_fifty_first_runs_one_founds_the_instance_and_the_others_leave_nothing",
        "tests/processes/races/test_sign_in.py::test_of_fifty_sign_ins_with_one_recovery_code_one_is_admitted",
        "tests/processes/races/test_sign_in.py::test_of_fifty_sign_ins_with_one_totp_code_one_is_admitted",
    ),
    "many writers, to meet in the middle of something": (
        "tests/domains/turns/test_money.py::test_fifty_clients_never_pass_a_limit_and_none_is_refused_while_there_is_room",
        "tests/processes/races/test_leaving.py::test_whoever_is_let_go_while_they_write_loses_and_keeps_nothing",
        "tests/processes/races/test_revocation.py::test_nothing_is_admitted_after_the_end_was_acknowledged",
        "tests/domains/workflows/test_versions.py::test_publishing_changes_no_run_that_is_under_way",
    ),
    "a real model answers": (
        "tests/domains/turns/test_money.py::test_books_are_at_most_a_tenth_above_where_it_does_not",
        "tests/domains/turns/test_money.py::test_books_equal_the_models_own_count_where_it_tells_it",
        "tests/processes/worker/test_model_worker.py::test_turns_are_answered_by_the_model_on_the_workers_side",
    ),
    "every trick of a list": (
        "tests/domains/agent/test_injection.py::test_no_poison_has_an_effect_without_approval",
        "tests/domains/extraction/test_extraction.py::test_a_hostile_document_ends_and_gives_nothing_away",
        "tests/domains/edge/test_stalls.py::test_f6_hostile_requests_a_few_at_a_time_are_answered_and_leave_a_healthy_server",
        "tests/domains/localization/test_round_trip.py::test_a_hostile_file_is_refused",
        "tests/domains/pipeline/test_poison.py::test_poisoned_documents_have_no_effect_beyond_the_spec",
        "tests/domains/pipeline/test_runs.py::test_after_a_step_has_failed_nothing_before_it_is_done_or_paid_again",
        "tests/domains/translation/test_shield.py::test_no_adversary_breaks_a_message_of_the_catalog",
    ),
    "every row, way or message there is": (
        "tests/table/test_giving.py::test_every_way_to_give_follows_the_rule",
        "tests/domains/edge/test_sizes.py::test_the_table_of_hostile_sizes_is_large",
        "tests/domains/translation/test_catalog.py::test_five_thousand_messages_and_no_more",
        "tests/domains/translation/test_catalog.py::test_the_whole_catalog_without_a_model",
        "tests/walls/test_first_wall_gone.py::test_without_either_wall_everything_comes_through",
        "tests/walls/test_pool.py::test_no_transaction_of_thousands_reads_across",
    ),
    "reads the whole tree": (
        "tests/architecture/test_lanes.py::test_the_gate_keeps_the_rule",
        "tests/architecture/test_shape.py::test_no_list_has_an_entry_that_is_not_needed",
        "tests/architecture/test_shape.py::test_the_house_keeps_the_rule",
        "tests/architecture/test_tables.py::test_every_statement_names_what_its_domain_may_know",
        "tests/architecture/test_words.py::test_no_sentence_hides_its_subject_and_no_name_comes_from_the_house",
        "tests/architecture/test_words.py::test_what_is_kept_is_still_there_and_little",
    ),
    "a model of rules is played against the real thing": (
        "tests/domains/jobs/test_model.py::test_the_queue_agrees_with_its_model_after_every_step",
        "tests/domains/localization/test_proofs.py::test_approved_text_is_live_or_in_the_history_whatever_happens",
        "tests/domains/quotas/test_model.py::test_the_books_agree_with_the_model_after_every_step",
        "tests/domains/search/test_freshness.py::test_random_changes_are_found_as_a_model_says",
        "tests/domains/trash/test_model.py::test_notes_objects_and_trash_agree_with_their_model_after_every_step",
        "tests/domains/workflows/test_model.py::test_runs_agree_with_their_model_after_every_step",
    ),
    "generated documents, as many as find what was found before": (
        "tests/domains/pipeline/test_render.py::test_any_template_ends_in_a_text_or_an_error_of_liquids",
        "tests/domains/search/test_relevance.py::test_search_answers_as_well_as_it_did",
        "tests/domains/workflows/test_format.py::test_faults_are_found_where_a_library_finds_some",
        "tests/domains/workflows/test_format.py::test_two_readings_of_the_format_agree",
    ),
    "runs commands as people do": (
        "tests/architecture/test_new_domain.py::test_a_new_domain_keeps_every_rule_and_boots",
        "tests/domains/backups/test_restore.py::test_a_backup_of_an_older_postgresql_comes_back_on_a_newer_one",
        "tests/domains/backups/test_restore.py::test_backups_taken_while_people_write_and_delete_come_back_equal",
        "tests/domains/backups/test_restore.py::test_the_commands_make_list_verify_and_restore_and_replace_only_when_told",
        "tests/domains/backups/test_schedule.py::test_bytes_in_a_bucket_are_backed_up_and_come_back",
        "tests/domains/s3/test_matrix.py::test_a_client_does_its_chores",
        "tests/processes/start/test_tutorials.py::test_building_a_plugin_and_a_worker",
        "tests/processes/start/test_tutorials.py::test_running_an_instance",
        "tests/architecture/test_again.py::test_a_fault_fails_twice_and_is_named",
        "tests/architecture/test_again.py::test_a_test_that_passes_alone_is_told_as_flaky_and_the_run_passes",
        "tests/processes/worker/test_worker.py::test_it_brings_no_server_code",
    ),
}
LONG = {test: reason for reason, tests in _REASONS.items() for test in tests}

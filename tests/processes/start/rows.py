"""Rows for every table, written past the services, as an older version would have left them."""

ORG, TEAM, ADA, BOB, NOTE = (f"0190a000-0000-7000-8000-00000000000{n}" for n in range(5))
# Two rows for every table, in an order that satisfies every reference. A new table needs its rows here.
ROWS: dict[str, tuple[str, ...]] = {
    "orgs": (
        f"INSERT INTO orgs (id, slug, name) VALUES ('{ORG}', 'acme', 'Acme & Söhne 🌍')",
        "INSERT INTO orgs (id, slug, name, suspended_at) VALUES (gen_random_uuid(), 'other', 'Other', now())",
    ),
    "teams": (
        f"INSERT INTO teams (id, org_id, name) VALUES ('{TEAM}', '{ORG}', 'Core')",
        f"INSERT INTO teams (id, org_id, name) VALUES (gen_random_uuid(), '{ORG}', 'Second')",
    ),
    "users": (
        "INSERT INTO users (id, org_id, team_id, username, role, org_role, operator, password_hash, totp_sealed)"
        f" VALUES ('{ADA}', '{ORG}', '{TEAM}', 'Ada', 'owner', 'org_owner', true, 'hash', '\\x01')",
        f"INSERT INTO users (id, org_id, team_id, username, role) VALUES ('{BOB}', '{ORG}', '{TEAM}', 'bob', 'member')",
    ),
    "recovery_codes": (
        f"INSERT INTO recovery_codes VALUES ('{ORG}', '{ADA}', '\\x01', now())",
        f"INSERT INTO recovery_codes VALUES ('{ORG}', '{ADA}', '\\x02')",
    ),
    "tokens": (
        "INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest, idle_limit)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{ADA}', 'session', '\\x01', interval '12 hours')",
        "INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest, scope)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{BOB}', 'token', '\\x02', '{{notes:read,search}}')",
    ),
    "team_features": (
        f"INSERT INTO team_features VALUES ('{ORG}', '{TEAM}', 'chat', true)",
        f"INSERT INTO team_features VALUES ('{ORG}', '{TEAM}', 'agent', false)",
    ),
    "known_sign_ins": ("INSERT INTO known_sign_ins VALUES ('\\x01', now())",),
    "password_resets": (
        f"INSERT INTO password_resets (org_id, user_id, digest, expires_at) VALUES ('{ORG}', '{BOB}', '\\x01', now() + interval '1 day')",
    ),
    "failed_sign_ins": (
        f"INSERT INTO failed_sign_ins (org_id, user_id, failures, address) VALUES ('{ORG}', '{BOB}', 3, '203.0.113.7')",
    ),
    "rate_limits": (
        "INSERT INTO rate_limits VALUES ('\\x01', now())",
        "INSERT INTO rate_limits VALUES ('\\x02', now())",
    ),
    "login_failures": (
        "INSERT INTO login_failures VALUES ('\\x01', 3, now(), NULL)",
        "INSERT INTO login_failures VALUES ('\\x02', 9, now(), now())",
    ),
    "audit_events": (
        "INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject, facts, seq, hash) VALUES"
        f" ('{ORG}', gen_random_uuid(), '{TEAM}', '{ADA}', 'notes.created', 'x', '{{\"a\": [1, null]}}', 1, '\\x01')",
        "INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject)"
        f" VALUES ('{ORG}', gen_random_uuid(), '{TEAM}', '{ADA}', 'notes.deleted', 'x')",
    ),
    "audit_heads": (f"INSERT INTO audit_heads (org_id, seq, hash) VALUES ('{ORG}', 1, '\\x01')",),
    "idempotency_keys": (
        f"INSERT INTO idempotency_keys (org_id, user_id, key, request) VALUES ('{ORG}', '{ADA}', 'a', '\\x01')",
        "INSERT INTO idempotency_keys (org_id, user_id, key, request, reply_sealed)"
        f" VALUES ('{ORG}', '{ADA}', 'b', '\\x01', '\\x02')",
    ),
    "tool_switches": (
        f"INSERT INTO tool_switches VALUES ('{ORG}', '{TEAM}', 'word_count', true)",
        f"INSERT INTO tool_switches VALUES ('{ORG}', '{TEAM}', 'eta', false)",
    ),
    "notes": (
        "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, version)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', 'Plan', E'# Hi\\n\\n🌍', 'team', 7)",
        "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{BOB}', 'Mine', '', 'private')",
    ),
    "note_grants": (
        "INSERT INTO note_grants (org_id, note_id, user_id, permission, granted_by)"
        f" VALUES ('{ORG}', '{NOTE}', '{BOB}', 'notes:write', '{ADA}')",
    ),
    "change_rows": (
        "INSERT INTO change_rows (org_id, seq, principal, had, has, kind, thing_id, action, version, actor_id)"
        f" VALUES ('{ORG}', nextval('change_seq'), '{BOB}', false, true, 'note', '{NOTE}', 'shared', 7, '{ADA}')",
    ),
    "note_versions": (
        "INSERT INTO note_versions (org_id, note_id, number, title, body, size, sha256, created_by, created_at)"
        f" VALUES ('{ORG}', '{NOTE}', 6, 'Draft', 'Hm', 2, sha256('Hm'), '{ADA}', now())",
    ),
    "instance": (f"INSERT INTO instance (org_id, team_id, operator_id) VALUES ('{ORG}', '{TEAM}', '{ADA}')",),
    "quota_limits": (
        f"INSERT INTO quota_limits VALUES ('{ORG}', '{ORG}', 'ai.requests', 'day', 100)",
        f"INSERT INTO quota_limits VALUES ('{ORG}', '{TEAM}', 'ai.tokens.total', 'month', 0)",
    ),
    "quota_usage": (
        f"INSERT INTO quota_usage VALUES ('{ORG}', '{ORG}', 'ai.requests', 2, now(), 1, 2, 3, 4, 5)",
        f"INSERT INTO quota_usage VALUES ('{ORG}', '{TEAM}', 'ai.requests', 0, now())",
    ),
    "storage_entries": (
        f"INSERT INTO storage_entries (org_id, team_id, part, bytes) VALUES ('{ORG}', '{TEAM}', 'notes', 5)",
        f"INSERT INTO storage_entries (org_id, team_id, part, bytes) VALUES ('{ORG}', '{TEAM}', 'jobs', -2)",
    ),
    "quota_entries": (
        f"INSERT INTO quota_entries (org_id, id, team_id, amounts) VALUES ('{ORG}', '{NOTE}', '{TEAM}', '{{\"storage.bytes\": 5}}')",
    ),
    "quota_holds": (
        "INSERT INTO quota_holds (id, org_id, team_id, amounts, expires_at)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{{\"ai.requests\": 1}}', now())",
        "INSERT INTO quota_holds (id, org_id, team_id, amounts, state, expires_at)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{{}}', 'settled', now())",
    ),
    "activations": (
        f"INSERT INTO activations (digest, org_id, user_id, expires_at) VALUES ('\\x01', '{ORG}', '{ADA}', now())",
    ),
    "company_branding": (
        f"INSERT INTO company_branding (org_id, title, theme) VALUES ('{ORG}', 'Acme', '{{\"accent\": \"#0f766e\"}}')",
    ),
    "instance_branding": ("UPDATE instance_branding SET title = 'Ours'",),
    "blobs": (f"INSERT INTO blobs (org_id, sha256, size) VALUES ('{ORG}', sha256('a'), 1)",),
    "blob_releases": (f"INSERT INTO blob_releases VALUES (gen_random_uuid(), '{ORG}', sha256('b'))",),
    "objects": (
        "INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', 'reports/ü.txt', 'team', '{BOB}')",
    ),
    "object_versions": (
        "INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)"
        f" VALUES ('{BOB}', '{ORG}', '{NOTE}', 1, sha256('a'), 1, 'e', 'text/plain', 'ü.txt', '{ADA}')",
    ),
    "object_grants": (
        "INSERT INTO object_grants (org_id, object_id, principal_type, principal_id, capability, granted_by, owner_id, key)"
        f" VALUES ('{ORG}', '{NOTE}', 'user', '{BOB}', 'edit', '{ADA}', '{ADA}', 'reports/ü.txt')",
    ),
    "object_texts": (
        "INSERT INTO object_texts (version_id, org_id, object_id, state, text)"
        f" VALUES ('{BOB}', '{ORG}', '{NOTE}', 'done', 'words')",
    ),
    "unread_objects": (
        "INSERT INTO unread_objects (object_id, org_id, team_id, version_id, written_at)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{BOB}', now()) ON CONFLICT DO NOTHING",
    ),
    "derivations": (
        "INSERT INTO derivations (org_id, version_id, object_id, source_id, source_version_id)"
        f" VALUES ('{ORG}', '{BOB}', '{NOTE}', '{ADA}', '{ADA}')",
    ),
    "s3_keys": (
        "INSERT INTO s3_keys (id, org_id, user_id, access_key_id, secret_sealed, name, scope)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{ADA}', 'ATONE', '\\x01', 'laptop', NULL)",
        "INSERT INTO s3_keys (id, org_id, user_id, access_key_id, secret_sealed, name, scope)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{BOB}', 'ATTWO', '\\x02', '', '{{files:read}}')",
    ),
    "s3_buckets": (
        f"INSERT INTO s3_buckets (org_id, team_id, name, created_by) VALUES ('{ORG}', '{TEAM}', 'photos', '{ADA}')",
    ),
    "multipart_uploads": (
        "INSERT INTO multipart_uploads (id, org_id, team_id, owner_id, key, draft)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', 'films/ü.mp4', '{{}}')",
    ),
    "multipart_parts": (
        "INSERT INTO multipart_parts (org_id, upload_id, number, sha256, size, etag)"
        f" VALUES ('{ORG}', '{NOTE}', 1, sha256('a'), 1, 'e')",
    ),
    "job_orgs": ("UPDATE job_orgs SET cap = 5, running = 1",),
    "job_teams": (
        "UPDATE job_teams SET cap = 4",
        f"UPDATE job_teams SET weight = 2, running = 1 WHERE team_id = '{TEAM}'",
    ),
    "job_lanes": (f"INSERT INTO job_lanes (team_id, org_id, pool, open) VALUES ('{TEAM}', '{ORG}', 'a', true)",),
    "job_wakes": (f"INSERT INTO job_wakes (org_id, team_id, pool) VALUES ('{ORG}', '{TEAM}', 'a')",),
    "jobs": (
        "INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{ADA}', 'a', 'a', 'queued', 3, '60 s', '{{\"ü\": null}}')",
        "INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, max_attempts, lease, input, claim_token, lease_until)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{ADA}', 'a', 'a', 'running', 3, '60 s', '{{}}', gen_random_uuid(), now())",
    ),
    "job_words": (f"INSERT INTO job_words (job_id, at, org_id, body) VALUES (gen_random_uuid(), 0, '{ORG}', 'words')",),
    "job_workers": ("INSERT INTO job_workers (id, pools) VALUES (gen_random_uuid(), '{a,b}')",),
    "executors": (
        "INSERT INTO executors (id, name, mode, url, key_sealed, created_by)"
        f" VALUES (gen_random_uuid(), 'gpu', 'push', 'https://models.example', '\\x01', '{ADA}')",
        f"INSERT INTO executors (id, bound_to, name, mode, created_by) VALUES (gen_random_uuid(), '{ORG}', 'ours', 'pull', '{ADA}')",
    ),
    "worker_credentials": (
        "INSERT INTO worker_credentials (executor_id, digest) SELECT id, '\\x09' FROM executors WHERE mode = 'pull'",
    ),
    "executor_probes": ("INSERT INTO executor_probes VALUES ('local', now(), true, now())",),
    "model_roles": (f"INSERT INTO model_roles VALUES ('{ORG}', '{TEAM}', 'utility', 'gpu')",),
    "turn_processes": ("INSERT INTO turn_processes (id) VALUES (gen_random_uuid())",),
    "turns": (
        "INSERT INTO turns (id, org_id, team_id, user_id, process_id, executor, simulated, admission_id, reserved_tokens, prompt_tokens)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', gen_random_uuid(), 'local', true, gen_random_uuid(), 100, 10)",
        "INSERT INTO turns (id, org_id, team_id, user_id, process_id, state, executor, model, simulated, conversation_id, admission_id,"
        " reserved_tokens, prompt_tokens, key, request, ended_at, ending)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{ADA}', gen_random_uuid(), 'finished', 'gpu', 'm', false, gen_random_uuid(),"
        " gen_random_uuid(), 100, 10, 'k', '\\x01', now(), '{}')",
    ),
    "turn_pieces": (
        "INSERT INTO turn_pieces (turn_id, at, org_id, thinking, body, pieces, prompt_told, reply_told)"
        f" VALUES ('{NOTE}', 0, '{ORG}', false, 'words', 1, 10, 1)",
    ),
    "agent_runs": (
        "INSERT INTO agent_runs (id, org_id, user_id, question, opening, tools)"
        f" VALUES ('{NOTE}', '{ORG}', '{ADA}', '{{}}', '[]', '{{notes_list}}')",
    ),
    "agent_calls": (
        "INSERT INTO agent_calls (run_id, number, org_id, step, name, arguments, effect, digest)"
        f" VALUES ('{NOTE}', 1, '{ORG}', 1, 'notes_list', '{{}}', 'read', '\\x01')",
    ),
    "translations": (
        "INSERT INTO translations (id, org_id, team_id, user_id, source, target, format, original, text, report, usage, simulated)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', 'und', 'es', 'text', 'words', 'palabras', '{{}}', '{{}}', false)",
    ),
    "glossary_terms": (
        "INSERT INTO glossary_terms (id, org_id, team_id, target, term, translation, changed_by)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', 'es', 'board', 'tablero', '{ADA}')",
        "INSERT INTO glossary_terms (id, org_id, team_id, target, term, case_sensitive, changed_by)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', 'es', 'Ü', true, '{ADA}')",
    ),
    "workflows": (
        "INSERT INTO workflows (team_id, slug, org_id, version, source, plugin_digest)"
        f" VALUES ('{TEAM}', 'process-upload', '{ORG}', 1, 'plugin:doc-pipeline', '\\x01')",
        f"INSERT INTO workflows (team_id, slug, org_id, version, source) VALUES ('{TEAM}', 'own', '{ORG}', 2, 'team')",
    ),
    "workflow_versions": (
        "INSERT INTO workflow_versions (team_id, slug, version, org_id, spec)"
        f" VALUES ('{TEAM}', 'process-upload', 1, '{ORG}', '{{\"slug\": \"process-upload\", \"steps\": [{{}}]}}')",
        "INSERT INTO workflow_versions (team_id, slug, version, org_id, spec, created_by)"
        f" VALUES ('{TEAM}', 'own', 2, '{ORG}', '{{\"title\": \"Ü\", \"steps\": [{{}}]}}', '{ADA}')",
    ),
    "workflow_reviews": (
        "INSERT INTO workflow_reviews (team_id, slug, user_id, digest, org_id)"
        f" VALUES ('{TEAM}', 'own', '{ADA}', 'a1', '{ORG}')",
    ),
    "runs": (
        "INSERT INTO runs (id, org_id, team_id, user_id, slug, version, locale, input, max_steps)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', 'own', 2, 'en', '{{\"ü\": null}}', 3)",
        "INSERT INTO runs (id, org_id, team_id, user_id, slug, version, state, locale, input, output, max_steps, finished_at)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '{ADA}', 'own', 2, 'succeeded', 'en', '{{}}', '[1]', 3, now())",
    ),
    "run_steps": (
        "INSERT INTO run_steps (run_id, step, place, org_id, position, kind, tool, input)"
        f" VALUES ('{NOTE}', 'find', -1, '{ORG}', 0, 'tool', 'word_count', '{{\"text\": \"ü\"}}')",
        "INSERT INTO run_steps (run_id, step, place, org_id, position, kind, tool, state, item, output, kept, finished_at)"
        f" VALUES ('{NOTE}', 'each', 0, '{ORG}', 1, 'map', 'word_count', 'succeeded', '1', '2', true, now())",
    ),
    "run_objects": (f"INSERT INTO run_objects (run_id, object_id, org_id) VALUES ('{NOTE}', '{NOTE}', '{ORG}')",),
    "doc_triggers": (
        "INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled,"
        f" created_by) VALUES ('{NOTE}', '{ORG}', '{TEAM}', 'Ü', 'own', 'in/ü', '{{text/*}}', '{{\"a\": {{}}}}', true, true, '{ADA}')",
        "INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled)"
        f" VALUES (gen_random_uuid(), '{ORG}', '{TEAM}', '', 'own', '', '{{}}', '{{}}', false, false)",
    ),
    "search_rows": (
        "INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, visibility, edition, lexemes, triples, readers, title_words,"
        f" head_words, text_words, updated_at) VALUES ('{ORG}', '{NOTE}', 'note', '{TEAM}', '{ADA}', 'team', '1', 'ü:1A', '{{__ü}}',"
        f" '{{{ADA}}}', 1, 0, 0, now())",
        "INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, key, visibility, edition, lexemes, triples, readers, title_words,"
        f" head_words, text_words, updated_at) VALUES ('{ORG}', gen_random_uuid(), 'object', '{TEAM}', '{BOB}', 'ü', 'private', '1', '',"
        " '{}', '{}', 0, 0, 0, now())",
    ),
    "moved_names": (
        f"INSERT INTO moved_names VALUES (sha256('a token'), '{NOTE}', 'https://b.example.com')",
        f"INSERT INTO moved_names VALUES (sha256('ü.example.com'), '{NOTE}', 'https://b.example.com')",
    ),
    "company_moves": (
        f"INSERT INTO company_moves (company, state, was_suspended) VALUES ('{ORG}', 'leaving', true)",
        f"INSERT INTO company_moves (company, state, was_suspended, archive, location) VALUES ('{NOTE}', 'left', false, 'ab', 'https://ü')",
    ),
    "search_words": ("INSERT INTO search_words VALUES ('ü', 3)", "INSERT INTO search_words VALUES ('', 0)"),
    "search_backlog": ("INSERT INTO search_backlog VALUES ('notes'), ('objects') ON CONFLICT DO NOTHING",),
    "search_moved": (
        f"INSERT INTO search_moved VALUES ('{ORG}', '{NOTE}')",
        f"INSERT INTO search_moved VALUES ('{ORG}', gen_random_uuid())",
    ),
    "trigger_matches": (
        f"INSERT INTO trigger_matches (team_id, type, prefix, trigger_id, org_id) VALUES ('{TEAM}', 'text/*', 'in/ü', '{NOTE}', '{ORG}')",
    ),
    "trigger_fires": (
        "INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, run_id)"
        f" VALUES ('{NOTE}', '{NOTE}', '{ORG}', '{NOTE}', '{NOTE}', 1, '{ADA}', '{NOTE}')",
        "INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, reason)"
        f" VALUES ('{NOTE}', gen_random_uuid(), '{ORG}', '{NOTE}', gen_random_uuid(), 2, '{ADA}', 'storm')",
    ),
    "knowledge_salts": (f"INSERT INTO knowledge_salts (team_id, org_id) VALUES ('{TEAM}', '{ORG}')",),
    "knowledge_shares": (
        "INSERT INTO knowledge_shares (object_id, org_id, version_id, entities, relations)"
        f" VALUES ('{NOTE}', '{ORG}', '{BOB}', 2, 1)",
    ),
    "knowledge_mentions": (
        "INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)"
        f" VALUES ('{NOTE}', '{ADA}', 0, '{ORG}', '{BOB}', 'person', 'Ådå', 'ådå', 'Ådå 🌍')",
        "INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)"
        f" VALUES ('{NOTE}', '{BOB}', 7, '{ORG}', '{BOB}', 'concept', 'Bob', 'bob', 'Bob')",
    ),
    "knowledge_relations": (
        "INSERT INTO knowledge_relations (object_id, from_id, to_id, type, at, org_id, version_id, quote)"
        f" VALUES ('{NOTE}', '{ADA}', '{BOB}', 'knows', 0, '{ORG}', '{BOB}', 'Ådå 🌍')",
    ),
    "knowledge_refusals": (
        f"INSERT INTO knowledge_refusals (object_id, org_id, version_id, refusals) VALUES ('{NOTE}', '{ORG}', '{BOB}', 2)",
    ),
    "knowledge_merges": (
        "INSERT INTO knowledge_merges (id, org_id, team_id, keep_id, drop_id, head_id, merged_by)"
        f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{ADA}', '{BOB}', '{ADA}', '{ADA}')",
    ),
    "l10n_messages": (
        "INSERT INTO l10n_messages (id, org_id, locale, ns, key, source, text, status, text_source, pending_text, pending_by, pending_at)"
        f" VALUES ('{NOTE}', '{ORG}', 'is', 'words', 'words.save', 'Save', 'Vista', 'approved', 'Save', 'Geyma', '{ADA}', now())",
        "INSERT INTO l10n_messages (id, org_id, locale, ns, key, source)"
        f" VALUES (gen_random_uuid(), '{ORG}', 'zh-Hant-HK', 'words', 'words.save', 'Sävé 🌍')",
    ),
    "l10n_history": (
        "INSERT INTO l10n_history (org_id, message_id, locale, key, text, was, replaced_by)"
        f" VALUES ('{ORG}', '{NOTE}', 'is', 'words.save', 'Spara', 'approved', '{ADA}')",
    ),
    "l10n_counts": (f"INSERT INTO l10n_counts VALUES ('{ORG}', 'nl', 'words', 1, 0, 2, 0, 1)",),
    "l10n_locales": (f"INSERT INTO l10n_locales VALUES ('{ORG}', 'nl', 7)",),
    "l10n_imports": (f"INSERT INTO l10n_imports (org_id, fingerprint) VALUES ('{ORG}', 'abc')",),
    "audit_keys": ("INSERT INTO audit_keys (id, sealed) VALUES ('\\x01020304', '\\x01')",),
    "key_check": ("INSERT INTO key_check (sealed) VALUES ('\\x01')",),
    "onboarding_secrets": (f"INSERT INTO onboarding_secrets (org_id, sealed) VALUES ('{ORG}', '\\x01')",),
    "onboarding_drafts": (
        f"INSERT INTO onboarding_drafts (org_id, revision, document, saved_by) VALUES ('{ORG}', '{NOTE}', '{{}}', '{ADA}')",
    ),
    "onboarding_versions": (
        f"INSERT INTO onboarding_versions (org_id, version, document, published_by) VALUES ('{ORG}', 1, '{{}}', '{ADA}')",
        f"INSERT INTO onboarding_versions (org_id, version, document) VALUES ('{ORG}', 2, '{{}}')",
    ),
    "onboarding_assets": (
        "INSERT INTO onboarding_assets (id, org_id, kind, filename, content_type, size, sha256, width, height)"
        f" VALUES ('{NOTE}', '{ORG}', 'logo', 'ü.png', 'image/png', 1, sha256('a'), 1, 1)",
    ),
    "onboarding_proofs": (
        f"INSERT INTO onboarding_proofs (digest, org_id, network) VALUES ('\\x01', '{ORG}', '\\x02')",
    ),
    "prospects": (
        "INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate)"
        f" VALUES ('{NOTE}', '{ORG}', '\\x01', 1, '{{\"email\": \"ü@example.com\"}}', 'ü@example.com', 'en', '[]', 'pass')",
        "INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate, state, decided_by, decided_at)"
        f" VALUES ('{BOB}', '{ORG}', '\\x02', 0, '{{}}', '', '', '[]', 'suspect', 'declined', '{ADA}', now())",
    ),
    "onboarding_days": (f"INSERT INTO onboarding_days (org_id, day, opened) VALUES ('{ORG}', '2026-01-01', 3)",),
}

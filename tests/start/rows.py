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
    "instance": (f"INSERT INTO instance (org_id, team_id, operator_id) VALUES ('{ORG}', '{TEAM}', '{ADA}')",),
    "quota_limits": (
        f"INSERT INTO quota_limits VALUES ('{ORG}', '{ORG}', 'ai.requests', 'day', 100)",
        f"INSERT INTO quota_limits VALUES ('{ORG}', '{TEAM}', 'ai.tokens.total', 'month', 0)",
    ),
    "quota_usage": (
        f"INSERT INTO quota_usage VALUES ('{ORG}', '{ORG}', 'ai.requests', 2, now(), 1, 2, 3, 4, 5)",
        f"INSERT INTO quota_usage VALUES ('{ORG}', '{TEAM}', 'ai.requests', 0, now())",
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
        f"INSERT INTO object_texts (version_id, org_id, object_id, text) VALUES ('{BOB}', '{ORG}', '{NOTE}', 'words')",
    ),
    "derivations": (
        "INSERT INTO derivations (org_id, version_id, object_id, source_id, source_version_id)"
        f" VALUES ('{ORG}', '{BOB}', '{NOTE}', '{ADA}', '{ADA}')",
    ),
    "key_check": ("INSERT INTO key_check (sealed) VALUES ('\\x01')",),
}

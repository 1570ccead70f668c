"""The second wall as PostgreSQL knows it: policies, keys, roles and grants, and nothing that widens them unseen."""

from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from atrium.kit.postgres.database import APP_ROLE, SEARCH_ROLE, SYSTEM_ROLE
from tests.postgres import fresh_database
from tests.walls import catalog
from tests.walls.catalog import Connection

Check = Callable[[Connection], AsyncIterator[str]]
CHECKS = [
    catalog.weak_tables,
    catalog.wrong_policies,
    catalog.loose_keys,
    catalog.strong_roles,
    catalog.loose_definers,
]
ALL = "SELECT INSERT UPDATE DELETE"
# What the serving role may do, always behind the wall.
OF_APP = {
    "activations": "SELECT",
    "agent_calls": "SELECT INSERT UPDATE",
    "agent_runs": "SELECT INSERT UPDATE",
    "audit_events": "SELECT INSERT(actor_id, facts, id, kind, org_id, subject, team_id)",
    "audit_heads": "SELECT",
    "blob_releases": "SELECT INSERT DELETE",
    "blobs": ALL,
    "company_branding": ALL,
    "derivations": "SELECT INSERT",
    "doc_triggers": ALL,
    "failed_sign_ins": "SELECT",
    "glossary_terms": ALL,
    "idempotency_keys": ALL,
    "instance": "SELECT",
    "instance_branding": "SELECT",
    "multipart_parts": ALL,
    # written by triggers alone, and never rewritten
    "change_rows": "SELECT INSERT",
    "multipart_uploads": ALL,
    "job_lanes": "SELECT UPDATE(opens_at)",
    "job_orgs": "SELECT UPDATE(running)",
    "job_teams": "SELECT UPDATE(org_full, running)",
    "job_wakes": "SELECT INSERT(org_id, pool, team_id)",
    "job_words": "SELECT INSERT DELETE",
    "jobs": "SELECT INSERT UPDATE",
    # a share is replaced whole: what it says goes with it
    "knowledge_mentions": "SELECT INSERT",
    "knowledge_merges": ALL,
    "knowledge_refusals": ALL,
    "knowledge_relations": "SELECT INSERT",
    "knowledge_salts": "SELECT INSERT",
    "knowledge_shares": "SELECT INSERT DELETE",
    # counts, revisions and the history follow from the messages, by triggers alone
    "l10n_counts": "SELECT",
    "l10n_history": "SELECT",
    "l10n_imports": "SELECT INSERT UPDATE",
    "l10n_locales": "SELECT",
    "l10n_messages": "SELECT INSERT UPDATE",
    "model_roles": ALL,
    "note_grants": ALL,
    "note_versions": "SELECT INSERT UPDATE(kept_bytes, name)",
    "notes": ALL,
    "object_grants": ALL,
    "object_texts": ALL,
    "object_versions": "SELECT INSERT UPDATE(attributes, filename) DELETE",
    "onboarding_assets": "SELECT INSERT DELETE",
    "onboarding_days": "SELECT INSERT UPDATE",
    "onboarding_drafts": "SELECT INSERT UPDATE",
    "onboarding_proofs": "SELECT INSERT DELETE",
    "onboarding_secrets": "SELECT INSERT UPDATE(sealed)",
    # a published version never changes
    "onboarding_versions": "SELECT INSERT",
    "prospects": ALL,
    "objects": ALL,
    "orgs": "SELECT",
    "password_resets": "SELECT INSERT DELETE",
    "quota_entries": "SELECT INSERT DELETE",
    "quota_holds": "SELECT INSERT UPDATE",
    "quota_limits": ALL,
    "quota_usage": "SELECT INSERT UPDATE",
    "recovery_codes": ALL,
    "run_objects": "SELECT INSERT UPDATE(made)",
    "run_steps": "SELECT INSERT UPDATE",
    "runs": "SELECT INSERT UPDATE",
    "s3_buckets": ALL,
    "s3_keys": "SELECT INSERT DELETE",
    "schema_migrations": "SELECT",
    "search_moved": "SELECT INSERT UPDATE(key) DELETE",
    "search_rows": ALL,
    "search_words": "SELECT",
    # written by what counts rows, entered by rounds over the books
    "storage_entries": "SELECT DELETE",
    "team_features": ALL,
    "teams": "SELECT INSERT UPDATE",
    "tokens": ALL,
    "tool_switches": ALL,
    "translations": "SELECT INSERT DELETE",
    # what became of a version is never rewritten
    "trigger_fires": "SELECT INSERT",
    "trigger_matches": "SELECT INSERT DELETE",
    "turn_pieces": "SELECT INSERT",
    "turns": "SELECT INSERT UPDATE",
    # nobody who serves a company makes an operator
    "unread_objects": ALL,
    "users": (
        "SELECT INSERT(display_name, id, org_id, org_role, password_hash, role, team_id, username)"
        " UPDATE(display_name, left_at, locale, org_role, password_hash, role, totp_last_step, totp_sealed, username)"
    ),
    "workflow_reviews": "SELECT INSERT",
    # a published version never changes; one that nothing names goes
    "workflow_versions": "SELECT INSERT UPDATE(kept_bytes) DELETE",
    "workflows": "SELECT INSERT UPDATE",
}
# What the directory's role may do, in every company. Each line here is a decision; widen it knowingly.
OF_SYSTEM = {
    # the host provisions before the tenant has anybody who could sign in
    "activations": ALL,
    # sealing and checking the chains reads every field of an event and writes its place
    "audit_events": "SELECT INSERT(actor_id, facts, id, kind, org_id, subject, team_id) UPDATE(hash, seq)",
    "audit_heads": "SELECT INSERT UPDATE",
    # the keys that tie the chains, sealed
    "audit_keys": "SELECT INSERT UPDATE(sealed)",
    # finding bytes that lost their last version; no key and no name
    "blob_releases": "SELECT",
    # a hostname shows its company's look to whoever comes
    "company_branding": "SELECT",
    # forgetting old replies needs their age, never what was replied
    "idempotency_keys": "SELECT(created_at) DELETE",
    # machines belong to the instance; the key in one is sealed
    "executor_probes": ALL,
    "executors": "SELECT INSERT UPDATE",
    "worker_credentials": "SELECT INSERT DELETE",
    # sign-in counts what fails, and tells the company later
    "failed_sign_ins": ALL,
    "instance": "SELECT INSERT UPDATE",
    "instance_branding": "SELECT UPDATE",
    # the scheduler takes turns between all teams: states and times, no input, no result, no error
    "job_lanes": "SELECT INSERT UPDATE",
    "job_orgs": "SELECT INSERT UPDATE",
    "job_teams": "SELECT INSERT UPDATE",
    "job_wakes": "SELECT INSERT(org_id, pool, team_id) UPDATE DELETE",
    # the feed is forgotten by its age, and companies are found that have something new; never what, or for whom
    "change_rows": "SELECT(at, org_id, seq, xid) DELETE",
    # what workers say is deleted with its job, and no word of it read
    "job_words": "SELECT(job_id) DELETE",
    "job_workers": ALL,
    "jobs": (
        "SELECT(attempt, cancel_asked, claim_token, created_at, finished_at, id, kind, lease, lease_until, model, org_id, part_of,"
        " pool, priority, put_off_for, run_at, started_at, state, team_id, user_id, worker)"
        " UPDATE(attempt, claim_token, lease_until, put_off_for, started_at, state, worker) DELETE"
    ),
    "key_check": "SELECT INSERT UPDATE",
    "known_sign_ins": ALL,
    # the triggers behind the messages write as this role; serving everybody reads what is served, never what is proposed
    "l10n_counts": "SELECT INSERT UPDATE",
    "l10n_history": "INSERT",
    "l10n_imports": "SELECT",
    "l10n_locales": "SELECT INSERT UPDATE",
    "l10n_messages": "SELECT(fits, id, key, locale, ns, org_id, retired_at, status, text) DELETE",
    "login_failures": ALL,
    # sends on whoever comes with something of a company that is elsewhere
    "moved_names": "SELECT",
    # finding uploads that nobody came back for; no key
    "multipart_uploads": "SELECT(created_at, id, org_id)",
    # counting notes, and finding what has been in the trash for long enough; no title and no body
    "notes": "SELECT(id, org_id, trashed_at)",
    # forgetting grants that ended needs when they did, and of which objects they were; never whose
    "object_grants": "SELECT(expires_at, object_id, org_id) DELETE",
    # finding what has been in the trash for long enough; no key
    "objects": "SELECT(id, org_id, trashed_at)",
    "orgs": "SELECT INSERT UPDATE",
    # a link is found by its digest before anybody is known, made at the machine, and forgotten when it is old
    "password_resets": "SELECT INSERT DELETE",
    # forgetting old holds needs their age; operators set a company's limits and see its use
    "quota_entries": "SELECT",
    "quota_holds": "SELECT(amounts, created_at, expires_at, id, org_id, state, team_id) DELETE",
    "quota_limits": ALL,
    "quota_usage": "SELECT",
    "rate_limits": ALL,
    # an operator revokes a person's second factor
    "recovery_codes": "SELECT DELETE",
    # forgetting old runs needs when they ended and whether their company is leaving, never what they were given or made
    "runs": "SELECT(finished_at, id, org_id) DELETE",
    # finding whose key signed a request, and sealing secrets again
    "s3_keys": "SELECT UPDATE(last_used_at, secret_sealed)",
    "schema_migrations": "SELECT",
    "search_backlog": "SELECT UPDATE DELETE",
    # whose words wait, not what it is called
    "search_moved": "SELECT(id, org_id)",
    "search_words": "SELECT INSERT DELETE",
    # noting how much is kept, finding companies of which something is noted, and showing operators what a company keeps
    "storage_entries": "SELECT INSERT(bytes, org_id, part, team_id)",
    # the credential lookup reads a team's switches
    "team_features": "SELECT",
    "teams": "SELECT INSERT",
    # the credential lookup, sign-in, and forgetting what expired
    "tokens": ALL,
    # sign-in finds the account by name; the seed in it is sealed
    # forgetting old translations needs their age, never a word of them
    "translations": "SELECT(created_at, id) DELETE",
    # forgetting old entries needs their age, never which object or person they name
    "trigger_fires": "SELECT(at, id, trigger_id) DELETE",
    # what models say is stored for all turns of a process at once: added and deleted, and no word of it read
    "turn_pieces": "SELECT(turn_id) INSERT DELETE",
    "turn_processes": ALL,
    "turns": "SELECT(ended_at, id, org_id, process_id, state, stop_asked) DELETE",
    "users": (
        "SELECT INSERT(display_name, id, org_id, org_role, password_hash, role, team_id, username)"
        " UPDATE(display_name, left_at, locale, operator, org_role, password_hash, role, totp_last_step, totp_sealed, username)"
    ),
    # finding companies whose workflows have old versions
    "workflows": "SELECT(org_id, version)",
}
# What two functions may read, which find rows by their words for the company of the transaction, and count frequent words; behind
# row-level security no index on words is used. No connection takes this role.
OF_SEARCH = {
    "object_grants": "SELECT(expires_at, object_id, org_id, principal_id)",
    "search_moved": "SELECT(id, key, org_id)",
    "search_rows": (
        "SELECT(head_words, id, key, kind, lexemes, org_id, owner_id, readers, team_id, text_words, title_words, triples, updated_at,"
        " visibility)"
    ),
}
EXPECTED = {APP_ROLE: OF_APP, SYSTEM_ROLE: OF_SYSTEM, SEARCH_ROLE: OF_SEARCH}


@pytest.fixture(scope="module")
async def connection() -> AsyncIterator[Connection]:
    async with fresh_database() as url:
        connection = await asyncpg.connect(url)
        yield connection
        await connection.close()


@pytest.mark.parametrize("check", CHECKS)
async def test_the_wall_stands(connection: Connection, check: Check) -> None:
    assert [text async for text in check(connection)] == []


@pytest.mark.parametrize(("role", "expected"), EXPECTED.items())
async def test_a_role_may_do_what_is_listed_and_no_more(
    connection: Connection, role: str, expected: dict[str, str]
) -> None:
    assert await catalog.privileges(connection, role) == expected


@pytest.mark.parametrize(
    "column",
    [
        "notes.title",
        "notes.body",
        "note_grants.permission",
        "idempotency_keys.reply_sealed",
        "jobs.input",
        "jobs.result",
        "jobs.error",
        "objects.key",
        "object_texts.text",
        "search_rows.lexemes",
        "object_grants.principal_id",
        "change_rows.principal",
        "change_rows.thing_id",
    ],
)
async def test_the_directorys_role_reads_nobodys_content(connection: Connection, column: str) -> None:
    table, _, name = column.partition(".")

    assert not await connection.fetchval("SELECT has_column_privilege($1, $2, $3, 'SELECT')", SYSTEM_ROLE, table, name)


async def test_nobody_else_was_granted_anything(connection: Connection) -> None:
    rows = await connection.fetch(
        "SELECT table_name, grantee FROM information_schema.role_table_grants WHERE table_schema = 'public' AND grantee <> current_user"
    )

    # The role of search is granted columns alone.
    assert {row["grantee"] for row in rows} == {APP_ROLE, SYSTEM_ROLE}


async def test_no_login_that_serves_takes_the_role_of_search(connection: Connection) -> None:
    takers = await connection.fetch(
        "SELECT m.member::regrole::text AS name FROM pg_auth_members m WHERE m.roleid = $1::regrole", SEARCH_ROLE
    )

    assert {row["name"] for row in takers} & {APP_ROLE, SYSTEM_ROLE} == set()


TABLE = "CREATE TABLE planted (org_id uuid NOT NULL REFERENCES orgs, id uuid PRIMARY KEY)"
WALLED = f"{TABLE}; CALL wall_off('planted')"


@pytest.mark.parametrize(
    ("sql", "check", "found"),
    [
        ("ALTER TABLE notes NO FORCE ROW LEVEL SECURITY", catalog.weak_tables, "notes has"),
        ("ALTER TABLE notes DISABLE ROW LEVEL SECURITY", catalog.weak_tables, "notes has"),
        (TABLE, catalog.weak_tables, "planted has"),
        (TABLE, catalog.wrong_policies, "planted: policy"),
        ("CREATE TABLE planted (id uuid)", catalog.weak_tables, "planted names no company"),
        ("ALTER TABLE notes ALTER org_id DROP NOT NULL", catalog.weak_tables, "notes names no company"),
        ("CREATE VIEW planted AS SELECT * FROM notes", catalog.weak_tables, "planted is no plain table"),
        ("DROP POLICY tenant_wall ON notes", catalog.wrong_policies, "notes: policy tenant_wall"),
        ("CREATE POLICY hole ON notes USING (true)", catalog.wrong_policies, "notes: policy hole"),
        ("ALTER POLICY tenant_wall ON notes WITH CHECK (true)", catalog.wrong_policies, "notes: policy tenant_wall"),
        ("ALTER POLICY tenant_wall ON notes TO PUBLIC", catalog.wrong_policies, "notes: policy tenant_wall"),
        (
            f"{WALLED}; ALTER TABLE planted ADD note_id uuid REFERENCES notes (id)",
            catalog.loose_keys,
            "planted_note_id_fkey ties planted to notes without",
        ),
        ("ALTER TABLE notes OWNER TO atrium_app", catalog.strong_roles, "atrium_app owns"),
        ("GRANT CREATE ON SCHEMA public TO atrium_system", catalog.strong_roles, "atrium_system creates"),
        ("ALTER ROLE atrium_search LOGIN", catalog.strong_roles, "atrium_search logs_in"),
        ("GRANT atrium_app TO atrium_search", catalog.strong_roles, "atrium_search member"),
        (
            "ALTER FUNCTION search_word_shares OWNER TO CURRENT_USER",
            catalog.loose_definers,
            "search_word_shares runs as",
        ),
        (
            "ALTER POLICY search_open ON search_rows TO PUBLIC",
            catalog.wrong_policies,
            "search_rows: policy search_open",
        ),
        ("CREATE POLICY search_open ON notes TO atrium_search USING (true)", catalog.wrong_policies, "notes: policy"),
        ("ALTER FUNCTION find_principal RESET search_path", catalog.loose_definers, "find_principal does not pin"),
        ("ALTER FUNCTION find_principal OWNER TO CURRENT_USER", catalog.loose_definers, "find_principal runs as"),
        ("GRANT EXECUTE ON FUNCTION find_principal TO PUBLIC", catalog.loose_definers, "find_principal may be called"),
    ],
)
async def test_a_planted_breach_is_found(connection: Connection, sql: str, check: Check, found: str) -> None:
    planted = connection.transaction()
    await planted.start()

    await connection.execute(sql)
    problems = [text async for text in check(connection)]

    await planted.rollback()
    assert any(text.startswith(found) for text in problems), problems


@pytest.mark.parametrize(
    "sql",
    [
        "GRANT TRUNCATE ON notes TO atrium_app",
        "GRANT REFERENCES ON notes TO atrium_app",
        "GRANT SELECT (title) ON notes TO atrium_system",
        "GRANT UPDATE (hash) ON audit_events TO atrium_app",
        "GRANT SELECT (title) ON notes TO atrium_search",
        "GRANT UPDATE (readers) ON search_rows TO atrium_search",
        f"{WALLED}; GRANT SELECT ON planted TO PUBLIC",
    ],
)
async def test_a_planted_grant_is_found(connection: Connection, sql: str) -> None:
    planted = connection.transaction()
    await planted.start()

    await connection.execute(sql)
    found = {role: await catalog.privileges(connection, role) for role in EXPECTED}

    await planted.rollback()
    assert found != EXPECTED

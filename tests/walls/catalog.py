"""What PostgreSQL itself says about the wall: every check yields what is wrong, as sentences."""

from collections.abc import AsyncIterator
from typing import Any

from atrium.kit.postgres.database import APP_ROLE, SEARCH_ROLE, SYSTEM_ROLE

Connection = Any  # the driver's stubs are generic where the driver is not
# Tables that belong to no company.
INSTANCE_WIDE = {
    "schema_migrations": "the ledger of migrations",
    "rate_limits": "digests of addresses, counted before anybody is known",
    "login_failures": "digests of usernames and addresses, counted before anybody is known",
    "known_sign_ins": "digests of usernames and addresses, asked about before anybody is known",
    "instance": "one row: which company, team and person came first",
    "instance_branding": "the look everybody sees before signing in",
    "executor_probes": "whether machines of the instance answer; nothing of a company",
    "executors": "machines of the instance; one that serves a single company is listed to that company alone",
    "worker_credentials": "digests of the tokens of those machines; a machine belongs to no team",
    "job_workers": "which processes and machines are there to run which kinds",
    "turn_processes": "which processes ask models, and when each was last seen",
    "audit_keys": "the keys that tie every company's chain, sealed under the instance's own",
    "search_backlog": "how far the search index has read what was there before it",
    "search_words": "how rare words are that one of a thousand things of the instance has, in powers of two",
    "moved_names": "digests of what people of companies present that are elsewhere now, and where",
    "company_moves": "which companies came or are going; read and written by the owner alone",
    "key_check": "one sealed constant that tells the right key from a wrong one",
}
TABLES = """
    SELECT c.oid, c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced, c.relkind::text AS kind,
           (SELECT a.attnotnull FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id') AS org_id_required
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname
"""
POLICIES = """
    SELECT tablename AS name, policyname, permissive, roles::text[] AS roles, cmd, qual, with_check FROM pg_policies
     WHERE schemaname = 'public' ORDER BY tablename, policyname
"""
FOREIGN_KEYS = """
    SELECT k.conname AS name, k.conrelid::regclass::text AS child, k.confrelid::regclass::text AS parent,
           ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY c (n, at)
                   JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.n ORDER BY c.at) AS columns,
           ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY c (n, at)
                   JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = c.n ORDER BY c.at) AS targets
      FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace
"""
ROLES = """
    SELECT r.rolname AS name, r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication AS strong,
           r.rolcanlogin AS logs_in, EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) AS owns,
           EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid) AS member,
           has_schema_privilege(r.oid, 'public', 'CREATE') AS creates
      FROM pg_roles r WHERE r.rolname = ANY($1)
"""
# Functions that run as the role of search; all others that run as their owner do so as the directory's.
SEARCHING = {"search_candidates", "search_word_shares"}
DEFINERS = """
    SELECT p.proname AS name, p.proowner::regrole::text AS owner, coalesce(p.proconfig, '{}') AS settings,
           has_function_privilege('public', p.oid, 'EXECUTE') AS open
      FROM pg_proc p WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace
"""
PRIVILEGES = """
    SELECT c.relname AS name, p.privilege, has_table_privilege($1, c.oid, p.privilege) AS whole,
           ARRAY(SELECT a.attname::text FROM pg_attribute a
                  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    AND p.privilege IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                    AND has_column_privilege($1, c.oid, a.attnum, p.privilege) ORDER BY a.attname) AS columns
      FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
           WITH ORDINALITY AS p (privilege, at)
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname, p.at
"""


async def tenant_tables(connection: Connection) -> list[str]:
    """Every table whose rows belong to companies."""
    return [row["name"] for row in await connection.fetch(TABLES) if row["name"] not in INSTANCE_WIDE]


def org_column(table: str) -> str:
    return "id" if table == "orgs" else "org_id"


async def weak_tables(connection: Connection) -> AsyncIterator[str]:
    rows = await connection.fetch(TABLES)
    for name in INSTANCE_WIDE.keys() - {row["name"] for row in rows}:
        yield f"{name} is listed as belonging to no company and does not exist"
    for row in rows:
        if row["name"] in INSTANCE_WIDE:
            continue
        if row["kind"] not in ("r", "p"):
            yield f"{row['name']} is no plain table: a view reads as its owner, past the wall"
        if not (row["enabled"] and row["forced"]):
            yield f"{row['name']} has row-level security enabled {row['enabled']}, forced {row['forced']}"
        if row["name"] != "orgs" and not row["org_id_required"]:
            yield f"{row['name']} names no company, or lets it be null"


# Tables that the functions of search read past the wall.
SEARCHED = {"search_rows", "search_moved", "object_grants"}
SEARCHES = ("search_open", "PERMISSIVE", (SEARCH_ROLE,), "SELECT", "true", None)


def _walled(column: str) -> set[tuple[Any, ...]]:
    wall = f"({column} = ( SELECT current_org() AS current_org))"
    return {
        ("tenant_wall", "RESTRICTIVE", (APP_ROLE,), "ALL", wall, wall),
        ("tenant_open", "PERMISSIVE", (APP_ROLE,), "ALL", "true", "true"),
        ("system_open", "PERMISSIVE", (SYSTEM_ROLE,), "ALL", "true", "true"),
    }


async def wrong_policies(connection: Connection) -> AsyncIterator[str]:
    found: dict[str, set[tuple[Any, ...]]] = {name: set() for name in await tenant_tables(connection)}
    for row in await connection.fetch(POLICIES):
        facts = (row["policyname"], row["permissive"], tuple(row["roles"]), row["cmd"], row["qual"], row["with_check"])
        found.setdefault(row["name"], set()).add(facts)
    for name, policies in found.items():
        expected = _walled(org_column(name)) | ({SEARCHES} if name in SEARCHED else set())
        for policy in policies ^ expected:
            yield f"{name}: policy {policy[0]} is missing, extra or not as `wall_off` makes it"


async def loose_keys(connection: Connection) -> AsyncIterator[str]:
    """Foreign keys that could tie a company's row to another company's; PostgreSQL checks keys past every policy."""
    for row in await connection.fetch(FOREIGN_KEYS):
        pairs = set(zip(row["columns"], row["targets"], strict=True))
        if row["parent"] in INSTANCE_WIDE and row["child"] in INSTANCE_WIDE:
            continue
        if row["parent"] in INSTANCE_WIDE or row["child"] in INSTANCE_WIDE:
            yield f"{row['name']} ties {row['child']} to {row['parent']} across the wall"
        elif ("org_id", org_column(row["parent"])) not in pairs:
            yield f"{row['name']} ties {row['child']} to {row['parent']} without the company"


async def strong_roles(connection: Connection) -> AsyncIterator[str]:
    rows = await connection.fetch(ROLES, [APP_ROLE, SYSTEM_ROLE, SEARCH_ROLE])
    if len(rows) != 3:
        yield "a role is missing"
    for row in rows:
        for fact in ("strong", "logs_in", "owns", "member", "creates"):
            if row[fact]:
                yield f"{row['name']} {fact}"


async def loose_definers(connection: Connection) -> AsyncIterator[str]:
    """Functions that run as their owner: each pins where names are looked up, and is not for everybody."""
    for row in await connection.fetch(DEFINERS):
        if "search_path=pg_catalog, public, pg_temp" not in row["settings"]:
            yield f"{row['name']} does not pin its search_path"
        if row["owner"] != (SEARCH_ROLE if row["name"] in SEARCHING else SYSTEM_ROLE):
            yield f"{row['name']} runs as {row['owner']}"
        if row["open"]:
            yield f"{row['name']} may be called by anybody"


async def privileges(connection: Connection, role: str) -> dict[str, str]:
    """What a role may do with each table, as `SELECT INSERT(a, b)`; tables it cannot touch are left out."""
    found: dict[str, list[str]] = {}
    for row in await connection.fetch(PRIVILEGES, role):
        if row["whole"]:
            found.setdefault(row["name"], []).append(row["privilege"])
        elif row["columns"]:
            found.setdefault(row["name"], []).append(f"{row['privilege']}({', '.join(row['columns'])})")
    return {name: " ".join(parts) for name, parts in found.items()}

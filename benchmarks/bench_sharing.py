"""Blocks of PostgreSQL that reading shared things takes, of this checkout beside another one.

`python -m benchmarks.bench_sharing --against CHECKOUT` fills one database (110,000 notes, 110,000 objects, 69,000 grants, 800 people of
40 teams in two companies) and lets the interpreter of each checkout explain its own statements on it. Blocks do not depend on the
machine's load. A note or an object, and a page of them, may read 1.05 of what it read before; the trash three blocks more. A reply tells
what the caller may do with a note (ACCEPTED): where neither owning it nor the role says everything, a share has to be looked for.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.processes import interpreter_of
from tests.postgres import connected, fresh_database

ROOT = Path(__file__).resolve().parent.parent
STATEMENTS = Path(__file__).with_name("sharing_statements.py")
MOST, MOST_OF_TRASH = 1.05, 3
ACCEPTED = {"member: note, team": 2, "company's reader: note, team": 2}
NOTES = OBJECTS = 110_000
COMPANIES, TEAMS, PEOPLE = 2, 40, 800
_SEED = (
    "SET session_replication_role = replica",
    "SELECT setseed(0.5)",
    f"INSERT INTO orgs (id, slug, name) SELECT gen_random_uuid(), 'c' || g, 'Company ' || g FROM generate_series(1, {COMPANIES}) g",
    f"""
    INSERT INTO teams (id, org_id, name)
    SELECT gen_random_uuid(), o.id, 'Team ' || g FROM orgs o, generate_series(1, {TEAMS // COMPANIES}) g WHERE o.slug LIKE 'c%'
    """,
    f"""
    INSERT INTO users (id, org_id, team_id, username, role)
    SELECT gen_random_uuid(), org_id, id, 'p' || row_number() OVER (), 'member' FROM teams, generate_series(1, {PEOPLE // TEAMS})
    """,
    """CREATE TEMPORARY TABLE people AS
       SELECT row_number() OVER (ORDER BY username) - 1 AS n, id, team_id, org_id FROM users WHERE username LIKE 'p%'""",
    f"""
    INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, created_at, updated_at, trashed_at, trashed_by)
    SELECT gen_random_uuid(), p.org_id, p.team_id, p.id, 'Note ' || g, repeat('What we said. ', 20),
           CASE WHEN g % 3 = 0 THEN 'team' ELSE 'private' END, at, at, gone, CASE WHEN gone IS NOT NULL THEN p.id END
      FROM generate_series(1, {NOTES}) g JOIN people p ON p.n = abs(hashint4(g)::bigint) % {PEOPLE},
           LATERAL (SELECT now() - make_interval(mins => g) AS at,
                           CASE WHEN g % 50 = 0 THEN now() - make_interval(mins => g % 999) END AS gone) t
    """,
    f"""
    CREATE TEMPORARY TABLE made AS
    SELECT gen_random_uuid() AS id, gen_random_uuid() AS version, g, p.org_id, p.team_id, p.id AS owner,
           'folder-' || g % 97 || '/file-' || g || '.md' AS key,
           CASE g % 5 WHEN 0 THEN 'team' WHEN 1 THEN 'shared' ELSE 'private' END AS visibility,
           now() - make_interval(mins => g) AS at, CASE WHEN g % 50 = 0 THEN now() - make_interval(mins => g % 999) END AS gone
      FROM generate_series(1, {OBJECTS}) g JOIN people p ON p.n = abs(hashint4(g)::bigint) % {PEOPLE}
    """,
    """
    INSERT INTO object_versions (id, org_id, object_id, number, size, etag, content_type, filename, created_by, sha256)
    SELECT version, org_id, id, 1, 10, md5(key), 'text/markdown', 'file.md', owner, sha256(key::bytea) FROM made
    """,
    """
    INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, document, size, etag, created_at, updated_at,
                         written_at, trashed_at, trashed_by)
    SELECT id, org_id, team_id, owner, key, visibility, version, g % 4 = 0, 10, md5(key), at, at, at, gone,
           CASE WHEN gone IS NOT NULL THEN owner END FROM made
    """,
    f"""
    INSERT INTO note_grants (org_id, note_id, user_id, permission, granted_by, trashed_at)
    SELECT n.org_id, n.id, p.id, (ARRAY['notes:read', 'notes:write', 'notes:manage'])[1 + r.n % 3], n.owner_id, n.trashed_at
      FROM (SELECT *, row_number() OVER (ORDER BY created_at) AS n FROM notes) r JOIN notes n ON n.id = r.id
      JOIN people p ON p.n = abs(hashint8(r.n)::bigint) % {PEOPLE} AND p.org_id = n.org_id AND p.id <> n.owner_id
     WHERE r.n % 2 = 0
    ON CONFLICT DO NOTHING
    """,
    f"""
    INSERT INTO object_grants (org_id, object_id, principal_type, principal_id, capability, granted_by, owner_id, key, trashed_at,
                               expires_at)
    SELECT m.org_id, m.id, CASE WHEN m.g % 10 = 1 THEN 'team' ELSE 'user' END, CASE WHEN m.g % 10 = 1 THEN p.team_id ELSE p.id END,
           (ARRAY['view', 'edit', 'manage'])[1 + m.g % 3], m.owner, m.owner, m.key, m.gone,
           CASE WHEN m.g % 4 = 0 THEN now() + interval '1 day' END
      FROM made m JOIN people p ON p.n = abs(hashint4(m.g + 1)::bigint) % {PEOPLE} AND p.org_id = m.org_id AND p.id <> m.owner
     WHERE m.visibility = 'shared' OR m.g % 3 = 0
    ON CONFLICT DO NOTHING
    """,
    "SET session_replication_role = origin",
)
_CALLER = """
SELECT p.org_id AS org, p.team_id AS team, p.id AS user,
  (SELECT id FROM notes WHERE owner_id = p.id AND trashed_at IS NULL LIMIT 1) AS own_note,
  (SELECT id FROM notes WHERE team_id = p.team_id AND visibility = 'team' AND owner_id <> p.id AND trashed_at IS NULL LIMIT 1) AS team_note,
  (SELECT note_id FROM note_grants WHERE user_id = p.id AND trashed_at IS NULL LIMIT 1) AS granted_note,
  (SELECT id FROM notes WHERE org_id = p.org_id AND team_id <> p.team_id AND visibility = 'private' AND trashed_at IS NULL LIMIT 1)
    AS other_note,
  (SELECT id FROM objects WHERE owner_id = p.id AND trashed_at IS NULL LIMIT 1) AS own_object,
  (SELECT object_id FROM object_grants WHERE principal_id = p.id AND trashed_at IS NULL LIMIT 1) AS granted_object,
  (SELECT id FROM objects WHERE org_id = p.org_id AND team_id <> p.team_id AND visibility = 'private' AND trashed_at IS NULL LIMIT 1)
    AS other_object,
  ARRAY(SELECT id FROM notes WHERE org_id = p.org_id ORDER BY id LIMIT 50) AS some_notes
  FROM people p WHERE p.n = 17
"""


async def fill(url: str) -> list[dict[str, Any]]:
    """Make the rows; who asks, and for what."""
    async with connected(url) as connection:
        for statement in _SEED:
            await connection.execute(statement)
        found = await connection.fetchrow(_CALLER)
        counted = await connection.fetchval(
            "SELECT (SELECT count(*) FROM note_grants) + (SELECT count(*) FROM object_grants)"
        )
        await connection.execute("VACUUM ANALYZE")
    print(f"{NOTES} notes, {OBJECTS} objects, {counted} grants")
    given = {
        "org": str(found["org"]), "team": str(found["team"]), "user": str(found["user"]),
        "notes": {kind: str(found[f"{kind}_note"]) for kind in ("own", "team", "granted", "other")},
        "objects": {kind: str(found[f"{kind}_object"]) for kind in ("own", "granted", "other")},
        "some_notes": [str(id) for id in found["some_notes"]],
    }  # fmt: skip
    roles = {"member": "team", "manager": "team", "without a role": "team", "company's reader": "org"}
    return [given | {"role": role, "scope": scope} for role, scope in roles.items()]


def explained(checkout: Path, given: dict[str, Any]) -> dict[str, dict[str, int]]:
    """What a checkout's own statements read."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [str(interpreter_of(checkout)), str(STATEMENTS)]
    out = subprocess.run(
        command, input=json.dumps(given), env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, dict[str, int]] = json.loads(out.stdout)
    return found


def is_within(name: str, before: int, now: int) -> bool:
    """Whether a statement reads no more than it may."""
    if ": trash" in name or name in ACCEPTED:
        return now <= before + ACCEPTED.get(name, MOST_OF_TRASH)
    return now <= before * MOST


async def main(against: Path) -> int:
    async with fresh_database() as url:
        given = {"url": url, "callers": await fill(url)}
        before = await asyncio.to_thread(explained, against, given)
        now = await asyncio.to_thread(explained, ROOT, given)
    over = 0
    for name, blocks in now.items():
        for mode, count in blocks.items():
            was = before[name][mode]
            within = is_within(name, was, count)
            over += not within
            print(f"{name:45} {mode:8} {was:6} {count:6} {count / max(was, 1):5.2f}{'' if within else '  OVER'}")
    print(f"{over} over")
    return int(over > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT", help="another checkout, set up")
    sys.exit(asyncio.run(main(parser.parse_args().against)))

"""Companies with notes, made in bulk as the owner: a million notes in well under two minutes."""

from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.kit.ids import new_id

MOST_TARGETS = 20_000
_COMPANIES = """
INSERT INTO orgs (id, slug, name) SELECT gen_random_uuid(), 'company-' || g, 'Company ' || g FROM generate_series(1, $1) g
"""
_TEAMS = "INSERT INTO teams (id, org_id, name) SELECT gen_random_uuid(), id, 'First team' FROM orgs"
_USERS = """
INSERT INTO users (id, org_id, team_id, username, role)
SELECT gen_random_uuid(), t.org_id, t.id, 'member-' || row_number() OVER (), 'member' FROM teams t, generate_series(1, 2)
"""
# Ordered by number, not by company: as in life, the notes of one company lie scattered among everybody else's.
# Ids carry their time in front, like the ones the server makes.
_NOTES = """
INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, created_at, updated_at)
SELECT (lpad(to_hex(trunc(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || '8'
         || substr(noise, 4, 15))::uuid,
       org_id, team_id, owners[1 + number % 2], 'Note ' || number || ' about the plan for the week',
       repeat('What we said, who does it, and by when. ', 10),
       CASE WHEN number % 4 = 0 THEN 'private' ELSE 'team' END, at, at
  FROM (SELECT number, org_id, team_id, owners, md5(random()::text) AS noise,
               now() - make_interval(secs => ($1 - number) * 60 + random() * 60) AS at
          FROM generate_series(1, $1) AS number,
               (SELECT org_id, team_id, array_agg(id) AS owners FROM users GROUP BY org_id, team_id) AS teams
         ORDER BY number) AS rows
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A credential and a note it may read."""

    token: str
    note_id: UUID


async def seed(url: str, companies: int, notes: int) -> list[Target]:
    """Two members a company, `notes` notes between them, and requests to make about them in random order."""
    connection = await asyncpg.connect(url)
    try:
        # The rows are consistent by construction; checking every reference would take most of the time.
        await connection.execute("SET session_replication_role = replica")
        await connection.execute(_COMPANIES, companies)
        await connection.execute(_TEAMS)
        await connection.execute(_USERS)
        await connection.execute(_NOTES, notes)
        tokens = await _sign_in_everybody(connection)
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
        picked = await connection.fetch(f"SELECT owner_id, id FROM notes ORDER BY random() LIMIT {MOST_TARGETS}")
        return [Target(tokens[owner], note) for owner, note in picked]
    finally:
        await connection.close()


async def _sign_in_everybody(connection: Any) -> dict[UUID, str]:
    users = await connection.fetch("SELECT id, org_id, team_id FROM users")
    now = await connection.fetchval("SELECT now()")
    tokens = {user["id"]: new_token("session") for user in users}
    await connection.copy_records_to_table(
        "tokens",
        columns=["id", "org_id", "team_id", "user_id", "kind", "digest", "last_used_at"],
        records=[
            (new_id(), org, team, user, kind, digest_of(tokens[user].encode()), at)
            for (user, org, team), kind, at in zip(users, repeat("session"), repeat(now), strict=False)
        ],
    )
    return tokens


def write_targets(targets: list[Target], path: Path) -> Path:
    """A line per request, as the generators read them."""
    path.write_text("".join(f"{target.token} {target.note_id}\n" for target in targets))
    return path

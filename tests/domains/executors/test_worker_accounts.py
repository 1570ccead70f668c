"""Findings about workers that had accounts: what becomes of those that an older version made."""

import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import pytest

from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.kit.files.paths import shipped_path
from atrium.kit.ids import new_id
from atrium.kit.postgres.migrate import migrate, read_migrations
from tests.postgres import fresh_database, on_database, run_as_owner, server_url
from tests.support.client import Client
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

ORG, TEAM, ADA, MAKER = (new_id() for _ in range(4))
EXECUTOR, RETIRED, MACHINE, OLD_MACHINE, PERSON, BOSS = (new_id() for _ in range(6))
NOTE, OBJECT, VERSION, JOB, CLAIM = (new_id() for _ in range(5))
RAW, PERSONS, BOSSES = new_token("worker"), new_token("session"), new_token("token")
KIND = "x.integrator-demo.lane-report"


def _user(id: UUID, name: str, role: str, **more: str) -> str:
    columns, values = "".join(f", {name}" for name in more), "".join(f", {value}" for value in more.values())
    return (
        f"INSERT INTO users (id, org_id, team_id, username, display_name, role, created_at{columns})"
        f" VALUES ('{id}', '{ORG}', '{TEAM}', '{name}', '{name}', '{role}', now(){values})"
    )


def _token(user: UUID, kind: str, raw: str, id: UUID | None = None) -> str:
    return (
        "INSERT INTO tokens (id, org_id, team_id, user_id, kind, digest)"
        f" VALUES ('{id or new_id()}', '{ORG}', '{TEAM}', '{user}', '{kind}', '\\x{digest_of(raw.encode()).hex()}')"
    )


TOKEN = new_id()
# As an older version left it, each line a transaction's worth: an executor's account and token were made in the same moment.
BEFORE = (
    f"INSERT INTO orgs (id, slug, name) VALUES ('{ORG}', 'acme', 'Acme')",
    f"INSERT INTO teams (id, org_id, name) VALUES ('{TEAM}', '{ORG}', 'Core')",
    _user(ADA, "ada", "owner", org_role="'org_owner'"),
    _user(MAKER, "maker", "admin"),
    _user(MACHINE, "worker-0123456789abcdef", "worker", org_role="'org_admin'")
    + f"; UPDATE users SET display_name = 'gpu' WHERE id = '{MACHINE}';"
    + _token(MACHINE, "worker", RAW, TOKEN)
    + "; INSERT INTO executors (id, bound_to, name, mode, token_id, created_by)"
    + f" VALUES ('{EXECUTOR}', '{ORG}', 'gpu', 'pull', '{TOKEN}', '{MAKER}')",
    _user(OLD_MACHINE, "worker-fedcba9876543210", "worker"),
    "INSERT INTO executors (id, name, mode, token_id, created_by, retired_at)"
    f" VALUES ('{RETIRED}', 'old', 'pull', '{new_id()}', '{MAKER}', now())",
    _user(PERSON, "grace", "worker", password_hash="'hash'"),
    _token(PERSON, "session", PERSONS),
    _user(BOSS, "boss", "worker", org_role="'org_owner'"),
    _token(BOSS, "token", BOSSES),
    # What accounts of machines could come to hold: a note, an object with a grant, an S3 key, a place in the trail.
    "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)"
    f" VALUES ('{NOTE}', '{ORG}', '{TEAM}', '{MACHINE}', 'Kept', 'words', 'private')",
    "INSERT INTO note_grants (org_id, note_id, user_id, permission, granted_by)"
    f" VALUES ('{ORG}', '{NOTE}', '{PERSON}', 'notes:read', '{ADA}')",
    f"INSERT INTO blobs (org_id, sha256, size) VALUES ('{ORG}', sha256('a'), 1)",
    "INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id)"
    f" VALUES ('{OBJECT}', '{ORG}', '{TEAM}', '{PERSON}', 'kept.txt', 'shared', '{VERSION}')",
    "INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)"
    f" VALUES ('{VERSION}', '{ORG}', '{OBJECT}', 1, sha256('a'), 1, 'e', 'text/plain', 'kept.txt', '{PERSON}')",
    "INSERT INTO object_grants (org_id, object_id, principal_type, principal_id, capability, granted_by, owner_id, key) VALUES"
    f" ('{ORG}', '{OBJECT}', 'user', '{MACHINE}', 'edit', '{PERSON}', '{PERSON}', 'kept.txt'),"
    f" ('{ORG}', '{OBJECT}', 'user', '{MAKER}', 'view', '{PERSON}', '{PERSON}', 'kept.txt')",
    "INSERT INTO s3_keys (id, org_id, user_id, access_key_id, secret_sealed, name)"
    f" VALUES ('{new_id()}', '{ORG}', '{MACHINE}', 'ATMACHINE', '\\x01', 'kept')",
    "INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject)"
    f" VALUES ('{ORG}', '{new_id()}', '{TEAM}', '{MACHINE}', 's3.key_issued', 'x')",
    "INSERT INTO jobs (id, org_id, team_id, user_id, kind, pool, state, attempt, max_attempts, lease, input, claim_token,"
    " worker, lease_until)"
    f" VALUES ('{JOB}', '{ORG}', '{TEAM}', '{ADA}', '{KIND}', '{KIND}', 'running', 1, 3, '60 s', '{{\"lane\": \"x\"}}',"
    f" '{CLAIM}', '{EXECUTOR}', now() + interval '60 s')",
    f"UPDATE job_teams SET running = 1 WHERE team_id = '{TEAM}'",
)


@asynccontextmanager
async def owned_database() -> AsyncIterator[tuple[str, str]]:
    """A database and its owner's address; the owner is no superuser, and sees nothing past the walls."""
    name = f"atrium_test_{secrets.token_hex(6)}"
    await run_as_owner(
        server_url(), f"CREATE ROLE {name} LOGIN CREATEROLE IN ROLE atrium_app, atrium_system, atrium_search"
    )
    await run_as_owner(server_url(), f"CREATE DATABASE {name} OWNER {name}")
    url = on_database(name)
    parts = urlsplit(url)
    try:
        yield url, urlunsplit(parts._replace(netloc=f"{name}@{parts.netloc.rpartition('@')[2]}"))
    finally:
        await run_as_owner(server_url(), f"DROP DATABASE {name} WITH (FORCE)")
        await run_as_owner(server_url(), f"DROP ROLE {name}")


@asynccontextmanager
async def superusers_database() -> AsyncIterator[tuple[str, str]]:
    async with fresh_database(migrated=False) as url:
        yield url, url


@pytest.fixture(params=[owned_database, superusers_database])
async def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """A database that was filled under the schema before people could leave, and brought to head."""
    folder = shutil.copytree(shipped_path("migrations"), tmp_path / "migrations")
    names = [migration.name for migration in read_migrations()]
    for name in names[names.index("0030_people_leave") :]:
        (folder / f"{name}.sql").unlink()
    async with request.param() as (url, owner):
        await migrate(owner, folder)
        for statement in BEFORE:
            for part in statement.split(";"):
                await run_as_owner(url, part)
        await run_as_owner(
            url,
            f"UPDATE users SET created_at = (SELECT created_at FROM executors WHERE id = '{EXECUTOR}') WHERE id = '{MACHINE}'",
        )
        await migrate(owner)
        yield url


async def test_f3_an_older_worker_keeps_its_token_and_its_job_and_has_no_account(upgraded: str) -> None:
    async with open_application(settings_for(upgraded)) as house:
        worker = Client(house.app, RAW)

        word = {"claim_token": str(CLAIM), "result": {"lane": "x", "shipments": 1, "on_time": 1.0}}
        done = await worker.post(f"/api/workers/jobs/{JOB}/complete", word)
        asked = await worker.post("/api/workers/claim", {"kinds": [KIND]})
        elsewhere = [await worker.get(path) for path in ("/api/whoami", "/api/members", "/api/notes")]

    assert (done.status, done["state"], asked.status) == (200, "succeeded", 204)
    assert [answer.status for answer in elsewhere] == [403] * 3
    assert await run_as_owner(upgraded, "SELECT FROM tokens") == []
    assert await run_as_owner(upgraded, "SELECT FROM s3_keys") == []


async def test_f2_people_with_the_role_have_left_and_their_tokens_open_nothing(upgraded: str) -> None:
    async with open_application(settings_for(upgraded)) as house:
        answers = [await Client(house.app, raw).get("/api/whoami") for raw in (PERSONS, BOSSES)]

    assert [answer.status for answer in answers] == [401, 401]
    left = await run_as_owner(upgraded, "SELECT id FROM users WHERE left_at IS NULL ORDER BY id")
    assert {row["id"] for row in left} == {ADA, MAKER}
    assert await run_as_owner(upgraded, "SELECT FROM users WHERE role = 'worker'") == []


async def test_f3_what_accounts_of_machines_owned_is_somebodys(upgraded: str) -> None:
    [(note,)] = await run_as_owner(upgraded, "SELECT owner_id FROM notes")
    [(stored,)] = await run_as_owner(upgraded, "SELECT owner_id FROM objects")
    grants = await run_as_owner(upgraded, "SELECT principal_id, owner_id FROM object_grants")

    assert note == MAKER, "whoever made the executor"
    assert stored == ADA, "an owner of the team"
    assert [tuple(row) for row in grants] == [(MAKER, ADA)]
    assert await run_as_owner(upgraded, "SELECT FROM note_grants") == []


async def test_f3_a_name_stays_on_what_it_did_and_nothing_else_is_left(upgraded: str) -> None:
    kept = await run_as_owner(upgraded, "SELECT id FROM users WHERE left_at IS NOT NULL")

    assert {row["id"] for row in kept} == {MACHINE, PERSON}, "the trail names one, a version the other"
    assert await run_as_owner(upgraded, "SELECT FROM users WHERE id = $1", OLD_MACHINE) == []


async def test_f3_the_move_lends_no_right_for_longer_than_it_takes(upgraded: str) -> None:
    rights = await run_as_owner(
        upgraded,
        """
        SELECT has_column_privilege('atrium_system', 'notes', 'owner_id', 'SELECT, UPDATE'),
               has_column_privilege('atrium_system', 'objects', 'owner_id', 'SELECT, UPDATE'),
               has_any_column_privilege('atrium_system', 'note_grants', 'SELECT'),
               has_table_privilege('atrium_system', 'users', 'DELETE'), has_table_privilege('atrium_system', 's3_keys', 'DELETE')
        """,
    )

    assert [*rights[0]] == [False] * 5

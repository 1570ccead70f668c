"""A company with something in every table, made through the interface, every text of it carrying one canary."""

import asyncio
import json
import secrets
from dataclasses import dataclass
from uuid import UUID

from atrium.boot.assemble import Application
from atrium.ground.audit import sealer
from atrium.kit.ids import new_id
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company


@dataclass(frozen=True, slots=True)
class Populated:
    """The company, two of its people in two teams, what they own, and the text that betrays a leak."""

    company: Company
    owner: Client
    other: Client
    canary: str
    private_note: str
    team_note: str
    token: str
    document: str


async def _done(answer: Answer) -> Answer:
    assert answer.status < 300, answer.raw
    return answer


async def populate(house: Application) -> Populated:
    """Rows in every tenant table; the other person is in another team, so that team and company can be told apart."""
    canary = f"canary-{secrets.token_hex(8)}"
    company = await found_company(house, name=canary)
    owner = await company.join("owner", org_role="org_owner")
    other = await company.join("owner", team=await company.add_team(f"{canary} too"))
    for person in (owner, other):
        await _switch_and_enrol(person, canary)
    private, shared = await _notes_of(other, canary, shared_with=owner)
    token = await _done(await other.post("/api/tokens", {"name": canary}, headers={"idempotency-key": canary}))
    await _spend_and_brand(owner, other, canary)
    await _queue(house, company, other, canary)
    await _store(house, owner, other, canary)
    await _flow(house, other, canary)
    await _know(house, other, canary)
    await _translate(house, other, canary)
    await _invite(house, other, canary)
    document = await _done(await other.post("/api/documents", {"title": canary, "body": canary, "visibility": "team"}))
    await _await_activation(house, company, owner)
    await Client(house.app).post("/api/login", {"username": owner.username, "password": "not the password"})
    await seal(house, company)
    return Populated(company, owner, other, canary, private, shared, token["id"], document["id"])


async def _spend_and_brand(owner: Client, other: Client, canary: str) -> None:
    for person in (owner, other):
        await _done(await person.post("/api/ai/echo", {"prompt": canary}))
        await _done(await person.post("/api/ai/chat", {"prompt": canary}))
        await _done(await person.post("/api/agent", {"prompt": f"word_count of {canary}"}))
        await _done(
            await person.post("/api/translate", {"text": f"see https://{canary}.example there", "target": "es"})
        )
        await _done(await person.post("/api/glossary", {"target": "es", "term": f"{canary} {person.username}"}))
    await _done(await owner.put("/api/org/branding", {"title": canary, "tagline": canary}))


async def _queue(house: Application, company: Company, person: Client, canary: str) -> None:
    draft = {"kind": "x.example-tools.word-count", "input": {"text": canary}}
    await _done(await person.post("/api/jobs", draft))
    await _done(await person.put("/api/model-roles", {"roles": {"utility": "local"}}))
    # A lane appears at the first claim, and nobody works here.
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO job_lanes (team_id, org_id, pool, open) VALUES ($1, $2, 'x.example-tools.word-count', true) ON CONFLICT DO NOTHING",
        UUID(person.team_id), company.org.id,
    )  # fmt: skip
    # As if a worker had begun to answer a chat.
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO job_words (job_id, at, org_id, body) VALUES (gen_random_uuid(), 0, $1, $2)",
        company.org.id,
        canary,
    )


async def _store(house: Application, owner: Client, other: Client, canary: str) -> None:
    kept = await _done(await other.put(f"/api/repo/{canary}.txt?visibility=team", canary.encode()))
    await _done(await other.post(f"/api/repo-obj/{kept['id']}/share", {"user_id": owner.user_id}))
    gone = await _done(await other.put(f"/api/repo/{canary}-gone.txt", f"{canary} gone".encode()))
    await _done(await other.delete(f"/api/repo-obj/{gone['id']}"))
    await _done(await other.delete(f"/api/trash/{gone['id']}"))
    await _done(await other.post("/api/s3/credentials", {"name": canary}))
    await _begin_an_upload(house, UUID(other.org_id), UUID(other.team_id), UUID(other.user_id), canary)
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO derivations (org_id, version_id, object_id, source_id, source_version_id) VALUES ($1, $2, $3, $3, $2)",
        UUID(owner.org_id), UUID(kept["version"]["id"]), UUID(kept["id"]),
    )  # fmt: skip
    # As if it had come while no texts were read.
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO unread_objects SELECT id, org_id, team_id, version_id, written_at FROM objects WHERE id = $1",
        UUID(kept["id"]),
    )
    # As if its folder had just been moved with many others.
    await run_as_owner(
        house.services.settings.database_url,
        "INSERT INTO search_moved SELECT org_id, id, key FROM objects WHERE id = $1",
        UUID(kept["id"]),
    )


async def _flow(house: Application, person: Client, canary: str) -> None:
    """A workflow, and a run of it as it is after its first step."""
    step = {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": canary}}
    spec = {"slug": canary, "title": canary, "start": "count", "max_steps": 1, "steps": [step]}
    await _done(await person.post("/api/workflows", spec))
    org, team, user = (UUID(id) for id in (person.org_id, person.team_id, person.user_id))
    url, run = house.services.settings.database_url, new_id()
    await run_as_owner(
        url,
        "INSERT INTO runs (id, org_id, team_id, user_id, slug, version, locale, input, max_steps)"
        " VALUES ($1, $2, $3, $4, $5, 1, 'en', to_jsonb($5::text), 1)",
        run, org, team, user, canary,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO run_steps (run_id, step, org_id, position, kind, tool, state, output)"
        " VALUES ($1, 'count', $2, 0, 'tool', 'word_count', 'succeeded', to_jsonb($3::text))",
        run, org, canary,
    )  # fmt: skip
    await run_as_owner(url, "INSERT INTO run_objects (run_id, object_id, org_id) VALUES ($1, $1, $2)", run, org)
    await run_as_owner(
        url,
        "INSERT INTO workflow_reviews (team_id, slug, user_id, digest, org_id) VALUES ($1, $2, $3, $2, $4)",
        team, canary, user, org,
    )  # fmt: skip
    draft = {"workflow_slug": canary, "name": canary, "match_prefix": f"{canary}/", "enabled": False}
    await _done(await person.post("/api/doc-triggers", draft))
    await _done(await person.put(f"/api/repo/{canary}/noticed.txt", canary.encode()))


async def _know(house: Application, person: Client, canary: str) -> None:
    """A document read into the knowledge graph, with every kind of row that this leaves."""
    kept = await _done(await person.put(f"/api/repo/{canary}/known.txt", f"{canary} known".encode()))
    url, org, team, user = (
        house.services.settings.database_url,
        *map(UUID, (person.org_id, person.team_id, person.user_id)),
    )
    object_id, version_id = UUID(kept["id"]), UUID(kept["version"]["id"])
    await run_as_owner(url, "INSERT INTO knowledge_salts (team_id, org_id) VALUES ($1, $2)", team, org)
    for statement in (
        "INSERT INTO knowledge_shares (object_id, org_id, version_id, entities, relations) VALUES ($1, $2, $3, 1, 1)",
        "INSERT INTO knowledge_refusals (object_id, org_id, version_id, refusals) VALUES ($1, $2, $3, 1)",
    ):
        await run_as_owner(url, statement, object_id, org, version_id)
    await run_as_owner(
        url,
        "INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)"
        " VALUES ($1, $1, 0, $2, $3, 'concept', $4, $4, $4)",
        object_id, org, version_id, canary,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO knowledge_relations (object_id, from_id, to_id, type, at, org_id, version_id, quote)"
        " VALUES ($1, $1, $3, 'knows', 0, $2, $3, $4)",
        object_id, org, version_id, canary,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO knowledge_merges (id, org_id, team_id, keep_id, drop_id, head_id, merged_by) VALUES ($1, $2, $3, $1, $5, $1, $4)",
        object_id, org, team, user, version_id,
    )  # fmt: skip


async def _translate(house: Application, person: Client, canary: str) -> None:
    """A message as the instance's first company has them, with what follows from a change of it."""
    url, org = house.services.settings.database_url, UUID(person.org_id)
    await run_as_owner(url, "INSERT INTO l10n_imports (org_id, fingerprint) VALUES ($1, $2)", org, canary)
    await run_as_owner(
        url,
        "INSERT INTO l10n_messages (id, org_id, locale, ns, key, source, text, status, text_source)"
        " VALUES ($1, $2, 'es', 'words', 'words.' || $3, $3, $3, 'approved', $3)",
        new_id(), org, canary,
    )  # fmt: skip
    await run_as_owner(url, "UPDATE l10n_messages SET text = text || ' too' WHERE org_id = $1", org)


async def _invite(house: Application, person: Client, canary: str) -> None:
    """A sign-up form with a picture, and a person who signed up, as if this company were the instance's first."""
    url, org, user = house.services.settings.database_url, UUID(person.org_id), UUID(person.user_id)
    document = json.dumps({"copy": {"title": canary}})
    for table, columns in (
        ("onboarding_drafts", "revision, saved_by"),
        ("onboarding_versions", "version, published_by"),
    ):
        number = "$1" if table == "onboarding_drafts" else "1"
        await run_as_owner(
            url,
            f"INSERT INTO {table} (org_id, document, {columns}) VALUES ($1, $2::text::jsonb, {number}, $3)",
            org, document, user,
        )  # fmt: skip
    await run_as_owner(url, "INSERT INTO onboarding_secrets (org_id, sealed) VALUES ($1, $2)", org, canary.encode())
    await run_as_owner(url, "INSERT INTO onboarding_days (org_id, day) VALUES ($1, now())", org)
    await run_as_owner(
        url, "INSERT INTO onboarding_proofs (digest, org_id, network) VALUES ($2, $1, $2)", org, canary.encode()
    )
    await run_as_owner(
        url,
        "INSERT INTO onboarding_assets (id, org_id, kind, filename, content_type, size, sha256)"
        " SELECT $1, $1, 'logo', $2, 'image/png', size, sha256 FROM blobs WHERE org_id = $1 LIMIT 1",
        org,
        canary,
    )
    await run_as_owner(
        url,
        "INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate)"
        " VALUES ($1, $1, $3, 1, jsonb_build_object('email', $2::text), $2, 'en', '[]', 'pass')",
        org, canary, canary.encode(),
    )  # fmt: skip


async def _begin_an_upload(house: Application, org: UUID, team: UUID, user: UUID, canary: str) -> None:
    """An extra bucket, and an upload in parts that nobody has completed."""
    url = house.services.settings.database_url
    await run_as_owner(
        url,
        "INSERT INTO s3_buckets (org_id, team_id, name, created_by) VALUES ($1, $2, $3, $4)",
        org,
        team,
        canary,
        user,
    )
    await run_as_owner(
        url,
        "INSERT INTO multipart_uploads (id, org_id, team_id, owner_id, key, draft) VALUES ($1, $1, $2, $3, $4, '{}')",
        org, team, user, canary,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO multipart_parts (org_id, upload_id, number, sha256, size, etag)"
        " SELECT $1, $1, 1, sha256, size, 'e' FROM blobs WHERE org_id = $1 LIMIT 1",
        org,
    )


async def _await_activation(house: Application, company: Company, owner: Client) -> None:
    """What only operators and hosts make: a limit, and a link nobody has followed yet."""
    url = house.services.settings.database_url
    await run_as_owner(
        url, "INSERT INTO activations (org_id, user_id, digest, expires_at) VALUES ($1, $2, sha256($3), now())",
        company.org.id, UUID(owner.user_id), company.org.id.bytes,
    )  # fmt: skip
    await run_as_owner(
        url, "INSERT INTO password_resets (org_id, user_id, digest, expires_at) VALUES ($1, $2, sha256($3), now())",
        company.org.id, UUID(owner.user_id), company.org.id.bytes,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO quota_limits VALUES ($1, $1, 'ai.requests', 'day', 1000)",
        company.org.id,
    )
    # The writes before have entered what was noted.
    await run_as_owner(
        url,
        "INSERT INTO storage_entries (org_id, team_id, part, bytes) VALUES ($1, $2, 'notes', 0)",
        company.org.id,
        company.team.id,
    )


async def seal(house: Application, company: Company) -> None:
    """Give the company's events their place; as if every older transaction of the whole server had ended."""
    url = house.services.settings.database_url
    await run_as_owner(url, "UPDATE audit_events SET xid = '3' WHERE org_id = $1", company.org.id)
    async with asyncio.timeout(PATIENCE):
        while not await run_as_owner(url, "SELECT FROM audit_heads WHERE org_id = $1", company.org.id):
            await sealer.seal(house.services.database, house.services.keys)


async def _switch_and_enrol(person: Client, canary: str) -> None:
    await _done(await person.post("/api/profile", {"display_name": canary}))
    await _done(await person.post("/api/2fa/enable", {}))
    await _done(await person.post("/api/features/agent", {"enabled": True}))
    await _done(await person.post("/api/tools/word_count", {"enabled": True}))
    await _done(await person.post("/api/members", {"username": canary + secrets.token_hex(4), "role": "member"}))


async def _notes_of(person: Client, canary: str, *, shared_with: Client) -> tuple[str, str]:
    made = [
        (await _done(await person.post("/api/notes", {"title": canary, "body": canary, "visibility": visibility})))[
            "id"
        ]
        for visibility in ("private", "team")
    ]
    for note in made:
        await _done(await person.put(f"/api/notes/{note}", {"body": f"{canary} again"}))
        await _done(
            await person.post(f"/api/notes/{note}/share", {"user_id": shared_with.user_id, "permission": "notes:read"})
        )
    return made[0], made[1]

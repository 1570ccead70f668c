"""What every row needs to be asked rightly: a thing for each path parameter, a valid body, whatever must be true before."""

import json
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

from altcha import v2
from PIL import Image

from atrium.edge.endpoint import Endpoint
from atrium.ground.identity import sessions
from atrium.ground.tenancy.model import Team
from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.kit.ids import new_id
from atrium.seams.context import ANONYMOUS, Operation
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.table import tally
from tests.table.rows import Key, key_of, needs_example, parameters_of


class Unregistered(AssertionError):
    """A row came without what its probes need; the message says what to add and where."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are made: a team of a company, the row's rightful caller there, and a text nobody else may read."""

    company: Company
    team: Team
    caller: Client
    canary: str = field(default_factory=lambda: f"canary-{secrets.token_hex(8)}")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, ready to be sent by anybody."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, object] = field(default_factory=dict)

    async def by(self, client: Client, credential: str | None = None, **sent: str) -> Answer:
        tally.note_request()
        headers = {name.replace("_", "-"): value for name, value in sent.items()}
        if credential:
            headers["authorization"] = credential
        return await client.send(self.method, self.path, self.body, query=dict(self.query), headers=headers)


Maker = Callable[[Place], Awaitable[str]]
Body = Callable[[Place], Awaitable[Any]]


async def _nothing(place: Place) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Example:
    """A right request's body and query, and what has to happen before it."""

    body: Body = _nothing
    query: Mapping[str, object] = field(default_factory=dict)
    before: Callable[[Place], Awaitable[None]] = _nothing


@dataclass(frozen=True, slots=True)
class Specimens:
    """Makers by path parameter, examples by row."""

    makers: Mapping[str, Maker]
    examples: Mapping[Key, Example]

    async def ask(self, endpoint: Endpoint, place: Place, foreign: Mapping[str, str] | None = None) -> Ask:
        """A right request; `foreign` puts somebody else's thing in place of a parameter."""
        example = self.example_of(endpoint)
        await example.before(place)
        path = endpoint.route.path
        for parameter in reversed(parameters_of(path)):
            value = (foreign or {}).get(parameter) or await self.maker_of(parameter)(place)
            path = parameter.rpartition("/")[0] + "/" + value + path[len(parameter) :]
        return Ask(endpoint.route.method, path, await example.body(place), example.query)

    def maker_of(self, parameter: str) -> Maker:
        if parameter not in self.makers:
            raise Unregistered(f"MAKERS has nothing that makes a {parameter}")
        return self.makers[parameter]

    def example_of(self, endpoint: Endpoint) -> Example:
        key = key_of(endpoint)
        if key not in self.examples and needs_example(endpoint):
            raise Unregistered(f"EXAMPLES has no valid request for {' '.join(key)}")
        return self.examples.get(key, Example())

    def maker_in(self, collection: str) -> Maker | None:
        """What fills a listing, when its items have an address of their own; what belongs to one thing is probed by its id."""
        if parameters_of(collection):
            return None
        return next((make for path, make in self.makers.items() if path.rpartition("/")[0] == collection), None)


async def made(answer: Awaitable[Answer]) -> Answer:
    """The answer of a step that only arranges, so it must have worked."""
    found = await answer
    assert found.status < 300, found.raw
    return found


async def a_first_version(place: Place) -> str:
    """Every note has one, and its number says nothing about whose."""
    return "1"


async def a_note(place: Place) -> str:
    draft = {"title": place.canary, "body": place.canary, "visibility": "team"}
    return str((await made(place.caller.post("/api/notes", draft)))["id"])


async def a_token(place: Place) -> str:
    return str((await made(place.caller.post("/api/tokens", {"name": place.canary})))["id"])


async def a_session(place: Place) -> str:
    """One more session of the caller, on a device named like the canary."""
    person = place.caller
    op = Operation(who=ANONYMOUS, services=place.company.house.services, user_agent=place.canary)
    async with op.begin_system() as ctx:
        issued = await sessions.open_session(ctx, UUID(person.user_id), UUID(person.team_id), UUID(person.org_id))
    return str(issued.id)


async def a_person_with_two_factor(place: Place) -> str:
    person = await place.company.join("member", team=place.team)
    await made(person.post("/api/2fa/enable", {}))
    return person.user_id


async def a_tool(place: Place) -> str:
    return "word_count"


async def a_feature(place: Place) -> str:
    return "chat"


async def a_console_file(place: Place) -> str:
    return "index.js"


async def a_plugin_with_pages(place: Place) -> str:
    return "example-tools"


async def a_style_of_a_plugin(place: Place) -> str:
    return "style.css"


async def a_company(place: Place) -> str:
    founding = {"name": place.canary, "owner": {"username": f"o-{secrets.token_hex(6)}"}}
    return str((await made(place.caller.post("/api/orgs", founding)))["org"]["id"])


async def a_colleague(place: Place) -> str:
    return (await place.company.join("member", team=place.team)).user_id


async def an_instance(place: Place) -> None:
    await run_as_owner(
        place.company.house.services.settings.database_url,
        "INSERT INTO instance (org_id, team_id, operator_id) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING",
        place.company.org.id, place.company.team.id,
    )  # fmt: skip


async def the_catalogs(place: Place) -> None:
    """The company as the instance's first one, with a few messages instead of all that ship."""
    await a_message(place)


async def a_message(place: Place) -> str:
    """A message with a proposal that waits for a reviewer, and one that is missing; the newest comes first in the listing."""
    url, org, id = place.company.house.services.settings.database_url, place.company.org.id, uuid4()
    await run_as_owner(
        url,
        "INSERT INTO instance (org_id, team_id, operator_id) VALUES ($1, $2, $2)"
        " ON CONFLICT (singleton) DO UPDATE SET org_id = excluded.org_id, team_id = excluded.team_id",
        org, place.company.team.id,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO l10n_imports (org_id, fingerprint) VALUES ($1, 'tests') ON CONFLICT (org_id) DO UPDATE SET job_id = NULL",
        org,
    )
    await run_as_owner(
        url,
        "INSERT INTO l10n_messages (id, org_id, locale, ns, key, source, text, status, text_source, pending_text, pending_at)"
        " VALUES ($1, $2, 'es', 'words', 'words.' || 9000000000000000 - floor(extract(epoch FROM now()) * 1000000)::bigint,"
        " $3, $3, 'approved', $3, $3 || ' too', now()),"
        " (gen_random_uuid(), $2, 'es', 'words', 'words.missing.' || $1::uuid, $3, NULL, 'missing', NULL, NULL, NULL)",
        id, org, place.canary,
    )  # fmt: skip
    return str(id)


async def the_first_team(place: Place) -> None:
    """The sign-up form belongs to this team from now on, and has a draft."""
    services = place.company.house.services
    url, facts = (
        services.settings.database_url,
        (place.company.org.id, place.team.id, UUID(place.caller.user_id or str(place.team.id))),
    )
    await run_as_owner(url, "DELETE FROM instance")
    await run_as_owner(url, "INSERT INTO instance (org_id, team_id, operator_id) VALUES ($1, $2, $3)", *facts)
    services.started["onboarding"].forget()
    await run_as_owner(
        url,
        "INSERT INTO onboarding_drafts (org_id, revision, document) VALUES ($1, $1, $2::text::jsonb) ON CONFLICT DO NOTHING",
        place.company.org.id,
        json.dumps(AN_EXPERIENCE),
    )
    await run_as_owner(
        url,
        "INSERT INTO onboarding_versions (org_id, version, document) VALUES ($1, 1, $2::text::jsonb) ON CONFLICT DO NOTHING",
        place.company.org.id,
        json.dumps(AN_EXPERIENCE),
    )


async def a_prospect(place: Place) -> str:
    await the_first_team(place)
    id = new_id()
    await run_as_owner(
        place.company.house.services.settings.database_url,
        "INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate)"
        " VALUES ($1, $2, $3, 1, jsonb_build_object('email', $4::text), $4, 'en', '[]', 'pass')",
        id, place.company.org.id, id.bytes, f"{place.canary}@example.com",
    )  # fmt: skip
    return str(id)


async def a_funnel_asset(place: Place) -> str:
    await the_first_team(place)
    admin = await place.company.join("admin", team=place.team)
    upload = {"kind": "logo", "filename": place.canary, **a_logo()}
    return str((await made(admin.post("/api/beta/assets", upload)))["id"])


async def a_sign_up(place: Place) -> Any:
    challenge = await made(Client(place.company.house.app).get("/api/beta/challenge"))
    solution = v2.solve_challenge(found := v2.Challenge.from_dict(challenge.body))
    assert solution is not None
    return {"fields": {"email": "ada@example.com"}, "proof": v2.Payload(found, solution).to_base64()}


async def an_object(place: Place) -> str:
    stored = await made(
        place.caller.put(f"/api/repo/{place.canary}-{secrets.token_hex(4)}.txt?visibility=team", place.canary.encode())
    )
    return str(stored["id"])


async def a_deleted_object(place: Place) -> str:
    id = await an_object(place)
    await made(place.caller.delete(f"/api/repo-obj/{id}"))
    return id


async def a_key(place: Place) -> str:
    key = f"{place.canary}/{secrets.token_hex(4)}.txt"
    await made(place.caller.put(f"/api/repo/{key}?visibility=team", b"first"))
    return key


async def an_access_key(place: Place) -> str:
    return str((await made(place.caller.post("/api/s3/credentials", {"name": place.canary})))["id"])


async def an_access_key_of_ones_own(place: Place) -> None:
    await an_access_key(place)


async def a_document(place: Place) -> str:
    draft = {"title": place.canary, "body": place.canary, "visibility": "team"}
    return str((await made(place.caller.post("/api/documents", draft)))["id"])


async def a_job(place: Place) -> str:
    draft = {"kind": "x.example-tools.word-count", "input": {"text": place.canary}}
    return str((await made(place.caller.post("/api/jobs", draft)))["id"])


def a_spec(slug: str, title: str) -> dict[str, Any]:
    step = {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": title}}
    return {"slug": slug, "title": title, "start": "count", "max_steps": 1, "steps": [step]}


async def a_workflow(place: Place) -> str:
    # Told to whom asks for it, so that it carries nothing of what it names.
    admin, slug = await place.company.join("admin", team=place.team), f"flow-{secrets.token_hex(8)}"
    await made(admin.post("/api/workflows", a_spec(slug, place.canary)))
    return slug


async def a_run(place: Place) -> str:
    # A listing of runs shows what they are runs of.
    slug, admin = f"{place.canary}-{secrets.token_hex(4)}", await place.company.join("admin", team=place.team)
    await made(admin.post("/api/workflows", a_spec(slug, place.canary)))
    return str((await made(admin.post(f"/api/workflows/{slug}/run", {})))["id"])


async def a_new_workflow(place: Place) -> Any:
    return a_spec(f"flow-{secrets.token_hex(8)}", place.canary)


async def a_trigger(place: Place) -> str:
    admin = await place.company.join("admin", team=place.team)
    draft = {"workflow_slug": await a_workflow(place), "name": place.canary, "match_prefix": f"{place.canary}/"}
    return str((await made(admin.post("/api/doc-triggers", draft)))["id"])


async def a_new_trigger(place: Place) -> Any:
    return {"workflow_slug": await a_workflow(place), "name": place.canary, "match_prefix": f"{place.canary}/"}


async def an_entity(place: Place) -> str:
    admin, key = await place.company.join("admin", team=place.team), f"{place.canary}-{secrets.token_hex(4)}.txt"
    kept = await made(admin.send("PUT", f"/api/repo/{key}", b"words", query={"visibility": "team"}))
    url, facts = place.company.house.services.settings.database_url, (UUID(kept["id"]), place.company.org.id)
    version_id = UUID(kept["version"]["id"])
    await run_as_owner(
        url,
        "INSERT INTO knowledge_shares (object_id, org_id, version_id, entities, relations) VALUES ($1, $2, $3, 1, 0)",
        *facts, version_id,
    )  # fmt: skip
    await run_as_owner(
        url,
        "INSERT INTO knowledge_mentions (object_id, entity_id, at, org_id, version_id, type, name, folded, quote)"
        " VALUES ($1, $1, 0, $2, $3, 'concept', $4, $4, $4)",
        *facts, version_id, place.canary,
    )  # fmt: skip
    return str(kept["id"])


async def an_executor(place: Place) -> str:
    draft = {"name": f"{place.canary} {secrets.token_hex(4)}", "mode": "pull", "org_id": place.caller.org_id}
    operator = await place.company.join("owner", team=place.team, org_role="org_owner", operator=True)
    return str((await made(operator.post("/api/executors", draft)))["id"])


async def a_held_job(place: Place) -> str:
    """A job that the caller has claimed."""
    person = await place.company.join("member", team=place.team)
    draft = {"kind": "x.integrator-demo.lane-report", "input": {"lane": place.canary}}
    id = str((await made(person.post("/api/jobs", draft)))["id"])
    await run_as_owner(
        place.company.house.services.settings.database_url,
        """
        WITH counted AS (UPDATE job_teams SET running = running + 1 WHERE team_id = $3)
        UPDATE jobs SET state = 'running', attempt = 1, claim_token = gen_random_uuid(), lease_until = now() + interval '1 hour',
               worker = (SELECT executor_id FROM worker_credentials WHERE digest = $2) WHERE id = $1
        """,
        UUID(id), digest_of((place.caller.token or "").encode()), place.team.id,
    )  # fmt: skip
    return id


async def the_claims_token(place: Place) -> str | None:
    found = await run_as_owner(
        place.company.house.services.settings.database_url,
        "SELECT claim_token::text FROM jobs WHERE input->>'lane' = $1 AND state = 'running' ORDER BY id DESC LIMIT 1",
        place.canary,
    )
    return found[0][0] if found else None


async def a_heartbeat(place: Place) -> Any:
    return {"claim_token": await the_claims_token(place)}


async def a_report(place: Place) -> Any:
    return {"claim_token": await the_claims_token(place), "result": {"lane": "x", "shipments": 1, "on_time": 1.0}}


async def a_failure(place: Place) -> Any:
    return {"claim_token": await the_claims_token(place), "error": "out of paper"}


async def a_new_executor(place: Place) -> Any:
    return {"name": f"{place.canary} {secrets.token_hex(4)}", "mode": "pull"}


async def two_factor_on(place: Place) -> None:
    await made(place.caller.post("/api/2fa/enable", {}))


def sends(**fields: Any) -> Body:
    async def body(place: Place) -> Any:
        return fields

    return body


async def a_share(place: Place) -> Any:
    colleague = await place.company.join("member", team=place.team)
    return {"user_id": colleague.user_id, "permission": "notes:read"}


async def a_new_member(place: Place) -> Any:
    return {"username": place.canary, "role": "member", "display_name": place.canary}


async def a_viewer(place: Place) -> Any:
    return {"user_id": (await place.company.join("member", team=place.team)).user_id}


async def a_new_key(place: Place) -> Any:
    return {"key": f"moved/{secrets.token_hex(6)}.txt"}


async def a_batch(place: Place) -> Any:
    return {"op": "move", "ids": [await an_object(place)], "to": "moved/"}


async def some_bytes(place: Place) -> Any:
    return b"some bytes"


async def a_new_company(place: Place) -> Any:
    return {"name": place.canary, "owner": {"username": f"o-{secrets.token_hex(6)}"}}


async def a_new_person(place: Place) -> Any:
    return {"username": f"p-{secrets.token_hex(6)}", "display_name": place.canary}


async def an_activation(place: Place) -> Any:
    person, raw = await place.company.join("owner", team=place.team), new_token("activation")
    await run_as_owner(
        place.company.house.services.settings.database_url,
        "INSERT INTO activations (org_id, user_id, digest, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')",
        place.company.org.id, UUID(person.user_id), digest_of(raw.encode()),
    )  # fmt: skip
    return {"token": raw, "password": "a long enough phrase"}


async def a_reset(place: Place) -> Any:
    person, raw = await place.company.join("member", team=place.team), new_token("reset")
    await run_as_owner(
        place.company.house.services.settings.database_url,
        "INSERT INTO password_resets (org_id, user_id, digest, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')",
        place.company.org.id, UUID(person.user_id), digest_of(raw.encode()),
    )  # fmt: skip
    return {"token": raw, "password": "a long enough phrase"}


def a_logo() -> dict[str, str]:
    image = BytesIO()
    Image.new("RGB", (8, 8), "navy").save(image, "PNG")
    return {"data": b64encode(image.getvalue()).decode()}


async def somebodys_credentials(place: Place) -> Any:
    person = await place.company.join("member", team=place.team, password="a long enough phrase")
    return {"username": person.username, "password": "a long enough phrase"}


async def a_first_run(place: Place) -> Any:
    return {"username": f"op-{secrets.token_hex(4)}", "password": "a long enough phrase", "org": "Org", "team": "Team"}


AN_EXPERIENCE = {"fields": [{"name": "email", "type": "email", "label": "E-mail", "required": True}]}
LIMIT = {"dimension": "ai.requests", "limit": 1_000_000, "window": "day"}
MAKERS: dict[str, Maker] = {
    "/assets/*path": a_console_file,
    "/beta/bundle/:plugin": a_plugin_with_pages,
    "/beta/bundle/:plugin/*path": a_style_of_a_plugin,
    "/api/x/:plugin": a_plugin_with_pages,
    "/api/x/:plugin/bundle/*path": a_style_of_a_plugin,
    "/api/notes/:id": a_note,
    "/api/notes/:id/versions/:number": a_first_version,
    "/api/trash/:id": a_deleted_object,
    "/api/tokens/:id": a_token,
    "/api/sessions/:id": a_session,
    "/api/admin/users/:id": a_person_with_two_factor,
    "/api/tools/:name": a_tool,
    "/api/features/:name": a_feature,
    "/api/orgs/:ref": a_company,
    "/api/jobs/:id": a_job,
    "/api/executors/:id": an_executor,
    "/api/workers/jobs/:id": a_held_job,
    "/api/documents/:id": a_document,
    "/api/repo/*key": a_key,
    "/api/repo-obj/:id": an_object,
    "/api/members/:id": a_colleague,
    "/api/org/members/:id": a_colleague,
    "/api/s3/credentials/:id": an_access_key,
    "/api/workflows/:slug": a_workflow,
    "/api/doc-triggers/:id": a_trigger,
    "/api/runs/:id": a_run,
    "/api/kg/entities/:id": an_entity,
    "/api/l10n/messages/:id": a_message,
    "/api/l10n/review/:id": a_message,
    "/api/beta/asset/:id": a_funnel_asset,
    "/api/beta/prospects/:id": a_prospect,
}

EXAMPLES: dict[Key, Example] = {
    ("POST", "/api/bootstrap"): Example(a_first_run),
    ("POST", "/api/login"): Example(somebodys_credentials),
    ("PUT", "/api/i18n"): Example(sends(default_locale="en", switching=True), before=an_instance),
    ("GET", "/api/l10n/coverage"): Example(before=the_catalogs),
    ("GET", "/api/l10n/messages"): Example(query={"locale": "es"}, before=the_catalogs),
    ("POST", "/api/l10n/import"): Example(sends(dry_run=True), before=the_catalogs),
    ("POST", "/api/l10n/export"): Example(sends(locale="es", format="json"), before=the_catalogs),
    ("POST", "/api/l10n/draft"): Example(sends(locale="es"), before=the_catalogs),
    ("POST", "/api/l10n/discard"): Example(sends(locale="es"), before=the_catalogs),
    ("PUT", "/api/l10n/messages/:id"): Example(sends(text="Guardar"), before=the_catalogs),
    ("POST", "/api/l10n/review/:id"): Example(sends(decision="approve"), before=the_catalogs),
    ("PUT", "/api/branding"): Example(sends(title="Ours")),
    ("POST", "/api/branding/logo"): Example(sends(**a_logo())),
    **{
        ("GET", f"/api/beta/{name}"): Example(before=the_first_team)
        for name in ("config", "experience", "assets", "challenge", "prospects")
    },
    ("PUT", "/api/beta/experience"): Example(sends(experience=AN_EXPERIENCE), before=the_first_team),
    ("POST", "/api/beta/experience/publish"): Example(sends(), before=the_first_team),
    ("POST", "/api/beta/assets"): Example(sends(kind="logo", **a_logo()), before=the_first_team),
    ("POST", "/api/beta/signup"): Example(a_sign_up, before=the_first_team),
    ("POST", "/api/beta/prospects/:id/decide"): Example(sends(decision="accept", invite=None)),
    ("POST", "/api/provision"): Example(sends(username="ada", org="Acme")),
    ("POST", "/api/activate"): Example(an_activation),
    ("POST", "/api/instance/quota"): Example(sends(**LIMIT)),
    ("POST", "/api/orgs"): Example(a_new_company),
    ("POST", "/api/orgs/:ref/quota"): Example(sends(**LIMIT)),
    ("PATCH", "/api/orgs/:ref"): Example(sends(name="Renamed", domain=None)),
    ("POST", "/api/org/teams"): Example(sends(name="A team")),
    ("POST", "/api/org/members"): Example(a_new_person),
    ("PATCH", "/api/org/members/:id"): Example(sends(org_role="org_reader")),
    ("PUT", "/api/org/branding"): Example(sends(title="Ours")),
    ("POST", "/api/org/branding/logo"): Example(sends(**a_logo())),
    ("POST", "/api/ai/echo"): Example(sends(prompt="three plain words")),
    ("POST", "/api/ai/chat"): Example(sends(prompt="three plain words")),
    ("POST", "/api/ai/chat/stream"): Example(sends(prompt="three plain words")),
    ("POST", "/api/agent"): Example(sends(prompt="three plain words")),
    ("POST", "/api/translate"): Example(sends(text="three plain words", target="es")),
    ("POST", "/api/translate/catalog"): Example(sends(target="es", messages={"a.b": "Hello {name}"})),
    ("POST", "/api/glossary"): Example(sends(target="es", term="board", translation="tablero")),
    ("POST", "/api/quota"): Example(sends(**LIMIT)),
    ("POST", "/api/jobs"): Example(sends(kind="x.example-tools.word-count", input={"text": "three plain words"})),
    ("POST", "/api/executors"): Example(a_new_executor),
    ("POST", "/api/org/executors"): Example(a_new_executor),
    ("PUT", "/api/model-roles"): Example(sends(roles={"utility": "local"})),
    ("POST", "/api/workers/claim"): Example(sends(kinds=["x.integrator-demo.lane-report"])),
    ("POST", "/api/workers/jobs/:id/heartbeat"): Example(a_heartbeat),
    ("POST", "/api/workers/jobs/:id/complete"): Example(a_report),
    ("POST", "/api/workers/jobs/:id/fail"): Example(a_failure),
    ("POST", "/api/documents"): Example(sends(title="A document")),
    ("PUT", "/api/documents/:id"): Example(sends(body="better")),
    ("PUT", "/api/repo/*key"): Example(some_bytes),
    ("POST", "/api/repo-obj/:id/presign"): Example(sends(), before=an_access_key_of_ones_own),
    ("POST", "/api/repo-obj/:id/share"): Example(a_viewer),
    ("POST", "/api/repo-obj/:id/unshare"): Example(a_viewer),
    ("POST", "/api/repo-obj/:id/move"): Example(a_new_key),
    ("POST", "/api/repo-batch"): Example(a_batch),
    ("POST", "/api/repo-obj/:id/visibility"): Example(sends(visibility="team")),
    ("POST", "/api/2fa/enable"): Example(sends()),
    ("POST", "/api/2fa/recovery-codes"): Example(sends(), before=two_factor_on),
    ("DELETE", "/api/2fa"): Example(sends(), before=two_factor_on),
    ("POST", "/api/password"): Example(sends(new_password="another long enough phrase")),
    ("POST", "/api/profile"): Example(sends(display_name="Somebody")),
    ("POST", "/api/members"): Example(a_new_member),
    ("PATCH", "/api/members/:id"): Example(sends(role="viewer")),
    ("DELETE", "/api/members/:id"): Example(sends()),
    ("POST", "/api/members/:id/reset"): Example(sends()),
    ("POST", "/api/password/reset"): Example(a_reset),
    ("POST", "/api/notes"): Example(sends(title="A note")),
    ("POST", "/mcp"): Example(
        sends(
            jsonrpc="2.0",
            id=1,
            method="tools/call",
            params={"name": "notes_create", "arguments": {"title": "A note", "body": ""}},
        )
    ),
    ("PUT", "/api/notes/:id"): Example(sends(body="better")),
    ("POST", "/api/notes/:id/share"): Example(a_share),
    ("PUT", "/api/notes/:id/versions/:number"): Example(sends(name="Sent")),
    ("POST", "/api/notes/:id/restore"): Example(sends(version=1)),
    ("POST", "/api/trash/:id/restore"): Example(sends()),
    ("POST", "/api/tools/:name"): Example(sends(enabled=True)),
    ("POST", "/api/s3/credentials"): Example(sends(name="A key")),
    ("POST", "/api/tokens"): Example(sends(name="A token")),
    ("POST", "/api/features/:name"): Example(sends(enabled=True)),
    ("POST", "/api/workflows"): Example(a_new_workflow),
    ("POST", "/api/workflows/:slug/run"): Example(sends()),
    ("GET", "/api/search"): Example(query={"q": "three plain words"}),
    ("POST", "/api/doc-triggers"): Example(a_new_trigger),
    ("PATCH", "/api/doc-triggers/:id"): Example(sends(name="Another name")),
    ("GET", "/api/x/example-tools/word-count"): Example(query={"text": "three plain words"}),
    ("POST", "/api/x/example-tools/word-count"): Example(sends(text="three plain words")),
    ("GET", "/api/x/integrator-demo/eta"): Example(query={"lane": "AMS-LIS"}),
    ("POST", "/api/x/integrator-demo/eta"): Example(sends(lane="AMS-LIS")),
}

SPECIMENS = Specimens(MAKERS, EXAMPLES)

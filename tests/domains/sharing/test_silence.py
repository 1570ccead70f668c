"""Inside a team nobody reads along: what runs, jobs, errors, the trail and the log say of private things to those who cannot read them."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.edge.access_log import shown_path
from atrium.ground.audit import service as audit
from atrium.kit.errors import Invalid
from atrium.product.notes import service as notes
from atrium.seams.context import Context
from atrium.seams.tools import Parameter, Tool
from atrium.seams.wiring import Domain
from tests.domains.sharing.leaks import LEAKS, access_lines, refused_by_a_tool_that_waits
from tests.domains.workflows.engine import Engine
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

OBSERVERS: dict[str, dict[str, Any]] = {
    "viewer": {"role": "viewer"},
    "member": {"role": "member"},
    "admin": {"role": "admin"},
    "owner": {"role": "owner"},
    "company's reader": {"role": "viewer", "org_role": "org_reader"},
    "company's owner": {"role": "owner", "org_role": "org_owner"},
    "operator": {"role": "owner", "org_role": "org_owner", "operator": True},
}


async def _refuse(ctx: Context, arguments: dict[str, Any]) -> str:
    raise Invalid(f"cannot go on with {arguments['text']}", errors=[{"path": "/text", "message": arguments["text"]}])


async def _peek(db: Any, who: Any, arguments: dict[str, Any]) -> Any:
    """As a plugin may read: by a statement of its own."""
    rows = await db.rows("SELECT title, body FROM notes WHERE org_id = :org_id", org_id=who.org_id)
    return [list(row) for row in rows]


async def _body(ctx: Context, arguments: dict[str, Any]) -> str:
    """What a note says, without its id."""
    return (await notes.read_note(ctx, UUID(arguments["id"]))).body


async def _count(db: Any, who: Any, arguments: dict[str, Any]) -> int:
    return len(arguments["text"])


ID = (Parameter(name="id", type="string"),)
TEXT = (Parameter(name="text", type="string"),)
PROBES = Domain(
    "probes",
    tools=(
        Tool(name="probe_refuse", description="Refuses.", permission="notes:read", effect="read", act=_refuse, parameters=TEXT),
        Tool(name="probe_body", description="Reads.", permission="notes:read", effect="read", act=_body, parameters=ID),
        Tool(name="probe_peek", description="Peeks.", permission="notes:read", effect="read", run=_peek),
        Tool(name="probe_count", description="Counts.", permission="notes:read", effect="read", run=_count, parameters=TEXT),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
async def silent_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    settings: dict[str, Any] = {"data_dir": tmp_path_factory.mktemp("silence")}
    async with (
        fresh_database() as url,
        open_application(settings_for(url, **settings), domains=(*DOMAINS, PROBES)) as house,
    ):
        yield house


@dataclass(slots=True)
class World:
    """A person with private things, each with a word that is nowhere else."""

    house: Application
    company: Company
    mia: Client
    words: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    async def word(self, of: str) -> str:
        """A word that only whoever can read the thing may ever see."""
        self.words[of] = f"canary{secrets.token_hex(6)}"
        return self.words[of]

    async def furnish(self) -> None:
        note = await self.mia.post(
            "/api/notes", {"title": await self.word("note's title"), "body": await self.word("note's body")}
        )
        self.ids["note"] = note["id"]
        key = f"plans/{await self.word('key')}.txt"
        sent = await self.mia.put(
            f"/api/repo/{key}", (await self.word("file")).encode(), headers={"content-type": "text/plain"}
        )
        self.ids["file"] = sent["id"]
        document = await self.mia.post(
            "/api/documents", {"title": await self.word("document's title"), "body": await self.word("document's body")}
        )
        self.ids["document"] = document["id"]

    async def run(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A run of one step, to its end."""
        slug, publisher = f"flow-{secrets.token_hex(4)}", await self.company.join("admin")
        given = {name: {"$": f"input.{name}"} for name in arguments}
        step = {"name": "only", "kind": "tool", "tool": tool, "with": given}
        inputs = {name: {"type": "string"} for name in arguments}
        spec = {"slug": slug, "start": "only", "max_steps": 10, "steps": [step], "inputs": inputs}
        assert (made := await publisher.post("/api/workflows", spec)).status == 201, made.body
        started = await self.mia.post(f"/api/workflows/{slug}/run", {"input": arguments})
        assert started.status == 202, started.body
        async with Engine(self.house).working():
            return await self.ended(started["id"])

    async def ended(self, id: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (run := await self.mia.get(f"/api/runs/{id}"))["state"] == "running":
                await asyncio.sleep(0.02)
        return dict(run.body)

    async def heard(self, observer: Client) -> list[str]:
        """Which of the words an observer finds anywhere, and where."""
        found = []
        for path in await self._places():
            answer = await observer.get(path)
            found += [f"{of} in {path}" for of, word in self.words.items() if word.encode() in answer.raw.lower()]
        return found

    async def _places(self) -> list[str]:
        runs = [f"/api/runs/{run['id']}" for run in (await self.mia.get("/api/runs", limit=100))["items"]]
        rows = await run_as_owner(
            self.house.services.settings.database_url,
            "SELECT id, kind FROM jobs WHERE org_id = $1",
            self.company.org.id,
        )
        jobs = [f"/api/jobs/{row['id']}" for row in rows]
        kinds = [f"/api/jobs?kind={kind}&limit=100" for kind in {row["kind"] for row in rows}]
        searches = [f"/api/search?q={word}" for word in self.words.values()]
        return [
            "/api/runs?limit=100", *runs, "/api/jobs?limit=100", *kinds, *jobs, "/api/audit?limit=200", "/api/org/audit?limit=200",
            "/api/notes", "/api/repo", "/api/documents", "/api/trash", "/api/kg/entities", "/api/usage", "/api/workflows", *searches,
        ]  # fmt: skip


@pytest.fixture
async def world(silent_house: Application) -> World:
    company = await found_company(silent_house)
    world = World(silent_house, company, await company.join("member"))
    await world.furnish()
    return world


async def nobody_heard(world: World) -> dict[str, list[str]]:
    found = {}
    for name, terms in OBSERVERS.items():
        found[name] = await world.heard(await world.company.join(**terms))
    return {name: heard for name, heard in found.items() if heard}


READS: dict[str, Callable[[World], dict[str, Any]]] = {
    "notes_list": lambda world: {},
    "notes_read": lambda world: {"id": world.ids["note"]},
    "files_list": lambda world: {"prefix": "plans/"},
    "documents_read": lambda world: {"id": world.ids["document"]},
    "doc_text": lambda world: {"object": world.ids["file"]},
    "search": lambda world: {"q": world.words["note's body"]},
    "notes_create": lambda world: {"title": world.words["note's title"], "body": world.words["note's body"]},
    "documents_create": lambda world: {"title": world.words["note's title"], "body": world.words["note's body"]},
    "probe_body": lambda world: {"id": world.ids["note"].upper()},
    "probe_peek": lambda world: {},
    "kg_list_unextracted": lambda world: {},
    "repo_list_unindexed": lambda world: {},
}


@pytest.mark.parametrize("tool", READS)
async def test_g1_what_a_run_read_is_shown_to_those_who_can_read_it(world: World, tool: str) -> None:
    run = await world.run(tool, READS[tool](world))

    assert run["state"] == "succeeded", run
    assert run["redacted"] is False
    assert await nobody_heard(world) == {}


async def test_g1_an_admin_who_can_read_all_of_it_sees_the_values(world: World) -> None:
    admin = await world.company.join("admin")
    shared = await world.mia.post(
        "/api/notes", {"title": "Open", "body": await world.word("shared note"), "visibility": "team"}
    )
    run = await world.run("notes_read", {"id": shared["id"]})

    before = await admin.get(f"/api/runs/{run['id']}")
    assert (await world.mia.put(f"/api/notes/{shared['id']}", {"visibility": "private"})).status == 200
    after = await admin.get(f"/api/runs/{run['id']}")
    assert (await world.mia.delete(f"/api/notes/{shared['id']}")).status in (200, 204)
    gone = await admin.get(f"/api/runs/{run['id']}")

    assert (before["redacted"], before["steps"][0]["output"]["result"]["body"]) == (False, world.words["shared note"])
    assert (after["redacted"], after["steps"][0]["output"], gone["redacted"]) == (True, None, True)


async def test_g1_a_tool_that_asks_nothing_of_the_database_hides_nothing(world: World) -> None:
    run = await world.run("probe_count", {"text": "four"})

    assert (await (await world.company.join("admin")).get(f"/api/runs/{run['id']}"))["redacted"] is False


async def test_g1_a_token_needs_the_scope_of_everything_that_was_read(world: World) -> None:
    world.mia = await world.company.join("admin")
    await world.furnish()
    run = await world.run("probe_body", {"id": world.ids["note"]})

    async def seen(*scope: str) -> bool:
        issued = await world.mia.post("/api/tokens", {"name": "t", "scope": list(scope)})
        assert issued.status == 201, issued.body
        return not (await Client(world.house.app, issued["token"]).get(f"/api/runs/{run['id']}"))["redacted"]

    assert await seen("workflows:read", "notes:read")
    assert not await seen("workflows:read", "files:read")


async def test_g2_a_failure_tells_its_code_to_all_and_its_words_to_those_who_see_the_values(world: World) -> None:
    text = " ".join([world.ids["note"], world.words["note's body"]])
    run = await world.run("probe_refuse", {"text": text})

    assert (run["state"], run["error"]["code"], run["error"]["redacted"]) == ("failed", "request.invalid", False)
    assert world.words["note's body"] in run["error"]["message"]
    assert await nobody_heard(world) == {}
    viewer = await world.company.join("viewer")
    shown = await viewer.get(f"/api/runs/{run['id']}")
    [listed] = [one for one in (await viewer.get("/api/runs"))["items"] if one["id"] == run["id"]]
    expected = {"code": "request.invalid", "title": "The request is not valid", "message": "The request is not valid"}
    for error in (
        shown["error"],
        listed["error"],
        shown["steps"][0]["error"],
        shown["steps"][0]["attempts"][0]["error"],
    ):
        assert {name: error[name] for name in expected} == expected
        assert error["redacted"] is True


async def test_g2_a_job_tells_its_words_to_its_owner_and_admins(world: World) -> None:
    queued = await world.mia.post(
        "/api/jobs", {"kind": "ai.turn", "input": {"messages": [{"role": "user", "content": "x"}]}}
    )
    assert queued.status == 201, queued.body
    await run_as_owner(
        world.house.services.settings.database_url,
        "UPDATE jobs SET state = 'failed', error = $2, finished_at = now() WHERE id = $1",
        UUID(queued["id"]),
        f"the reply said {await world.word('reply')}",
    )

    owners = await world.mia.get(f"/api/jobs/{queued['id']}")
    viewers = await (await world.company.join("viewer")).get(f"/api/jobs/{queued['id']}")

    assert world.words["reply"] in owners["error"]["message"]
    expected = {"code": "jobs.failed", "title": "The job failed", "message": "The job failed", "redacted": True}
    assert viewers["error"] == expected


async def test_p1_the_trail_names_things_by_id_and_tells_names_to_those_who_can_read_them(world: World) -> None:
    await world.mia.delete(f"/api/notes/{world.ids['note']}")
    await world.mia.delete(f"/api/repo-obj/{world.ids['file']}")
    moved = await world.mia.post(
        f"/api/repo-obj/{world.ids['document']}/move", {"key": f"plans/{await world.word('new key')}.md"}
    )

    assert moved.status == 200, moved.body
    assert await nobody_heard(world) == {}
    rows = await run_as_owner(
        world.house.services.settings.database_url,
        "SELECT facts::text FROM audit_events WHERE org_id = $1",
        world.company.org.id,
    )
    assert [row[0] for row in rows if any(word in row[0] for word in world.words.values())] == []


async def test_p1_what_the_trail_said_before_is_left_out_for_all_but_the_owner(world: World) -> None:
    url, org, admin = (
        world.house.services.settings.database_url,
        world.company.org.id,
        await world.company.join("admin"),
    )
    mias = await world.company.join("admin")
    hers = await mias.post("/api/notes", {"title": await world.word("admin's own"), "body": ""})
    for id, word in ((world.ids["note"], "note's title"), (hers["id"], "admin's own")):
        await run_as_owner(
            url,
            "INSERT INTO audit_events (org_id, id, team_id, actor_id, kind, subject, facts)"
            " VALUES ($1, gen_random_uuid(), $2, $3, 'notes.deleted', $4, jsonb_build_object('title', $5::text))",
            org,
            world.company.team.id,
            UUID(world.mia.user_id),
            id,
            world.words[word],
        )

    seen = (await admin.get("/api/audit", limit=200)).raw.decode()
    own = (await mias.get("/api/audit", limit=200)).raw.decode()
    shareables = world.house.services.registry.shareables.values()
    exported = [
        event async for event in audit.export(world.house.services.database, world.company.org.slug, list(shareables))
    ]

    assert world.words["note's title"] not in seen + own
    assert world.words["admin's own"] in own
    assert world.words["admin's own"] not in seen
    assert [event for event in exported if "title" in event.facts] == []
    assert any(event.redacted for event in exported)


async def test_p1_a_conversations_key_says_nothing_of_its_question(world: World) -> None:
    asked = await world.mia.post("/api/ai/chat", {"prompt": await world.word("question"), "conversation": "new"})

    assert asked.status == 200, asked.body
    [kept] = (await world.mia.get("/api/repo", prefix="chats/"))["items"]
    assert kept["key"] == f"chats/{kept['key'][6:42]}.json"
    assert kept["version"]["metadata"]["title"] == world.words["question"]
    assert await nobody_heard(world) == {}


def test_p1_the_log_names_the_row_and_its_ids_and_no_key() -> None:
    id = "01a1ee0f-1217-712d-b68c-4bda69fbe5eb"

    assert shown_path("/api/notes/:id", f"/api/notes/{id}") == f"/api/notes/{id}"
    assert shown_path("/api/repo/*key", "/api/repo/plans/secret.txt") == "/api/repo/*key"
    assert shown_path("/api/kg/entities/:id", "/api/kg/entities/secret") == "/api/kg/entities/:id"
    assert shown_path("/api/s3/:name/:id", f"/api/s3/secret/{id}") == f"/api/s3/:name/{id}"
    assert shown_path("none", "/secret") == "none"


async def test_p1_the_log_of_a_request_holds_no_word_of_it(world: World, tmp_path: Path) -> None:
    lines = await access_lines(world, tmp_path)

    assert len(lines) == 4
    assert world.words["logged key"] not in str(lines)
    assert {line["path"] for line in lines} >= {"/api/repo", "none"}


async def test_g6_a_refusal_of_a_tool_that_waits_for_a_model_taints(world: World) -> None:
    ended = await refused_by_a_tool_that_waits(world)

    assert (ended.status, ended.taints) == ("error", True)
    assert world.house.services.registry.tools["kg_extract"].untrusted


@pytest.mark.parametrize("name", LEAKS)
async def test_a_leak_that_is_put_back_is_heard(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    leak = LEAKS[name]
    leak.put_back(monkeypatch)
    await leak.happens(world)

    assert await (leak.heard(world, tmp_path) if leak.heard else nobody_heard(world))


@pytest.mark.parametrize("name", [name for name, leak in LEAKS.items() if leak.heard or name.startswith("P1")])
async def test_with_its_repair_the_same_is_not_heard(world: World, name: str, tmp_path: Path) -> None:
    leak = LEAKS[name]
    await leak.happens(world)

    assert not await (leak.heard(world, tmp_path) if leak.heard else nobody_heard(world))

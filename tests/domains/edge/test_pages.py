"""No listing sends more than a page may hold, whatever people wrote into what it lists, and its pages leave nothing out."""

import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec import inspect

from atrium.boot.assemble import Application
from atrium.edge.endpoint import Endpoint
from atrium.kit.ids import new_id
from atrium.kit.web.pages import MOST_TEXT, count_fitting
from atrium.seams.routes import Content, Download, EventStream
from tests.domains.search import graph
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.table.rows import ENDPOINTS, name_of, speaks_ours
from tests.table.specimens import Place, a_message, the_first_team

pytestmark = pytest.mark.finding

# Of bytes, beside the last thing on it.
MOST_SENT = 4 << 20
# What JSON makes six bytes of.
ESCAPED = "\x01"


@dataclass(slots=True)
class Shelf:
    """A company, and its owner who may see every listing of it."""

    house: Application
    company: Company
    owner: Client

    async def sql(self, text: str, *values: object) -> list[Any]:
        return await run_as_owner(self.house.services.settings.database_url, text, *values)

    async def copy(self, table: str, column: str, value: object, count: int, **changed: str) -> None:
        """So many copies of a row, each with these columns by the number `n` of the copy."""
        stored = (
            "SELECT attname FROM pg_attribute"
            " WHERE attrelid = $1::text::regclass AND attnum > 0 AND attgenerated = '' AND NOT attisdropped"
        )
        columns = [str(found["attname"]) for found in await self.sql(stored, table)]
        values = ", ".join(changed.get(name, f't."{name}"') for name in columns)
        names = ", ".join(f'"{name}"' for name in columns)
        await self.sql(
            f"INSERT INTO {table} ({names}) SELECT {values}"
            f" FROM {table} AS t, generate_series(1, $2::int) AS n WHERE t.{column} = $1",
            value, count,
        )  # fmt: skip

    def place(self) -> Place:
        return Place(self.company, self.company.team, self.owner)


Copies = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Listed:
    """Where the thing is listed, and how to have many of it, where a page does not hold 200."""

    path: str
    copies: Copies | None = None
    query: str = ""


Fill = Callable[[Shelf], Awaitable[Listed]]


def done(answer: Answer) -> Answer:
    assert answer.status < 300, answer.raw[:500]
    return answer


async def notes(shelf: Shelf) -> Listed:
    body = {"title": ESCAPED * 300, "body": ESCAPED * 165_000}
    id = UUID(done(await shelf.owner.post("/api/notes", body))["id"])
    return Listed("/api/notes", lambda count: shelf.copy("notes", "id", id, count, id="gen_random_uuid()"))


async def versions_of_a_note(shelf: Shelf) -> Listed:
    id = done(await shelf.owner.post("/api/notes", {"title": ESCAPED * 300}))["id"]
    done(await shelf.owner.put(f"/api/notes/{id}/versions/1", {"name": ESCAPED * 100}))
    return Listed(f"/api/notes/{id}/versions")


async def shares_of_a_note(shelf: Shelf) -> Listed:
    id = done(await shelf.owner.post("/api/notes", {"title": "x"}))["id"]
    body = {"user_id": (await colleague(shelf)).user_id, "permission": "notes:read"}
    done(await shelf.owner.post(f"/api/notes/{id}/share", body))
    return Listed(f"/api/notes/{id}/shares")


async def colleague(shelf: Shelf) -> Client:
    """A person with the longest name."""
    person = await shelf.company.join("member")
    done(await person.post("/api/profile", {"display_name": "語" * 200}))
    return person


async def documents(shelf: Shelf) -> Listed:
    done(await shelf.owner.post("/api/documents", {"title": "語" * 300}))
    return Listed("/api/documents")


async def objects(shelf: Shelf) -> Listed:
    await an_object(shelf)
    return Listed("/api/repo")


async def an_object(shelf: Shelf) -> str:
    """With the longest key, name, type and metadata."""
    sent = await shelf.owner.send(
        "PUT", f"/api/repo/{new_id()}{'k' * 980}", b"x", query={"filename": "f" * 255},
        headers={"content-type": "text/" + "p" * 250},
    )  # fmt: skip
    metadata = json.dumps({"m": '"' * 2_000})
    await shelf.sql(
        "UPDATE object_versions SET metadata = $2::text::jsonb WHERE object_id = $1", UUID(done(sent)["id"]), metadata
    )
    return str(sent["id"])


async def grants(shelf: Shelf) -> Listed:
    id = await an_object(shelf)
    done(await shelf.owner.post(f"/api/repo-obj/{id}/share", {"user_id": (await colleague(shelf)).user_id}))
    return Listed(f"/api/repo-obj/{id}/grants")


async def trash(shelf: Shelf) -> Listed:
    id = done(await shelf.owner.post("/api/notes", {"title": ESCAPED * 300}))["id"]
    done(await shelf.owner.delete(f"/api/notes/{id}"))
    done(await shelf.owner.delete(f"/api/repo-obj/{await an_object(shelf)}"))
    return Listed("/api/trash")


async def translations(shelf: Shelf) -> Listed:
    """Whose report is longer than its text: every block stayed as it was."""
    made = done(await shelf.owner.post("/api/translate", {"text": "Monday", "target": "es"}))
    report = made["report"] | {
        "kept": [{"block": number, "reason": "model", "excerpt": "語" * 60} for number in range(4_000)]
    }
    id = UUID(made["id"])
    await shelf.sql("UPDATE translations SET report = $2::text::jsonb WHERE id = $1", id, json.dumps(report))
    return Listed("/api/translate", lambda count: shelf.copy("translations", "id", id, count, id="gen_random_uuid()"))


async def glossary(shelf: Shelf) -> Listed:
    term = {"target": "es", "term": ESCAPED * 199 + "x", "translation": ESCAPED * 199 + "x", "note": ESCAPED * 500}
    done(await shelf.owner.post("/api/glossary", term))
    return Listed("/api/glossary")


async def jobs(shelf: Shelf) -> Listed:
    body = {"kind": "x.example-tools.word-count", "input": {"text": "words"}}
    id = UUID(done(await shelf.owner.post("/api/jobs", body))["id"])
    sql = "UPDATE jobs SET state = 'failed', finished_at = now(), error = repeat(chr(1), 4000) WHERE id = $1"
    await shelf.sql(sql, id)
    return Listed("/api/jobs", lambda count: shelf.copy("jobs", "id", id, count, id="gen_random_uuid()"))


def a_spec(slug: str) -> dict[str, Any]:
    step = {"name": "count", "kind": "tool", "tool": "word_count", "with": {"text": {"$": "input.i0"}}}
    inputs = {f"i{n}": {"type": "string", "description": ESCAPED * 500, "optional": n > 0} for n in range(32)}
    return {
        "slug": slug, "title": "語" * 120, "description": ESCAPED * 2_000, "start": "count", "max_steps": 1, "steps": [step],
        "inputs": inputs,
    }  # fmt: skip


async def workflows(shelf: Shelf) -> Listed:
    done(await shelf.owner.post("/api/workflows", a_spec("longest")))

    async def copies(count: int) -> None:
        for table in ("workflows", "workflow_versions"):
            await shelf.copy(table, "slug", "longest", count, slug="'longest-' || n")

    return Listed("/api/workflows", copies)


async def runs(shelf: Shelf) -> Listed:
    done(await shelf.owner.post("/api/workflows", a_spec("runs")))
    id = UUID(done(await shelf.owner.post("/api/workflows/runs/run", {"input": {"i0": "x"}}))["id"])
    await shelf.sql(
        "UPDATE runs SET state = 'failed', finished_at = now(), error = jsonb_build_object('code', 'tool.failed', 'message',"
        " repeat(chr(1), 2000)) WHERE id = $1", id,
    )  # fmt: skip
    return Listed("/api/runs")


async def a_trigger(shelf: Shelf) -> UUID:
    done(await shelf.owner.post("/api/workflows", a_spec("fired")))
    body = {
        "workflow_slug": "fired", "name": "語" * 120, "match_prefix": "p" * 1024, "input": {"i0": ESCAPED * 10_000},
        "match_types": [f"text/{'t' * 240}{number:03}" for number in range(100)],
    }  # fmt: skip
    return UUID(done(await shelf.owner.post("/api/doc-triggers", body))["id"])


async def triggers(shelf: Shelf) -> Listed:
    id = await a_trigger(shelf)
    return Listed(
        "/api/doc-triggers", lambda count: shelf.copy("doc_triggers", "id", id, count, id="gen_random_uuid()")
    )


async def events(shelf: Shelf) -> Listed:
    await a_trigger(shelf)
    return Listed("/api/audit")


async def companys_events(shelf: Shelf) -> Listed:
    await a_trigger(shelf)
    return Listed("/api/org/audit")


async def prospects(shelf: Shelf) -> Listed:
    await the_first_team(shelf.place())
    id, fields = new_id(), json.dumps({"email": "ada@example.com"} | {f"f{n}": "語" * 5_000 for n in range(10)})
    await shelf.sql(
        "INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate)"
        " VALUES ($1, $2, $3, 1, $4::text::jsonb, 'ada', 'en', '[]', 'pass')",
        id, shelf.company.org.id, id.bytes, fields,
    )  # fmt: skip
    return Listed(
        "/api/beta/prospects",
        lambda count: shelf.copy(
            "prospects", "id", id, count, id="gen_random_uuid()", address="decode(md5(n::text), 'hex')"
        ),
    )


async def messages(shelf: Shelf) -> Listed:
    id = UUID(await a_message(shelf.place()))
    await shelf.sql(
        "UPDATE l10n_messages SET source = repeat(chr(1), 20000), text = repeat(chr(1), 20000), pending_text = repeat(chr(1), 20000),"
        " about = repeat(chr(1), 2000) WHERE id = $1", id,
    )  # fmt: skip
    return Listed(
        "/api/l10n/messages",
        lambda count: shelf.copy("l10n_messages", "id", id, count, id="gen_random_uuid()", key="t.key || '.' || n"),
        query="locale=es",
    )


async def entities(shelf: Shelf) -> Listed:
    await an_entity(shelf)
    return Listed("/api/kg/entities")


async def an_entity(shelf: Shelf) -> str:
    """With more spellings than are shown, each as long as a name may be."""
    name = "n" * 120
    spellings = [name[:at] + "N" + name[at + 1 :] for at in range(40)]
    ids = await graph.say(shelf.house, shelf.owner, await an_object(shelf), *spellings)
    return ids[0]


async def an_entitys_page(shelf: Shelf) -> Listed:
    return Listed(f"/api/kg/entities/{await an_entity(shelf)}")


async def found(shelf: Shelf) -> Listed:
    done(await shelf.owner.post("/api/notes", {"title": f"anchor {'語' * 290}", "body": f"anchor {'語' * 5_000}"}))
    return Listed("/api/search", query="q=anchor")


async def members(shelf: Shelf) -> Listed:
    await colleague(shelf)
    return Listed("/api/members")


async def tokens(shelf: Shelf) -> Listed:
    done(await shelf.owner.post("/api/tokens", {"name": ESCAPED * 200, "scope": ["notes:read"]}))
    return Listed("/api/tokens")


async def sessions(shelf: Shelf) -> Listed:
    done(await shelf.owner.get("/api/whoami", headers={"user-agent": "a" * 5_000}))
    return Listed("/api/sessions")


LISTINGS: dict[str, Fill] = {
    "GET /api/notes": notes,
    "GET /api/notes/:id/versions": versions_of_a_note,
    "GET /api/notes/:id/shares": shares_of_a_note,
    "GET /api/documents": documents,
    "GET /api/repo": objects,
    "GET /api/repo-obj/:id/grants": grants,
    "GET /api/trash": trash,
    "GET /api/translate": translations,
    "GET /api/glossary": glossary,
    "GET /api/jobs": jobs,
    "GET /api/workflows": workflows,
    "GET /api/runs": runs,
    "GET /api/doc-triggers": triggers,
    "GET /api/audit": events,
    "GET /api/org/audit": companys_events,
    "GET /api/beta/prospects": prospects,
    "GET /api/l10n/messages": messages,
    "GET /api/kg/entities": entities,
    "GET /api/kg/entities/:id": an_entitys_page,
    "GET /api/search": found,
    "GET /api/members": members,
    "GET /api/tokens": tokens,
    "GET /api/sessions": sessions,
}
# Rows that list something, and why they need no bound of bytes: what is listed is the instance's own, or short and few.
INSTANCE = "what an operator installed or configured"
SHORT_ROWS = "names, numbers and states of at most some hundred bytes each"
SHORT: dict[str, str] = {
    "GET /api/l10n/coverage": INSTANCE,
    "GET /api/beta/config": INSTANCE,
    "GET /api/beta/experience": INSTANCE,
    "GET /api/beta/assets": SHORT_ROWS,
    "GET /api/admin/status": INSTANCE,
    "GET /api/executors": INSTANCE,
    "GET /api/tools": INSTANCE,
    "GET /api/features": INSTANCE,
    "GET /api/plugins": INSTANCE,
    "GET /api/mcp": INSTANCE,
    "GET /api/oop": INSTANCE,
    "GET /api/orgs": SHORT_ROWS,
    "GET /api/orgs/:ref": "the first 200 teams by name",
    "GET /api/org": "the first 200 teams by name",
    "GET /api/org/teams": SHORT_ROWS,
    "GET /api/changes": SHORT_ROWS,
    "GET /api/usage": SHORT_ROWS,
    "GET /api/repo-obj/:id": "at most 200 versions and 20,000 characters of text",
    "GET /api/repo-obj/:id/derivations": "at most 500 short rows",
    "GET /api/repo-obj/:id/processing": "at most 500 short rows of each kind",
    "GET /api/share-targets": "at most 1,000 people and 1,000 teams by name",
    "GET /api/s3/credentials": "a person's at most 50 key pairs",
    "GET /api/workflows/:slug": "one spec, and the numbers of at most 200 versions",
    "GET /api/runs/:id": "values as long as they fit; tests/domains/workflows/test_sizes.py",
}


def listings() -> Iterator[Endpoint]:
    """Every GET row whose reply has a list of structures."""
    for endpoint in ENDPOINTS:
        ours = endpoint.route.method == "GET" and speaks_ours(endpoint)
        if ours and endpoint.reply not in (Content, Download, EventStream) and _lists(endpoint.reply):
            yield endpoint


def _lists(reply: Any) -> bool:
    return any(_has_list(one) for one in _alternatives(inspect.type_info(reply)))


def _has_list(type: inspect.Type) -> bool:
    return isinstance(type, inspect.StructType) and any(
        isinstance(inner, inspect.ListType) and isinstance(inner.item_type, inspect.StructType)
        for field in type.fields
        for inner in _alternatives(field.type)
    )


def _alternatives(type: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(type, inspect.Metadata):
        yield from _alternatives(type.type)
    elif isinstance(type, inspect.UnionType):
        for one in type.types:
            yield from _alternatives(one)
    else:
        yield type


@pytest.fixture(scope="module")
async def listing_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    folder = tmp_path_factory.mktemp("pages")
    async with fresh_database() as url, open_application(settings_for(url, data_dir=folder)) as house:
        yield house


@pytest.fixture
async def shelf(listing_house: Application) -> Shelf:
    company = await found_company(listing_house)
    return Shelf(listing_house, company, await company.join("owner", org_role="org_owner", operator=True))


def test_every_row_that_lists_is_in_the_table_of_long_texts() -> None:
    assert sorted(map(name_of, listings())) == sorted({*LISTINGS, *SHORT})


@pytest.mark.parametrize("row", LISTINGS)
async def test_g9_a_page_of_the_longest_things_is_bounded_in_bytes_that_are_sent(shelf: Shelf, row: str) -> None:
    [endpoint] = [one for one in listings() if name_of(one) == row]
    listed = await LISTINGS[row](shelf)
    most = 50 if row == "GET /api/search" else 200
    first = await page_of(shelf, endpoint, listed, most)
    items = items_of(first)
    item = max(len(msgspec.json.encode(one)) for one in items)
    copies = 0
    if item * most > MOST_SENT:
        assert listed.copies is not None, f"{item} bytes each"
        copies = math.ceil(3 * MOST_SENT / item)
        await listed.copies(copies)

    seen, cursor = list[str](), None
    while True:
        page = await page_of(shelf, endpoint, listed, most, cursor)
        assert len(page.raw) <= MOST_SENT + item
        seen += [str(one.get("id") or one.get("slug") or number) for number, one in enumerate(items_of(page))]
        cursor = page.body.get("next_cursor")
        if cursor is None:
            break

    # What does not fit on one page is on the next one.
    assert len(seen) == len(items) + copies
    assert not copies or len(set(seen)) == len(seen)


async def page_of(shelf: Shelf, endpoint: Endpoint, listed: Listed, most: int, cursor: str | None = None) -> Answer:
    query = dict(pair.split("=") for pair in listed.query.split("&") if pair)
    query |= {"limit": str(most)} if "limit" in endpoint.query else {}
    query |= {"cursor": cursor} if cursor else {}
    return done(await shelf.owner.send("GET", listed.path, query=dict(query)))


def items_of(page: Answer) -> list[dict[str, Any]]:
    """The things on a page, of an entity its mentions."""
    body = page.body
    items: list[dict[str, Any]] = body["items"] if "items" in body else body["mentions"]["items"]
    assert items
    return items


@pytest.mark.parametrize("letter", ["a", "é", "語", "🌍", '"', "\x01"])
def test_g9_what_fits_is_counted_as_it_is_sent(letter: str) -> None:
    texts = [letter * 100_000] * 40

    sent = [len(msgspec.json.encode(text)) for text in texts[: count_fitting(texts)]]

    assert sum(sent[:-1]) < MOST_TEXT
    assert sum(sent) >= MOST_TEXT or len(sent) == len(texts)

"""What one may not read changes nothing of what one finds: neither hits nor order, scores, snippets or cursors."""

import os
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.search import chores, verification
from tests.client import Client
from tests.people import Company
from tests.postgres import run_as_owner
from tests.search.world import WORDS, World, done, make_world

WORLDS = 200 if os.environ.get("ATRIUM_FULL") else 3
QUERIES = (
    *WORDS[:3],
    "lantern quiche",
    "lantern or wyvern",
    "-quiche bobsled",
    "lantrn",
    '"bobsled lantern"',
    "m",
    "wy bobsled",
)


async def answers(person: Client, **more: Any) -> list[Any]:
    """Two pages of each question, without how long they took."""
    seen = []
    for q in QUERIES:
        first = done(await person.get("/api/search", q=q, limit=3, **more)).body
        cursor = first["next_cursor"]
        second = done(await person.get("/api/search", q=q, limit=3, cursor=cursor, **more)).body if cursor else {}
        for page in (first, second):
            page.pop("took_ms", None)
        seen.append((q, first, second))
    return seen


async def hide(world: World, person: Client, *, wide: bool) -> None:
    """Take out of the index whatever this person cannot read, as if it had never been written."""
    hidden = [thing.id for thing in world.things if not thing.readable_by(person, wide=wide)]
    url = world.house.services.settings.database_url
    await run_as_owner(url, "DELETE FROM search_rows WHERE org_id = $2 AND id = ANY($1)", hidden, world.company.org.id)


@pytest.mark.parametrize("seed", range(WORLDS))
async def test_what_one_cannot_read_does_not_exist(house: Application, seed: int) -> None:
    world = await make_world(house, seed)
    for _ in range(40):
        await world.step()

    for person, wide in [*product(world.people, [False]), (world.reader, True)]:
        more = {"scope": "org"} if wide else {}
        before = await answers(person, **more)
        await hide(world, person, wide=wide)
        assert await answers(person, **more) == before
        await verification.rebuild(house.services.database, world.company.org.id)


async def test_another_company_finds_nothing(company: Company, alice: Client, stranger: Client) -> None:
    done(await alice.post("/api/notes", {"title": "Zeppelin", "body": "", "visibility": "team"}))

    for scope in ("team", "org"):
        assert done(await stranger.get("/api/search", q="zeppelin", scope=scope))["items"] == []


async def test_the_function_answers_for_the_company_of_the_transaction_alone(
    house: Application, alice: Client, stranger: Client
) -> None:
    done(await alice.post("/api/notes", {"title": "Zeppelin", "body": "", "visibility": "team"}))
    ask = f"""
      SELECT count(*) FROM search_candidates('{alice.org_id}', '{alice.user_id}', '{alice.team_id}', ARRAY['{alice.user_id}']::uuid[], true,
        true, true, ARRAY['note'], '', 'words', 'zeppelin', 'zeppelin', ARRAY['zeppelin'], '', ARRAY[]::text[], 10)
    """

    counts = []
    for company in (alice, stranger):
        async with house.services.database.begin(UUID(company.org_id)) as db:
            counts.append(await db.value(ask))

    assert counts == [1, 0]


def test_rarities_are_powers_of_two() -> None:
    assert [chores.rarity_of(rows, 8_000) for rows in (8_000, 4_000, 3_999, 2_000, 8)] == [0, 1, 1, 2, 9]


async def test_few_rows_leave_no_statistics(house: Application, alice: Client) -> None:
    done(await alice.post("/api/notes", {"title": str(new_id()), "body": "", "visibility": "private"}))

    assert await chores.count_words(house.services) == 0

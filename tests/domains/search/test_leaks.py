"""What one may not read changes nothing of what one finds: neither hits nor order, scores, snippets or cursors."""

import math
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.search import chores, index_check
from tests.domains.search import graph
from tests.domains.search.world import WORDS, World, done, frequent_words, make_world
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import left_to_tests, open_application, settings_for
from tests.support.sizes import FULL

pytestmark = pytest.mark.timeout(7200)
FEW = 3
WORLDS = int(os.environ.get("ATRIUM_WORLDS") or (2000 if FULL else FEW))
MANY_ONLY = pytest.mark.skipif(WORLDS <= FEW, reason="ATRIUM_FULL=1 makes 2,000 worlds, ATRIUM_WORLDS so many")
SAMPLES = 10_000 if FULL else 200
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


async def hide(world: World, person: Client, *, wide: bool) -> dict[str, str]:
    """Take out of the index and the graph whatever this person cannot read, as if it had never been written; the graph as it was."""
    hidden = [thing.id for thing in world.things if not thing.readable_by(person, wide=wide)]
    url = world.house.services.settings.database_url
    await run_as_owner(url, "DELETE FROM search_rows WHERE org_id = $2 AND id = ANY($1)", hidden, world.company.org.id)
    return await graph.take_out(world.house, world.company.org.id, hidden)


@pytest.mark.parametrize(
    "seeds",
    [
        *([seed] for seed in range(FEW)),
        pytest.param(range(FEW, WORLDS), marks=[pytest.mark.proof, MANY_ONLY], id="many"),
    ],
)
async def test_what_one_cannot_read_does_not_exist(house: Application, seeds: Sequence[int]) -> None:
    for seed in seeds:
        await assert_the_unreadable_does_not_exist(house, seed)
    print(f"{len(seeds)} worlds, {len(QUERIES)} questions of each of their readers")


async def assert_the_unreadable_does_not_exist(house: Application, seed: int) -> None:
    world = await make_world(house, seed)
    for _ in range(40):
        await world.step()
    for _ in range(8):
        await world.mention()
    for _ in range(3):
        await world.merge()

    # In every other world words are looked for from the newest row on, as in a large instance.
    async with frequent_words(house) if seed % 2 else nullcontext():
        for person, wide in [*product(world.people, [False]), (world.reader, True)]:
            more = {"scope": "org"} if wide else {}
            before = await answers(person, **more)
            kept = await hide(world, person, wide=wide)
            assert await answers(person, **more) == before
            await graph.put_back(house, world.company.org.id, kept)
            await index_check.rebuild(house.services.database, house.services.compute, world.company.org.id)


async def test_generated_worlds_have_entities_that_some_find_and_others_do_not(house: Application) -> None:
    world = await make_world(house, 0)
    for _ in range(40):
        await world.step()
    for _ in range(8):
        await world.mention()

    kinds = [{hit["id"] for _, *pages in await answers(one) for page in pages for hit in page.get("items", ())
              if hit["kind"] == "entity"} for one in world.people]  # fmt: skip

    assert any(kinds)
    assert len({frozenset(found) for found in kinds}) > 1


async def two_diaries(company: Company) -> Client:
    """Somebody beside whom another writes words that only that one can read."""
    owner, reader = await company.join("member"), await company.join("member")
    for number in range(20):
        body = {"title": f"Diary {number}", "body": "zirconium", "visibility": "private"}
        done(await owner.post("/api/notes", body))
        done(await reader.post("/api/notes", body | {"body": "argon"}))
    return reader


async def test_a_word_that_only_others_can_read_is_answered_like_none(company: Company) -> None:
    reader = await two_diaries(company)

    pages = [done(await reader.get("/api/search", q=word)).body for word in ("zirconium", "xenophanes")]

    assert [page["items"] for page in pages] == [[], []]
    assert (
        len({tuple(sorted((name, str(value)) for name, value in page.items() if name != "took_ms")) for page in pages})
        == 1
    )


@pytest.mark.proof
async def test_a_word_that_only_others_can_read_takes_as_long_as_none(company: Company) -> None:
    reader = await two_diaries(company)
    times: dict[str, list[float]] = {"zirconium": [], "xenophanes": []}
    for number in range(SAMPLES + 20):
        for word in sorted(times, reverse=bool(number % 2)):
            began = time.perf_counter()
            assert done(await reader.get("/api/search", q=word))["items"] == []
            if number >= 20:
                times[word].append(time.perf_counter() - began)

    apart = told_apart(*times.values())
    print(f"{SAMPLES} samples each, {apart:.2f} standard deviations apart")
    assert abs(apart) < 4


def told_apart(ours: list[float], others: list[float]) -> float:
    """By how many standard deviations the ranks of two samples differ from what chance makes of them (Mann and Whitney)."""
    ranked = sorted([(one, True) for one in ours] + [(one, False) for one in others])
    ranks = sum(at for at, (_, own) in enumerate(ranked, 1) if own)
    size, other = len(ours), len(others)
    expected, deviation = size * (size + other + 1) / 2, math.sqrt(size * other * (size + other + 1) / 12)
    return (ranks - expected) / deviation


def test_a_difference_of_time_would_be_seen() -> None:
    dice = Random(3)
    base = [dice.gauss(5, 1) for _ in range(SAMPLES)]

    assert abs(told_apart(base, [dice.gauss(5, 1) for _ in range(SAMPLES)])) < 4
    assert abs(told_apart(base, [dice.gauss(5.5, 1) for _ in range(SAMPLES)])) > 4


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
        true, true, ARRAY['note'], '', 'words', 'zeppelin', 'zeppelin', 'zeppelin', ARRAY['zeppelin']::tsquery[], NULL,
        ARRAY['zeppelin'], '', ARRAY[]::text[], ARRAY[]::text[], true, 10, 10) WHERE id IS NOT NULL
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


# Rows that only one person reads, made straight in the index, each with one word.
_ROWS = """
  INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, visibility, edition, lexemes, triples, readers, title_words, head_words,
                           text_words, updated_at)
  SELECT $1, gen_random_uuid(), 'note', $2, $3::uuid, 'private', 'x', to_tsvector('simple', $4), '{}', ARRAY[$3::uuid], 1, 1, 1, now()
    FROM generate_series(1, $5::int)
"""


async def test_five_private_rows_leave_the_statistics_of_a_large_instance_as_they_were(tmp_path: Path) -> None:
    """A word counts from one of a thousand rows on; what fewer have is in no statistics, whoever has them."""
    domains = left_to_tests("search.count_words")
    async with (
        fresh_database() as url,
        open_application(settings_for(url, data_dir=tmp_path), domains=domains) as house,
    ):
        company = await found_company(house)
        owner = UUID((await company.join("member")).user_id)

        async def words_after(word: str, rows: int) -> dict[str, int]:
            await run_as_owner(url, _ROWS, company.org.id, company.team.id, owner, word, rows)
            await chores.count_words(house.services)
            return {
                row["word"]: row["rarity"] for row in await run_as_owner(url, "SELECT word, rarity FROM search_words")
            }

        before = await words_after("harbour", 6_000)
        with_five = await words_after("zirconium", 5)
        with_seven = await words_after("zirconium", 2)

    assert before == with_five == {"": 0, "harbour": 0}
    assert "zirconium" in with_seven

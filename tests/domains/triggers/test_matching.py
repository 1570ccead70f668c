"""Which triggers a version matches: bytes of its key and its type, at a cost that others do not raise."""

import json
import random
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import APP_ROLE
from atrium.product.triggers.fire_rows import types_of
from tests.domains.triggers.flows import arm, done, history, publish, upload
from tests.support.client import Client
from tests.support.people import Company
from tests.support.processes import rounds

LETTERS = ["a", "b", "/", "é", "\u00e0", "z", "\U0010ffff", "\ud7ff", "\ue000", "%", "_", "\\"]
INSERT = """
  INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled)
  SELECT id, $1, $2, '', 'x', prefix, '{}', '{}', false, true FROM unnest($3::uuid[], $4::text[]) AS t (id, prefix)
"""
MATCHES = """
  INSERT INTO trigger_matches (team_id, type, prefix, trigger_id, org_id)
  SELECT $2, type, prefix, id, $1 FROM unnest($3::uuid[], $4::text[], $5::text[]) AS t (id, prefix, type)
"""


async def arm_many(connection: Any, company: Company, wanted: list[tuple[str, str]]) -> list[UUID]:
    """Triggers past the service: a prefix and a type for each."""
    ids = [new_id() for _ in wanted]
    prefixes, types = [prefix for prefix, _ in wanted], [type for _, type in wanted]
    await connection.execute(INSERT, company.org.id, company.team.id, ids, prefixes)
    await connection.execute(MATCHES, company.org.id, company.team.id, ids, prefixes, types)
    return ids


async def matching(connection: Any, company: Company, key: str, types: list[str]) -> set[UUID]:
    rows = await connection.fetch(
        "SELECT matching_triggers($1, $2, $3, $4)", company.org.id, company.team.id, key, types
    )
    return {row[0] for row in rows}


def word(chance: random.Random, longest: int) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(chance.randrange(longest + 1)))


async def test_the_index_finds_what_a_plain_comparison_finds(company: Company) -> None:
    url = company.house.services.settings.database_url
    connection = await asyncpg.connect(url)
    for seed in rounds(40, 2_000):
        chance = random.Random(seed)
        wanted = [(word(chance, 6), chance.choice(["", "text/plain", "text/*"])) for _ in range(chance.randrange(60))]
        async with connection.transaction():
            await connection.execute("DELETE FROM doc_triggers WHERE team_id = $1", company.team.id)
            ids = await arm_many(connection, company, wanted)
            for _ in range(20):
                key, types = (
                    word(chance, 12) or "a",
                    types_of(chance.choice(["text/plain", "TEXT/HTML; a=b", "image/png"])),
                )
                plainly = {
                    id
                    for id, (prefix, type) in zip(ids, wanted, strict=True)
                    if key.encode().startswith(prefix.encode()) and type in types
                }

                assert await matching(connection, company, key, types) == plainly, (seed, key, wanted)
    await connection.execute("DELETE FROM doc_triggers WHERE team_id = $1", company.team.id)
    await connection.close()


@pytest.mark.parametrize("others", ["unlike/{:04}/", "in/box/{:04}", "a{:04}", "zz/{:04}"])
async def test_a_thousand_that_do_not_match_cost_no_more_pages_than_one(company: Company, others: str) -> None:
    connection = await asyncpg.connect(company.house.services.settings.database_url)
    await arm_many(connection, company, [(others.format(0), "")])
    one = await pages(connection, company)
    await arm_many(connection, company, [(others.format(n), ("", "application/pdf")[n % 2]) for n in range(1, 1_000)])

    thousand = await pages(connection, company)

    await connection.close()
    # An index that is one level higher, for each of the three types.
    assert thousand <= one + 6, (one, thousand)


async def test_a_thousand_of_other_types_cost_no_more_pages_than_one(company: Company) -> None:
    connection = await asyncpg.connect(company.house.services.settings.database_url)
    await arm_many(connection, company, [("", "image/png")])
    one = await pages(connection, company)
    await arm_many(connection, company, [("", f"image/x-{n}") for n in range(1_000)])

    thousand = await pages(connection, company)

    await connection.close()
    assert thousand <= one + 6, (one, thousand)


async def pages(connection: Any, company: Company) -> int:
    """How many pages PostgreSQL looks at to match one key behind the wall, once its plans are made."""
    asked = "SELECT matching_triggers($1, $2, 'in/box/report.txt', '{\"\",text/plain,text/*}')"
    async with connection.transaction():
        await connection.execute(f"SET LOCAL ROLE {APP_ROLE}; SET LOCAL app.org_id = '{company.org.id}'")
        for _ in range(3):
            await connection.fetch(asked, company.org.id, company.team.id)
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {asked}", company.org.id, company.team.id
        )
    plan = json.loads(explained)[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


@pytest.mark.parametrize(
    ("types", "sent", "fires"),
    [
        ([], "image/png", True),
        (["image/png"], "image/png", True),
        (["IMAGE/PNG"], "image/png", True),
        (["image/png"], "Image/PNG; charset=x", True),
        (["image/*"], "image/svg+xml", True),
        (["image/*", "image/png"], "image/png", True),
        (["image/png"], "image/jpeg", False),
        (["image/*"], "imagex/png", False),
        (["text/*"], "image/png", False),
    ],
)
async def test_types_are_compared_without_parameters_in_any_case(
    admin: Client, types: list[str], sent: str, fires: bool
) -> None:
    trigger = await arm(admin, await publish(admin), match_types=types)

    await upload(admin, "a.bin", type=sent)

    assert [fire["outcome"] for fire in await history(admin, trigger)] == ["fired"] * fires


@pytest.mark.parametrize(
    ("prefix", "key", "fires"),
    [
        ("", "any.txt", True),
        ("in/", "in/a.txt", True),
        ("in/a.txt", "in/a.txt", True),
        ("in/a.txt/", "in/a.txt", False),
        ("In/", "in/a.txt", False),
        ("in%", "in/a.txt", False),
        ("_n/", "in/a.txt", False),
        # The same letter, in one character and in two.
        ("\u00e9", "e\u0301.txt", False),
    ],
)
async def test_a_prefix_compares_bytes(admin: Client, prefix: str, key: str, fires: bool) -> None:
    trigger = await arm(admin, await publish(admin), match_prefix=prefix)

    await upload(admin, key)

    assert [fire["outcome"] for fire in await history(admin, trigger)] == ["fired"] * fires


async def test_a_changed_prefix_matches_from_then_on(admin: Client) -> None:
    trigger = await arm(admin, await publish(admin), match_prefix="old/", match_types=["text/plain"])
    await done(admin.patch(f"/api/doc-triggers/{trigger['id']}", {"match_prefix": "new/", "match_types": ["text/*"]}))

    for key in ("old/a.txt", "new/b.txt"):
        await upload(admin, key)

    assert [fire["key"] for fire in await history(admin, trigger)] == ["new/b.txt"]


async def test_triggers_of_another_team_and_company_hear_nothing(
    house: Application, company: Company, admin: Client, stranger: Client
) -> None:
    other = await company.join("admin", team=await company.add_team())
    elsewhere = [(who, await arm(who, await publish(who))) for who in (other, stranger)]
    mine = await arm(admin, await publish(admin))

    await upload(admin, "a.txt", visibility="team")

    assert len(await history(admin, mine)) == 1
    assert [await history(who, trigger) for who, trigger in elsewhere] == [[], []]

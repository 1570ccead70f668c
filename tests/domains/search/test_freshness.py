"""The next search shows what a commit changed, for everybody it concerns; the index equals what it is made of."""

import pytest

from atrium.boot.assemble import Application
from atrium.product.search import index_check
from tests.domains.search.world import WORDS, World, differences, done, found, frequent_words, make_world
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company
from tests.support.sizes import FULL_ONLY

pytestmark = pytest.mark.timeout(7200)


async def assert_everybody_finds_theirs(world: World) -> None:
    for person in (*world.people, world.reader):
        for word in WORDS:
            assert {hit["id"] for hit in await found(person, word)} == world.expected(person, word), (
                word,
                person.username,
            )
    for word in WORDS:
        hits = await found(world.reader, word, scope="org")
        assert {hit["id"] for hit in hits} == world.expected(world.reader, word, wide=True)


@pytest.mark.parametrize("steps", [120, pytest.param(10_000, marks=[pytest.mark.proof, FULL_ONLY])])
async def test_random_changes_are_found_as_a_model_says(house: Application, steps: int) -> None:
    world = await make_world(house, 7)

    for _ in range(steps):
        await world.step()
        person, word = world.dice.choice(world.people), world.dice.choice(WORDS)
        assert {hit["id"] for hit in await found(person, word)} == world.expected(person, word), word

    await assert_everybody_finds_theirs(world)
    async with frequent_words(house):
        await assert_everybody_finds_theirs(world)
    assert await differences(house, world.company) == []
    print(f"{steps} changes of {dict(world.changes)}")


async def test_what_a_leaving_person_had_is_found_by_their_heir(
    company: Company, alice: Client, house: Application
) -> None:
    owner = await company.join("owner", org_role="org_owner")
    bob = await company.join("member")
    body = {"title": "Turbine manual", "body": "", "visibility": "team"}
    note = done(await alice.post("/api/notes", body))["id"]
    done(await alice.put("/api/repo/turbine.bin?visibility=team", b"\0"))
    done(await alice.post("/api/notes", {**body, "visibility": "private"}))
    mine = done(await bob.post("/api/notes", {**body, "visibility": "private"}))["id"]
    done(await bob.post(f"/api/notes/{mine}/share", {"user_id": alice.user_id, "permission": "notes:read"}))

    gone = {"transfer_to": owner.user_id, "private": "trash"}
    done(await owner.send("DELETE", f"/api/members/{alice.user_id}", gone))

    assert note in {hit["id"] for hit in await found(owner, "turbine")}
    assert len(await found(owner, "turbine")) == 2
    assert await differences(house, company) == []


async def test_a_rebuild_mends_every_difference(company: Company, alice: Client, house: Application) -> None:
    url, org = house.services.settings.database_url, company.org.id
    for number in range(4):
        await alice.post("/api/notes", {"title": f"Gearbox {number}", "body": "", "visibility": "team"})
    ids = [row["id"] for row in await run_as_owner(url, "SELECT id FROM notes WHERE org_id = $1 ORDER BY id", org)]
    await run_as_owner(url, "DELETE FROM search_rows WHERE id = $1", ids[0])
    await run_as_owner(url, "UPDATE search_rows SET lexemes = 'x' WHERE id = $1", ids[1])
    await run_as_owner(url, "UPDATE search_rows SET readers = '{}' WHERE id = $1", ids[2])
    await run_as_owner(url, "UPDATE search_rows SET id = gen_random_uuid() WHERE id = $1", ids[3])

    before = [one.problem for one in await differences(house, company)]
    await index_check.rebuild(house.services.database, house.services.compute, org)

    assert sorted(before) == ["access", "left over", "missing", "missing", "words"]
    assert await differences(house, company) == []
    assert len(await found(alice, "gearbox")) == 4

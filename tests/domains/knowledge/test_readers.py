"""Every reader sees the graph of what they can read, equal to one read afresh, after any history."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest

from atrium.boot.assemble import Application
from atrium.engine.repository import permissions
from atrium.product.knowledge import merges
from atrium.product.knowledge.model import NotMergeable
from atrium.product.knowledge.names import entity_id, normalise_name
from tests.domains.knowledge import world as worlds
from tests.domains.knowledge.conftest import (
    Model,
    acting,
    call,
    document,
    entities,
    entity,
    learn,
    merge,
    put,
    settled,
    shapes,
)
from tests.domains.knowledge.world import Key, World
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.sizes import FULL_ONLY

NAMES = ["Ada", "ADA", "Bob", "Acme Ltd.", "ACME", "Acme Inc", "Falcon", "The Falcon", "Óðinn"]
TYPES = ["person", "organisation", "project"]
STEPS = 25
FEW, HISTORIES = 5, 1000


async def expire(house: Application, id: str) -> None:
    await run_as_owner(
        house.services.settings.database_url,
        "UPDATE object_grants SET expires_at = now() - interval '1 second' WHERE object_id = $1::text::uuid",
        id,
    )


async def test_each_reader_sees_what_they_can_read(
    house: Application, company: Company, alice: Client, bob: Client, stranger: Client, model: Model
) -> None:
    team = await company.add_team()
    other, viewer = await company.join("owner", team=team), await company.join("viewer")
    auditor = await company.join("member", team=team, org_role="org_reader")
    await learn(alice, house, "open.txt", "person:Ada>knows>person:Bob")
    secret = await learn(
        alice, house, "secret.txt", "person:ADA>leads>project:Falcon", "person:ADA", visibility="private"
    )
    lent = await learn(alice, house, "lent.txt", "place:London", visibility="private")
    ended = await learn(alice, house, "ended.txt", "place:Paris", visibility="private")
    for id in (lent, ended):
        await alice.post(f"/api/repo-obj/{id}/share", {"user_id": other.user_id})
    await expire(house, ended)

    seen = {name: {one["name"] for one in await entities(person)} for name, person in
            {"alice": alice, "bob": bob, "viewer": viewer, "other": other, "stranger": stranger, "auditor": auditor}.items()}  # fmt: skip
    ada = await entity(bob, "Ada")
    page = await bob.get(f"/api/kg/entities/{ada['id']}")
    hidden = (await entity(alice, "Falcon"))["id"]

    assert seen["alice"] == {"ADA", "Bob", "Falcon", "London", "Paris"}
    assert seen["bob"] == seen["viewer"] == {"Ada", "Bob"}
    assert (seen["other"], seen["stranger"], seen["auditor"]) == ({"London"}, set(), set())
    assert {one["name"] for one in await entities(auditor, scope="org")} == {"Ada", "Bob"}
    assert (ada["mentions"], ada["aliases"], ada["relations"]) == (1, [], 1)
    assert [one["type"] for one in page["relations"]] == ["knows"]
    assert secret not in page.raw.decode()
    assert [(await one.get(f"/api/kg/entities/{hidden}")).status for one in (alice, bob, other, stranger)] == [
        200,
        404,
        404,
        404,
    ]
    assert await entities(bob, q="falcon") == []


async def test_e22_a_role_in_the_company_shows_other_teams_entities_where_the_company_is_asked_for(
    house: Application, company: Company, alice: Client, model: Model
) -> None:
    elsewhere = await company.join("owner", team=await company.add_team())
    reader = await company.join("member", org_role="org_reader")
    await learn(alice, house, "ours.txt", "person:Ada")
    theirs = await learn(elsewhere, house, "theirs.txt", "person:Bob>knows>person:Eve")
    await learn(elsewhere, house, "more.txt", "person:Bob")
    await learn(elsewhere, house, "secret.txt", "person:Mallory", visibility="private")

    own, wide = [{one["name"] for one in await entities(reader, **asked)} for asked in ({}, {"scope": "org"})]

    assert (own, wide) == ({"Ada"}, {"Ada", "Bob", "Eve"})
    assert await entities(reader, q="bob") == []
    # What is named by its id is read with every right, as notes and files are.
    assert {one["name"] for one in await entities(reader, object=theirs)} == {"Bob", "Eve"}
    assert (await alice.get("/api/kg/entities", scope="org")).code == "knowledge.org_scope"
    first = await reader.get("/api/kg/entities", scope="org", limit=1)
    assert (await reader.get("/api/kg/entities", limit=1, cursor=first["next_cursor"])).status == 400


async def test_e14_an_entitys_tag_changes_with_what_its_reader_can_read(
    house: Application, alice: Client, bob: Client, model: Model
) -> None:
    await learn(alice, house, "open.txt", "person:Ada")
    other = await learn(alice, house, "other.txt", "person:Ada>knows>person:Bob")
    at = f"/api/kg/entities/{(await entity(bob, 'Ada'))['id']}"
    known = {"if-none-match": (await bob.get(at)).headers["etag"]}

    same = await bob.get(at, headers=known)
    await alice.post(f"/api/repo-obj/{other}/visibility", {"visibility": "private"})
    less = await bob.get(at, headers=known)

    assert (same.status, less.status, less["documents"]) == (304, 200, 1)
    assert (await alice.get(at, headers=known)).status == 304


async def test_e22_an_entitys_page_tells_what_its_listing_tells(
    house: Application, company: Company, model: Model
) -> None:
    elsewhere = await company.join("owner", team=await company.add_team())
    reader = await company.join("member", org_role="org_reader")
    lent = await learn(elsewhere, house, "lent.txt", "person:Bob")
    await learn(elsewhere, house, "more.txt", "person:Bob>knows>person:Eve")
    [bob] = [one for one in await entities(reader, scope="org") if one["name"] == "Bob"]
    at = f"/api/kg/entities/{bob['id']}"

    async def told(**asked: Any) -> tuple[int, int | None, int | None]:
        page = await reader.get(at, **asked)
        return (
            (page.status, page["documents"], len(page["relations"]))
            if page.status == 200
            else (page.status, None, None)
        )

    before = [await told(), await told(scope="org"), await told(scope="team")]
    assert (await elsewhere.post(f"/api/repo-obj/{lent}/share", {"user_id": reader.user_id})).status == 200
    [listed] = await entities(reader)
    after = [await told(), await told(scope="org"), await told(scope="team")]

    assert before == [(200, 2, 1), (200, 2, 1), (404, None, None)]
    assert (listed["id"], listed["documents"], listed["relations"]) == (bob["id"], 1, 0)
    assert after == [(200, 1, 0), (200, 2, 1), (200, 1, 0)]
    assert (await elsewhere.get(at, scope="org")).status == 403


async def test_what_changes_who_reads_counts_at_once(
    house: Application, alice: Client, bob: Client, model: Model
) -> None:
    id = await learn(alice, house, "a.txt", "person:Ada", visibility="private")

    async def seen() -> bool:
        return bool(await entities(bob))

    found = [await seen()]
    for act, body in (
        ("share", {"user_id": bob.user_id}),
        ("unshare", {"user_id": bob.user_id}),
        ("visibility", {"visibility": "team"}),
        ("visibility", {"visibility": "private"}),
    ):
        assert (await alice.post(f"/api/repo-obj/{id}/{act}", body)).status == 200
        found.append(await seen())
    await alice.post(f"/api/repo-obj/{id}/visibility", {"visibility": "team"})
    assert (await alice.delete(f"/api/repo-obj/{id}")).status == 200
    found.append(await seen())
    await alice.post(f"/api/trash/{id}/restore")
    found.append(await seen())

    assert found == [False, True, False, True, False, False, True]


async def test_one_documents_entities_are_counted_in_it_alone(
    house: Application, alice: Client, bob: Client, stranger: Client, model: Model
) -> None:
    await learn(alice, house, "first.txt", "person:Ada>knows>person:Bob")
    one = await learn(alice, house, "second.txt", "person:Ada", "place:London")
    secret = await learn(alice, house, "secret.txt", "person:Ada", "place:Paris", visibility="private")

    def told(answer: Any) -> dict[str, int]:
        return {one["name"]: one["mentions"] for one in answer["items"]}

    assert told(await bob.get("/api/kg/entities", object=one)) == {"Ada": 1, "London": 1}
    assert told(await alice.get("/api/kg/entities", object=secret)) == {"Ada": 1, "Paris": 1}
    assert told(await bob.get("/api/kg/entities", object=secret)) == {}
    assert told(await stranger.get("/api/kg/entities", object=one)) == {}
    first = await bob.get("/api/kg/entities", object=one, limit=1)
    rest = await bob.get("/api/kg/entities", object=one, limit=1, cursor=first["next_cursor"])
    assert told(first) | told(rest) == {"Ada": 1, "London": 1}
    other = await bob.get("/api/kg/entities", limit=1, cursor=first["next_cursor"])
    assert other.status == 400


async def test_pages_search_and_types(house: Application, alice: Client, model: Model) -> None:
    await learn(alice, house, "a.txt", *(f"person:Name {n}" for n in range(9)), "place:Name Hall")
    await learn(alice, house, "b.txt", "person:Name 3", "person:Name 5")
    await learn(alice, house, "c.txt", "person:Name 5")

    everything = await entities(alice)
    paged = await entities(alice, limit=2)
    first = await alice.get("/api/kg/entities", limit=1)
    foreign = await alice.get("/api/kg/entities", limit=1, q="name", cursor=first["next_cursor"])

    assert paged == everything
    assert [one["mentions"] for one in everything] == [3, 2, *[1] * 8]
    assert [one["name"] for one in await entities(alice, type="place")] == ["Name Hall"]
    assert [one["name"] for one in await entities(alice, q="NAME  5")] == ["Name 5"]
    assert await entities(alice, q="(((%_\\") == []
    assert (foreign.status, (await alice.get("/api/kg/entities", q="a\x00b")).status) == (400, 400)
    five = (await entity(alice, "Name 5"))["id"]
    pages = [await alice.get(f"/api/kg/entities/{five}", limit=2)]
    pages.append(await alice.get(f"/api/kg/entities/{five}", limit=2, cursor=pages[0]["mentions"]["next_cursor"]))
    assert [[one["key"] for one in page["mentions"]["items"]] for page in pages] == [["c.txt", "b.txt"], ["a.txt"]]


async def test_a_merge_is_remembered_shown_and_undone(house: Application, company: Company, model: Model) -> None:
    admin, bob = await company.join("admin"), await company.join("member")
    await learn(admin, house, "a.txt", "person:Ada Lovelace>knows>person:Bob")
    await learn(admin, house, "b.txt", "person:Countess>owns>place:Ockham")
    before = await entities(admin)
    keep, drop = (await entity(admin, "Ada Lovelace"))["id"], (await entity(admin, "Countess"))["id"]

    merged = await merge(admin, keep, drop)
    await learn(admin, house, "c.txt", "person:Countess")
    page = await bob.get(f"/api/kg/entities/{keep}")
    followed = await bob.get(f"/api/kg/entities/{drop}")

    assert (page["name"], page["aliases"], page["documents"]) == ("Countess", ["Ada Lovelace"], 3)
    assert {one["type"] for one in page["relations"]} == {"knows", "owns"}
    [one] = page["merged"]
    assert (one["id"], one["name"], one["type"], one["by"]["user_id"]) == (merged, "Countess", "person", admin.user_id)
    assert followed["id"] == keep
    assert (
        "one entity already"
        in (await settled(admin, "knowledge.merge", {"keep": keep, "drop": drop}))["error"]["message"]
    )
    await admin.delete(f"/api/repo-obj/{(await admin.get('/api/repo', prefix='c.txt'))['items'][0]['id']}")
    assert (await settled(admin, "knowledge.unmerge", {"merge": merged}))["state"] == "succeeded"
    assert await entities(admin) == before
    assert "no such merge" in (await settled(admin, "knowledge.unmerge", {"merge": merged}))["error"]["message"]


async def test_only_who_reads_every_mention_merges(
    house: Application, company: Company, alice: Client, stranger: Client, model: Model
) -> None:
    admin, team = await company.join("admin"), await company.add_team()
    elsewhere = await company.join("owner", team=team, org_role="org_owner")
    await learn(alice, house, "a.txt", "person:Ada", "person:Eve")
    hidden = await learn(alice, house, "b.txt", "person:Ada", visibility="private")
    keep, drop = (await entity(alice, "Ada"))["id"], (await entity(alice, "Eve"))["id"]

    async def told(person: Client, kept: str = keep, dropped: str = drop) -> str:
        ended = await settled(person, "knowledge.merge", {"keep": kept, "drop": dropped})
        return "merged" if ended["state"] == "succeeded" else str(ended["error"]["message"])

    assert "files:manage" in await told(alice)
    for person in (admin, elsewhere, stranger):
        assert "not an entity that you can merge" in await told(person)
    await alice.post(f"/api/repo-obj/{hidden}/visibility", {"visibility": "team"})
    assert await told(admin) == "merged"


async def test_g12_a_refused_merge_does_not_say_why(
    house: Application, company: Company, alice: Client, model: Model
) -> None:
    """Whether a name is in somebody's private document is not an admin's to learn: one refusal for that and for no entity."""
    admin = await company.join("admin")
    await learn(alice, house, "a.txt", "person:Ada", "person:Eve")
    await learn(alice, house, "b.txt", "person:Ada", visibility="private")
    keep, drop = (await entity(admin, "Ada"))["id"], (await entity(admin, "Eve"))["id"]

    hidden = await settled(admin, "knowledge.merge", {"keep": keep, "drop": drop})
    missing = await settled(admin, "knowledge.merge", {"keep": drop, "drop": str(uuid4())})

    assert "not an entity that you can merge" in hidden["error"]["message"]
    assert hidden["error"] == missing["error"]


async def test_a_merge_with_what_is_hidden_names_nothing_of_it(
    house: Application, company: Company, bob: Client, model: Model
) -> None:
    owner = await company.join("owner")
    await learn(owner, house, "a.txt", "project:PF")
    await learn(owner, house, "b.txt", "project:Falcon>beats>project:Hawk", visibility="private")
    await merge(owner, (await entity(owner, "Falcon"))["id"], (await entity(owner, "PF"))["id"])

    [seen] = await entities(bob)
    page = await bob.get(f"/api/kg/entities/{seen['id']}")

    assert (seen["name"], seen["aliases"], seen["mentions"], seen["relations"]) == ("PF", [], 1, 0)
    assert "Falcon" not in page.raw.decode()
    assert [one["name"] for one in page["merged"]] == ["PF"]


@dataclass
class History:
    """A company whose documents, shares and merges change at random, beside what its graph must be."""

    house: Application
    dice: random.Random
    people: list[Client]
    readers: list[Client]
    documents: dict[str, tuple[Client, str]]
    world: World

    async def step(self) -> None:
        acts = [self.write] * 5 + [self.share, self.share, self.hide, self.trash, self.merge, self.merge, self.unmerge]
        await self.dice.choice(acts)()

    async def write(self) -> None:
        key = f"{self.dice.randint(0, 7)}.txt"
        facts = list({self.fact(): None for _ in range(self.dice.randint(1, 4))})
        known = {name: id for id, (_, name) in self.documents.items()}
        person = self.documents[known[key]][0] if key in known else self.dice.choice(self.people)
        id = await put(
            person, key, document(*facts), visibility=None if key in known else self.dice.choice(["team", "private"])
        )
        self.documents[id] = (person, key)
        self.world.texts.pop(id, None)
        if self.dice.random() < 0.85:
            await call(person, self.house, "kg_extract", object=id)
            self.world.texts[id] = document(*facts).decode()

    def fact(self) -> str:
        one, other = (f"{self.dice.choice(TYPES)}:{self.dice.choice(NAMES)}" for _ in range(2))
        # Nothing is said of an entity and itself: a reply with it is refused, and others test that.
        return one if one == other or self.dice.random() < 0.4 else f"{one}>knows>{other}"

    async def share(self) -> None:
        if not self.documents:
            return
        id = self.dice.choice(list(self.documents))
        owner, target = self.documents[id][0], self.dice.choice(self.readers)
        act = self.dice.choice(["share", "share", "unshare"])
        await owner.post(f"/api/repo-obj/{id}/{act}", {"user_id": target.user_id})
        if self.dice.random() < 0.3:
            await expire(self.house, id)

    async def hide(self) -> None:
        if self.documents:
            id = self.dice.choice(list(self.documents))
            body = {"visibility": self.dice.choice(["team", "private"])}
            await self.documents[id][0].post(f"/api/repo-obj/{id}/visibility", body)

    async def trash(self) -> None:
        if not self.documents:
            return
        id = self.dice.choice(list(self.documents))
        owner, _ = self.documents[id]
        assert (await owner.delete(f"/api/repo-obj/{id}")).status == 200
        if self.dice.random() < 0.5:
            assert (await owner.post(f"/api/trash/{id}/restore")).status == 200
        else:
            del self.documents[id]

    async def merge(self) -> None:
        """Whatever merge of two entities; who may not is refused, and nothing changes."""
        person, found = self.people[0], await entities(self.people[0])
        if len(found) < 2:
            return
        keep, drop = self.dice.sample(found, 2)
        id, heads = uuid4(), await self._heads(person)
        op = await acting(self.house, person)
        try:
            async with op.begin() as ctx:
                await merges.merge(ctx, id, UUID(keep["id"]), UUID(drop["id"]))
        except NotMergeable:
            return
        self.world.merges[str(id)] = (heads[keep["id"]], heads[drop["id"]])

    async def _heads(self, person: Client) -> dict[str, Key]:
        """Which entity has which id: by the ids of the mentions' own names."""
        op = await acting(self.house, person)
        async with op.begin() as ctx:
            salt = await ctx.db.value("SELECT salt FROM knowledge_salts WHERE team_id = :id", id=ctx.who.team_id)
        keys = {(type, normalise_name(name, type)) for type in TYPES for name in NAMES}
        return {str(entity_id(salt, type, name)): (type, name) for type, name in keys}

    async def unmerge(self) -> None:
        if not self.world.merges:
            return
        id = self.dice.choice(list(self.world.merges))
        op = await acting(self.house, self.people[0])
        try:
            async with op.begin() as ctx:
                await merges.unmerge(ctx, UUID(id))
        except NotMergeable:
            return
        del self.world.merges[id]

    async def check(self) -> None:
        for reader in self.readers:
            readable = [id for id in self.documents if (await reader.get(f"/api/repo-obj/{id}")).status == 200]
            # The last of them has a role in the company.
            asked = {"scope": "org"} if reader is self.readers[-1] else {}
            found = await entities(reader, **asked)
            assert shapes(found) == worlds.listed(self.world, readable)
            assert [one["mentions"] for one in found] == sorted((one["mentions"] for one in found), reverse=True)
            assert sorted([await page_of(reader, one["id"], **asked) for one in found]) == worlds.told(
                self.world, readable
            )
            await self.check_rule(reader)

    async def check_rule(self, reader: Client) -> None:
        """`readable_objects` says the same as the repository's own rule."""
        op = await acting(self.house, reader)
        async with op.begin() as ctx:
            rows = await ctx.db.rows(
                "SELECT id FROM readable_objects(:org_id, :team_id, :user_id, :principals, :by_role, :org_wide)",
                **permissions.reader_of(ctx.who),
            )
            every = [UUID(id) for id in self.documents]
            assert sorted(row[0] for row in rows) == sorted(await permissions.list_visible(ctx, every))


async def page_of(reader: Client, id: str, **asked: Any) -> tuple[Any, ...]:
    page = await reader.get(f"/api/kg/entities/{id}", **asked)
    relations = sorted(
        (one["direction"], one["type"], one["entity"]["name"], one["documents"]) for one in page["relations"]
    )
    return page["name"], relations, sorted(one["name"] for one in page["merged"])


async def begin(house: Application, seed: int) -> History:
    company = await found_company(house)
    team = await company.add_team()
    people = [await company.join("owner"), await company.join("member")]
    readers = [
        *people,
        await company.join("viewer"),
        await company.join("member", team=team),
        await company.join("member", team=team, org_role="org_reader"),
    ]
    return History(house, random.Random(seed), people, readers, {}, World())


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    "seeds",
    [
        *([seed] for seed in range(FEW)),
        pytest.param(range(FEW, HISTORIES), marks=[pytest.mark.proof, FULL_ONLY], id="many"),
    ],
)
async def test_after_any_history_the_graph_is_one_read_afresh(
    house: Application, model: Model, seeds: Sequence[int]
) -> None:
    for seed in seeds:
        await assert_the_graph_is_one_read_afresh(house, seed)
    print(f"{len(seeds)} histories of {STEPS} steps")


async def assert_the_graph_is_one_read_afresh(house: Application, seed: int) -> None:
    history = await begin(house, seed)

    for number in range(STEPS):
        await history.step()
        if number % 8 == 7:
            await history.check()

    await history.check()

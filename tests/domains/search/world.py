"""A small company whose people write, share, hide and delete at random, and what each of them should find."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from atrium.boot.assemble import Application
from atrium.product.search import index_check
from tests.domains.search import graph
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company

# No two have letters in common that would make their titles alike.
WORDS = ("lantern", "quiche", "bobsled", "wyvern", "mahjong")


@asynccontextmanager
async def frequent_words(house: Application) -> AsyncIterator[None]:
    """As in a large instance whose statistics say that nearly every row has these words; the others in none, as far as is known."""
    url = house.services.settings.database_url
    await run_as_owner(url, "INSERT INTO search_words SELECT unnest($1::text[]), 0", ["", *WORDS])
    try:
        yield
    finally:
        await run_as_owner(url, "DELETE FROM search_words")


@dataclass(slots=True)
class Thing:
    """A note or an object as the model knows it."""

    id: str
    owner: Client
    of_notes: bool
    words: set[str]
    visibility: str
    key: str = ""
    trashed: bool = False
    grants: set[str] = field(default_factory=set)

    def readable_by(self, person: Client, *, wide: bool = False) -> bool:
        if self.trashed:
            return False
        mine = self.owner.user_id == person.user_id
        seen = self.visibility == "team" and (wide or self.owner.team_id == person.team_id)
        principals = {person.user_id} if self.of_notes else {person.user_id, person.team_id, person.org_id}
        return mine or seen or bool(self.grants & principals)


@dataclass(slots=True)
class World:
    """Two teams of a company, a reader of the whole of it, and everything they have."""

    house: Application
    company: Company
    people: list[Client]
    reader: Client
    # Who lets people in and out of the first team, and finds whatever is found there.
    chief: Client
    dice: Random
    things: list[Thing] = field(default_factory=list)
    # Entities that were mentioned, by whom, and those that are one with another.
    entities: dict[str, Client] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)
    changes: Counter[str] = field(default_factory=Counter)

    async def step(self) -> None:
        """One random change."""
        live = [thing for thing in self.things if not thing.trashed]
        kinds = [self._write_note, self._write_object, self._join, self._leave, self._change_role]
        if live:
            kinds += [self._edit, self._rename, self._share, self._share, self._unshare, self._show, self._delete]
            kinds += [self._expire]
        if any(thing.trashed for thing in self.things):
            kinds.append(self._restore)
        kind = self.dice.choice(kinds)
        self.changes[kind.__name__.strip("_")] += 1
        await kind()

    def some(self) -> Thing:
        return self.dice.choice([thing for thing in self.things if not thing.trashed])

    def text(self) -> set[str]:
        return set(self.dice.sample(WORDS, self.dice.randint(1, 3)))

    async def _write_note(self) -> None:
        words, owner, seen = self.text(), self.dice.choice(self.people), self.dice.choice(["private", "team"])
        body = {"title": min(words), "body": " ".join(words), "visibility": seen}
        made = done(await owner.post("/api/notes", body))
        self.things.append(Thing(made["id"], owner, True, words, seen))

    async def _write_object(self) -> None:
        words, owner, seen = self.text(), self.dice.choice(self.people), self.dice.choice(["private", "team"])
        key = f"{len(self.things)}-{'-'.join(sorted(words))}.bin"
        made = done(await owner.put(f"/api/repo/{key}?visibility={seen}", b"\0"))
        self.things.append(Thing(made["id"], owner, False, words, seen, key))

    async def mention(self) -> None:
        """An object says something of entities whose names are made of the words."""
        files = [thing for thing in self.things if not thing.of_notes and not thing.trashed]
        if not files:
            return
        thing = self.dice.choice(files)
        names = {" ".join(self.dice.sample(WORDS, self.dice.randint(1, 2))).title() for _ in range(3)}
        ids = await graph.say(self.house, thing.owner, thing.id, *sorted(names))
        self.entities |= dict.fromkeys(ids, thing.owner)

    async def merge(self) -> None:
        """Two entities of one team are one."""
        apart = sorted(self.entities.keys() - self.merged)
        if len(apart) < 2:
            return
        keep, drop = self.dice.sample(apart, 2)
        if self.entities[keep].team_id == self.entities[drop].team_id:
            await graph.merge(self.house, self.entities[keep], keep, drop)
            self.merged |= {keep, drop}

    async def _edit(self) -> None:
        thing = self.some()
        if not thing.of_notes:
            done(await thing.owner.put(f"/api/repo/{thing.key}", b"\1"))
            return
        thing.words = self.text()
        text = " ".join(sorted(thing.words))
        done(await thing.owner.put(f"/api/notes/{thing.id}", {"title": text[:7], "body": text}))
        thing.words |= {text[:7]} if text[:7] in WORDS else set()

    async def _rename(self) -> None:
        thing = self.some()
        if thing.of_notes:
            return
        thing.words = self.text()
        thing.key = f"{self.dice.getrandbits(64):x}-{'-'.join(sorted(thing.words))}.bin"
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/move", {"key": thing.key}))

    def _colleagues(self) -> list[Client]:
        return [person for person in self.people if person.team_id == self.chief.team_id]

    async def _join(self) -> None:
        if len(self._colleagues()) < 4:
            self.people.append(await self.company.join("member"))

    async def _leave(self) -> None:
        """Everything of theirs is a colleague's from then on, and what was shared with them is no longer."""
        if len(self._colleagues()) < 3:
            return
        gone, heir = self.dice.sample(self._colleagues(), 2)
        body = {"transfer_to": heir.user_id, "private": "transfer"}
        done(await self.chief.send("DELETE", f"/api/members/{gone.user_id}", body))
        self.people.remove(gone)
        for thing in self.things:
            thing.grants.discard(gone.user_id)
            if thing.owner is gone:
                thing.owner = heir
                thing.grants.discard(heir.user_id)

    async def _change_role(self) -> None:
        """Who only looks finds what they found before; afterwards they may write again."""
        person, word = self.dice.choice(self._colleagues()), self.dice.choice(WORDS)
        for role in ("viewer", "member"):
            done(await self.chief.patch(f"/api/members/{person.user_id}", {"role": role}))
            assert {hit["id"] for hit in await found(person, word)} == self.expected(person, word), (role, word)

    async def _share(self) -> None:
        thing, person = self.some(), self.dice.choice(self.people)
        if person is thing.owner:
            return
        if thing.of_notes:
            body = {"user_id": person.user_id, "permission": "notes:read"}
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", body))
            thing.grants.add(person.user_id)
            return
        kind = self.dice.choice(["user", "team", "org"])
        principal = {"user": person.user_id, "team": person.team_id, "org": person.org_id}[kind]
        body = {"principal_type": kind, "principal_id": principal, "expires_at": "2999-01-01T00:00:00Z"}
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/share", body))
        thing.grants.add(principal)
        thing.visibility = "shared" if thing.visibility == "private" else thing.visibility

    async def _unshare(self) -> None:
        thing = self.some()
        if not thing.grants:
            return
        gone = self.dice.choice(sorted(thing.grants))
        if thing.of_notes:
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", {"user_id": gone, "permission": None}))
        else:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/unshare", self._principal(gone)))
        thing.grants.discard(gone)

    def _principal(self, id: str) -> dict[str, str]:
        teams = {person.team_id for person in self.people}
        kind = "org" if id == self.people[0].org_id else "team" if id in teams else "user"
        return {"principal_type": kind, "principal_id": id}

    async def _show(self) -> None:
        thing, seen = self.some(), self.dice.choice(["private", "team"])
        if thing.of_notes:
            done(await thing.owner.put(f"/api/notes/{thing.id}", {"visibility": seen}))
        else:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/visibility", {"visibility": seen}))
            thing.grants = set() if seen == "private" else thing.grants
        thing.visibility = seen

    async def _expire(self) -> None:
        thing = self.some()
        if thing.of_notes or not thing.grants:
            return
        url = self.house.services.settings.database_url
        gone = self.dice.choice(sorted(thing.grants))
        past = "UPDATE object_grants SET expires_at = now() - interval '1 s' WHERE object_id = $1 AND principal_id = $2"
        await run_as_owner(url, past, thing.id, gone)
        thing.grants.discard(gone)

    async def _delete(self) -> None:
        thing = self.some()
        path = "notes" if thing.of_notes else "repo-obj"
        done(await thing.owner.delete(f"/api/{path}/{thing.id}"))
        thing.trashed = True

    async def _restore(self) -> None:
        thing = self.dice.choice([thing for thing in self.things if thing.trashed])
        done(await thing.owner.post(f"/api/trash/{thing.id}/restore", {}))
        thing.trashed = False

    def expected(self, person: Client, word: str, *, wide: bool = False) -> set[str]:
        return {thing.id for thing in self.things if word in thing.words and thing.readable_by(person, wide=wide)}


async def differences(house: Application, company: Company) -> list[index_check.IndexDifference]:
    """Where the index of a company is not what it is made of."""
    return [one async for one in index_check.verify(house.services.database, house.services.compute, company.org.id)]


def done(answer: Answer) -> Answer:
    assert answer.status < 300, answer.raw
    return answer


async def found(person: Client, q: str, **more: Any) -> list[dict[str, Any]]:
    """Every hit, over all pages."""
    hits: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        reply = done(await person.get("/api/search", q=q, limit=50, **more, **cursor))
        hits += reply["items"]
        if reply["next_cursor"] is None:
            return hits
        cursor = {"cursor": reply["next_cursor"]}


async def make_world(house: Application, seed: int) -> World:
    company = await found_company(house)
    second = await company.add_team()
    people = [await company.join("member", team=team) for team in (None, None, second)]
    reader = await company.join("member", team=second, org_role="org_reader")
    chief = await company.join("owner", org_role="org_owner")
    return World(house, company, people, reader, chief, Random(seed))

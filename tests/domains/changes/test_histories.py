"""Random histories: after every step each feed has told exactly what GET shows its reader, in one order, once."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.product.changes import chores
from atrium.product.changes.model import read_id
from tests.domains.changes.feeds import Feed, hearing, hub_of, settled
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company

HISTORIES, STEPS = (200, 30) if os.environ.get("ATRIUM_FULL") else (10, 14)
ENDS = {"gone", "deleted"}


@dataclass(slots=True)
class Thing:
    """Something that can be shared."""

    id: str
    owner: Client
    note: bool
    grants: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Reader:
    """Somebody who listens, and what they were told so far."""

    name: str
    client: Client
    scope: str
    feed: Feed
    seen: int = 0
    shown: dict[str, int] = field(default_factory=dict)
    places: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class History:
    """A company whose people change things at random, and its listeners."""

    house: Application
    company: Company
    dice: Random
    people: list[Client]
    readers: list[Reader]
    stack: AsyncExitStack
    role: str = "viewer"
    things: list[Thing] = field(default_factory=list)
    trashed: list[Thing] = field(default_factory=list)

    async def step(self) -> str:
        kinds: list[Callable[[], Awaitable[None]]] = [self._note, self._object, self._document]
        if self.things:
            kinds += [self._edit, self._share, self._share, self._withdraw, self._withdraw, self._show, self._delete]
            kinds += [self._expire, self._move, self._role]
        if self.trashed:
            kinds.append(self._restore)
        chosen = self.dice.choice(kinds)
        await chosen()
        return chosen.__name__

    def some(self, note: bool | None = None) -> Thing:
        fitting = [thing for thing in self.things if note is None or thing.note is note]
        return self.dice.choice(fitting or self.things)

    async def _note(self) -> None:
        owner, seen = self.dice.choice(self.people), self.dice.choice(["private", "team"])
        made = done(await owner.post("/api/notes", {"title": "n", "visibility": seen}))
        self.things.append(Thing(made["id"], owner, note=True))

    async def _object(self) -> None:
        owner, seen = self.dice.choice(self.people), self.dice.choice(["private", "team"])
        made = done(await owner.put(f"/api/repo/o-{self.dice.getrandbits(60)}?visibility={seen}", b"\0"))
        self.things.append(Thing(made["id"], owner, note=False))

    async def _document(self) -> None:
        owner, seen = self.dice.choice(self.people), self.dice.choice(["private", "team"])
        made = done(await owner.post("/api/documents", {"title": "d", "body": "x", "visibility": seen}))
        self.things.append(Thing(made["id"], owner, note=False))

    async def _edit(self) -> None:
        thing = self.some(note=True)
        if thing.note:
            done(await thing.owner.put(f"/api/notes/{thing.id}", {"body": str(self.dice.random())}))

    async def _share(self) -> None:
        thing, person = self.some(), self.dice.choice([reader.client for reader in self.readers])
        if person.user_id == thing.owner.user_id or person.org_id != thing.owner.org_id:
            return
        if thing.note:
            level = self.dice.choice(["notes:read", "notes:write"])
            body = {"user_id": person.user_id, "permission": level}
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", body))
            thing.grants.add(person.user_id)
            return
        kind = self.dice.choice(["user", "team", "org"])
        principal = {"user": person.user_id, "team": person.team_id, "org": person.org_id}[kind]
        body = {"principal_type": kind, "principal_id": principal, "expires_at": "2999-01-01T00:00:00Z"}
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/share", body))
        thing.grants.add(principal)

    async def _withdraw(self) -> None:
        granted = [thing for thing in self.things if thing.grants]
        if not granted:
            return
        thing = self.dice.choice(granted)
        ended = self.dice.choice(sorted(thing.grants))
        thing.grants.discard(ended)
        if thing.note:
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", {"user_id": ended, "permission": None}))
            return
        kind = "org" if ended == thing.owner.org_id else "user"
        kind = "team" if ended in {reader.client.team_id for reader in self.readers} else kind
        body = {"principal_type": kind, "principal_id": ended}
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/unshare", body))

    async def _expire(self) -> None:
        granted = [thing for thing in self.things if thing.grants and not thing.note]
        if not granted:
            return
        thing = self.dice.choice(granted)
        ended = self.dice.choice(sorted(thing.grants))
        thing.grants.discard(ended)
        # As the owner of the tables, so that no trigger tells of it: as if the date had come.
        await run_as_owner(
            self.house.services.settings.database_url,
            "UPDATE object_grants SET expires_at = now() WHERE object_id = $1 AND principal_id = $2",
            UUID(thing.id),
            UUID(ended),
        )
        await chores.tell_expired(self.house.services)
        await chores.tell_expired(self.house.services)

    async def _show(self) -> None:
        thing, seen = self.some(), self.dice.choice(["private", "team"])
        if thing.note:
            done(await thing.owner.put(f"/api/notes/{thing.id}", {"visibility": seen}))
            return
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/visibility", {"visibility": seen}))
        thing.grants = set() if seen == "private" else thing.grants

    async def _move(self) -> None:
        thing = self.some(note=False)
        if not thing.note:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/move", {"key": f"m-{self.dice.getrandbits(60)}"}))

    async def _role(self) -> None:
        """A role changes: the stream ends within a look, and goes on where it was when it is opened again."""
        reader = next(one for one in self.readers if one.name == "viewer")
        await settled(self.house, self.company.org.id)
        self.role = "member" if self.role == "viewer" else "viewer"
        changed = done(await self.people[1].patch(f"/api/members/{reader.client.user_id}", {"role": self.role}))
        assert changed["role"] == self.role
        await hub_of(self.house)._judge()
        feed = reader.feed
        await feed.until(lambda: feed.events[-1].name == "bye")
        assert feed.events.pop().data == {"reason": "permissions"}
        for event in feed.events[reader.seen :]:
            self._take(reader, event, "role")
        reader.feed = await self.stack.enter_async_context(hearing(reader.client, last_event_id=feed.events[-1].id))
        reader.seen = 1

    async def _delete(self) -> None:
        thing = self.some()
        done(await thing.owner.delete(f"/api/{'notes' if thing.note else 'repo-obj'}/{thing.id}"))
        self.things.remove(thing)
        self.trashed.append(thing)

    async def _restore(self) -> None:
        thing = self.trashed.pop(self.dice.randrange(len(self.trashed)))
        done(await thing.owner.post(f"/api/trash/{thing.id}/restore"))
        self.things.append(thing)

    async def check(self, step: str) -> None:
        """Every feed against GET."""
        await settled(self.house, self.company.org.id)
        for reader in self.readers:
            shows = await listed(reader.client, reader.scope)
            for event in reader.feed.events[reader.seen :]:
                self._take(reader, event, step)
            reader.seen = len(reader.feed.events)
            assert reader.shown.keys() == shows.keys(), (step, reader.name, reader.shown.keys() ^ shows.keys())
            assert all(reader.shown[id] == version for id, version in shows.items()), (step, reader.name)

    def _take(self, reader: Reader, event: Any, step: str) -> None:
        assert event.name == "change", (step, reader.name, event)
        place = read_id(self.house.services.keys, UUID(reader.client.org_id), event.id, 0)
        assert not reader.places or reader.places[-1] < place, (step, reader.name, "out of order, or twice")
        reader.places.append(place)
        id, action = event.data["id"], event.data["action"]
        if action in ENDS:
            assert reader.shown.pop(id, None) is not None, (step, reader.name, "told of an end of what was never told")
        else:
            # Within one step a thing may be told of and lost again; what is told at its end must be there.
            reader.shown[id] = event.data["version"]


async def listed(client: Client, scope: str) -> dict[str, int]:
    """What GET shows, and in which version."""
    found: dict[str, int] = {}
    for path in ("/api/notes", "/api/repo"):
        page = await client.get(path, scope=scope, limit=200)
        if page.status == 200:
            found |= {one["id"]: number_of(one) for one in page["items"]}
    return found


def number_of(one: dict[str, Any]) -> int:
    version = one["version"]
    return int(version["number"] if isinstance(version, dict) else version)


def done(answer: Answer) -> Answer:
    assert answer.status < 300, answer.raw
    return answer


async def begin(house: Application, stack: AsyncExitStack, seed: int) -> History:
    """A company, everybody who could listen, and their feeds."""
    company = await found_company(house)
    other = await company.add_team()
    people = [await company.join(), await company.join("admin"), await company.join(team=other)]
    listening = [("owner", people[0], "team"), ("admin", people[1], "team"), ("other team", people[2], "team")]
    for name, scope, more in (
        ("viewer", "team", {"role": "viewer"}),
        ("org reader", "team", {"org_role": "org_reader"}),
        ("org reader, all", "org", {"org_role": "org_reader", "team": other}),
        ("org admin, all", "org", {"org_role": "org_admin"}),
        ("operator", "team", {"operator": True}),
        ("narrow notes", "team", {"scope": ["notes:read"]}),
        ("narrow files", "team", {"scope": ["files:read"], "team": other}),
        ("narrow other", "team", {"scope": ["chat:use"]}),
    ):
        listening.append((name, await company.join(**more), scope))
    listening.append(("foreign company", await (await found_company(house)).join("owner"), "team"))
    readers = []
    for name, client, scope in listening:
        feed = await stack.enter_async_context(hearing(client, f"?scope={scope}"))
        readers.append(Reader(name, client, scope, feed, seen=1))
    return History(house, company, Random(seed), people, readers, stack)


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_every_feed_tells_what_get_shows(house: Application, seed: int) -> None:
    async with AsyncExitStack() as stack:
        history = await begin(house, stack, seed)
        for number in range(STEPS):
            await history.check(f"{number} {await history.step()}")

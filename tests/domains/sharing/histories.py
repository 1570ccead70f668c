"""Histories of private things, drawn from a seed: what people write, rename, share, delete and run, and who can read which word."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from tests.domains.search import graph
from tests.domains.sharing.test_silence import OBSERVERS
from tests.domains.triggers.deputies import INPUTS, READS, Conspiracy, Plot
from tests.domains.workflows.engine import Engine
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE

# Steps of a history after its beginning.
FEWEST, MOST = 3, 7
# What a run makes of what it has read; the other ways to carry something out are `deputies`'.
CARRIED = ("output", "error")
# The file that fires is any file of the starter's.
READ = tuple(READS)


@dataclass(frozen=True, slots=True)
class Observer:
    """A colleague who writes nothing, and what their role lets them see."""

    name: str
    client: Client
    # Whether they see the values of colleagues' runs and jobs, and whether they may read the trail.
    admin: bool
    audits: bool


@dataclass(slots=True)
class Thing:
    """What one history is about, as it is now; its words are never used for anything else."""

    kind: str
    owner: Client
    id: str = ""
    visibility: str = "private"
    readers: set[str] = field(default_factory=set)
    state: Literal["there", "trashed", "purged"] = "there"
    # Every word that was ever in it, and those of what it is called now, which the trash and the trail go on to tell.
    words: dict[str, str] = field(default_factory=dict)
    name: dict[str, str] = field(default_factory=dict)
    key: str = ""

    @property
    def shared(self) -> bool:
        """Whether people share it at all; runs, jobs and translations are their owner's."""
        return self.kind in ("note", "file", "document", "conversation", "entity")

    @property
    def called(self) -> set[str]:
        """The words of its name."""
        return set(self.name.values())

    def tells(self, word: str, observer: Observer) -> bool:
        """Whether an observer can read this word of it today."""
        if not self.shared:
            return observer.admin and self.kind in ("run", "job")
        admitted = self.visibility == "team" or observer.client.user_id in self.readers
        # The trail goes on to tell what something in the trash is called to those who could read it there.
        named = self.state == "trashed" and word in self.called and observer.audits
        return admitted and (self.state == "there" or named)


Step = Callable[[Thing], Awaitable[None]]


def done(answer: Answer, *statuses: int) -> Answer:
    """The answer, which must be a success."""
    assert answer.status in (statuses or (200, 201, 202, 204)), answer.raw[:500]
    return answer


@dataclass(slots=True)
class Histories:
    """A team in which so many private things have a history each, and the observers who were there all the time."""

    conspiracy: Conspiracy
    dice: random.Random
    observers: list[Observer]
    people: list[Client]
    # How many of the words are searched for.
    searched: int
    things: list[Thing] = field(default_factory=list)
    # What can be asked for by name besides the things themselves.
    runs: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    job_kinds: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    slugs: list[str] = field(default_factory=list)
    triggers: list[str] = field(default_factory=list)

    @property
    def house(self) -> Any:
        return self.conspiracy.world.house

    @property
    def words(self) -> dict[str, Thing]:
        """Every word with the thing that it is a word of."""
        return {word: thing for thing in self.things for word in thing.words}

    def hidden_from(self, observer: Observer) -> dict[str, str]:
        """The words that an observer cannot read today, and what of."""
        return {
            word: f"{thing.words[word]} of a {thing.kind} that is {thing.state}"
            for word, thing in self.words.items()
            if not thing.tells(word, observer)
        }

    def asked_words(self) -> list[str]:
        """Words to search for, some of them where there are many."""
        words = sorted(self.words)
        return random.Random(len(words)).sample(words, min(len(words), self.searched))

    def ids(self, *kinds: str) -> list[str]:
        """The ids of things of these kinds, also of those that are gone."""
        return [thing.id for thing in self.things if thing.kind in kinds and thing.id]

    async def play(self, count: int) -> None:
        """So many histories, each kind as often as the others, in an order and with steps of the dice."""
        kinds = [BEGINNINGS[number % len(BEGINNINGS)] for number in range(count)]
        self.dice.shuffle(kinds)
        await self._arm()
        async with Engine(self.house).working():
            for kind in kinds:
                thing = await getattr(self, f"_begin_{kind}")()
                self.things.append(thing)
                await self._go_on(thing)
            await self._settled()

    async def _go_on(self, thing: Thing) -> None:
        for _ in range(self.dice.randint(FEWEST, MOST) if thing.shared else 0):
            if thing.state == "purged":
                return
            steps = self._steps_of(thing)
            await self.dice.choice(steps)(thing)

    def _steps_of(self, thing: Thing) -> list[Step]:
        if thing.state == "trashed":
            return [self._restore, self._restore, self._purge]
        common = [self._share, self._share, self._withdraw, self._show, self._hide, self._delete]
        if thing.kind == "note":
            return [*common, self._edit_note, self._rename_note, self._name_version]
        own: dict[str, list[Step]] = {
            "document": [self._edit_document, self._rename_document, self._move],
            "file": [self._write_file, self._move],
            "entity": [self._write_file, self._move],
            "conversation": [self._ask_again, self._move],
        }
        return common + own[thing.kind]

    async def _arm(self) -> None:
        """A trigger of an admin's on what people put below plans/, so that its history has their keys."""
        plot = Plot(0, "the file that fires", "output", "private", "alice", consent=False, by_hand=False)
        alice = self.conspiracy.alice
        done(await alice.post("/api/workflows", {**plot.spec(), "slug": "on-upload"}))
        given = self.conspiracy.given()
        body = {"workflow_slug": "on-upload", "match_prefix": "plans/", "input": given}
        self.triggers.append(done(await alice.post("/api/doc-triggers", body))["id"])
        self.slugs.append("on-upload")

    async def _settled(self) -> None:
        """Until nothing waits or runs."""
        waiting = "SELECT count(*) FROM jobs WHERE org_id = $1 AND state IN ('queued', 'scheduled', 'running')"
        async with asyncio.timeout(PATIENCE):
            while (await self.rows(waiting))[0][0]:
                await asyncio.sleep(0.02)
        self.runs = [str(row[0]) for row in await self.rows("SELECT id FROM runs WHERE org_id = $1 ORDER BY id")]
        jobs = await self.rows("SELECT id, kind FROM jobs WHERE org_id = $1 ORDER BY id")
        self.jobs, self.job_kinds = [str(row[0]) for row in jobs], sorted({row[1] for row in jobs})

    async def rows(self, sql: str) -> list[Any]:
        """Rows of the company, as the owner of the database reads them."""
        return await run_as_owner(self.house.services.settings.database_url, sql, self.conspiracy.company.org.id)

    def _word(self, thing: Thing, of: str, *, name: bool = False) -> str:
        word = f"canary{self.dice.randbytes(6).hex()}"
        thing.words[word] = of
        if name:
            thing.name[of] = word
        return word

    def _somebody(self, kind: str) -> Thing:
        return Thing(kind, self.dice.choice(self.people))

    # How a history begins

    async def _begin_note(self) -> Thing:
        thing = self._somebody("note")
        body = {"title": self._word(thing, "title", name=True), "body": self._word(thing, "body")}
        thing.id = done(await thing.owner.post("/api/notes", body))["id"]
        return thing

    async def _begin_file(self) -> Thing:
        thing = self._somebody("file")
        thing.key = f"plans/{self._word(thing, 'key', name=True)}.txt"
        await self._write_file(thing)
        return thing

    async def _begin_document(self) -> Thing:
        thing = self._somebody("document")
        title, body = self._word(thing, "title", name=True), self._word(thing, "body")
        made = done(await thing.owner.post("/api/documents", {"title": title, "body": body}))
        thing.id, thing.key = made["id"], made["key"]
        # Its key is made of its first title.
        thing.name["key"] = title
        return thing

    async def _begin_conversation(self) -> Thing:
        thing = self._somebody("conversation")
        before = {one["id"] for one in (await thing.owner.get("/api/repo", prefix="chats/", limit=200))["items"]}
        question = self._word(thing, "question", name=True)
        done(await thing.owner.post("/api/ai/chat", {"prompt": question, "conversation": "new"}))
        kept = (await thing.owner.get("/api/repo", prefix="chats/", limit=200))["items"]
        [made] = [one for one in kept if one["id"] not in before]
        thing.id, thing.key = made["id"], made["key"]
        return thing

    async def _begin_entity(self) -> Thing:
        thing = await self._begin_file()
        thing.kind = "entity"
        names = [self._word(thing, "an entity's name"), self._word(thing, "another entity's name")]
        self.entities += await graph.say(self.house, thing.owner, thing.id, *names)
        return thing

    async def _begin_run(self) -> Thing:
        return await self._run(self.dice.choice(READ), "output")

    async def _begin_failed_run(self) -> Thing:
        return await self._run(self.dice.choice(READ), "error")

    async def _run(self, read: str, carry: str) -> Thing:
        thing, number = self._somebody("run"), len(self.slugs)
        plot = Plot(number, read, carry, "private", "alice", consent=False, by_hand=True)
        spec = plot.spec()
        spec["inputs"]["remark"] = {"type": "string"}
        done(await self.conspiracy.alice.post("/api/workflows", spec))
        given = {name: self._given(name) for name in INPUTS} | {"remark": self._word(thing, "input")}
        started = done(await thing.owner.post(f"/api/workflows/{plot.slug}/run", {"input": given}))
        self.slugs.append(plot.slug)
        thing.id = started["id"]
        async with asyncio.timeout(PATIENCE):
            while (await thing.owner.get(f"/api/runs/{thing.id}"))["state"] == "running":
                await asyncio.sleep(0.02)
        return thing

    def _given(self, name: str) -> str:
        kinds = {"note": ("note",), "document": ("document",)}.get(name, ("file", "entity"))
        made = [one.id for one in self.things if one.kind in kinds and one.state == "there"]
        fixed = {**self.conspiracy.given(), "object_id": self.conspiracy.world.ids["file"]}
        return fixed[name] if name in ("word", "shared") or not made else self.dice.choice(made)

    async def _begin_job(self) -> Thing:
        thing = self._somebody("job")
        text = {"text": f"{self._word(thing, 'input')} and so on"}
        made = done(await thing.owner.post("/api/jobs", {"kind": "x.example-tools.word-count", "input": text}))
        thing.id = made["id"]
        return thing

    async def _begin_failed_job(self) -> Thing:
        thing = await self._begin_job()
        await self._settled()
        await run_as_owner(
            self.house.services.settings.database_url,
            "UPDATE jobs SET state = 'failed', error = $2, result = NULL WHERE id = $1",
            UUID(thing.id),
            f"the reply said {self._word(thing, 'error')}",
        )
        return thing

    async def _begin_translation(self) -> Thing:
        thing = self._somebody("translation")
        text = f"{self._word(thing, 'text')} leaves on Monday"
        thing.id = done(await thing.owner.post("/api/translate", {"text": text, "target": "es"}))["id"]
        return thing

    async def _begin_question(self) -> Thing:
        thing = self._somebody("question")
        done(await thing.owner.post("/api/ai/chat", {"prompt": self._word(thing, "prompt")}))
        return thing

    # How it goes on

    async def _edit_note(self, thing: Thing) -> None:
        done(await thing.owner.put(f"/api/notes/{thing.id}", {"body": self._word(thing, "body")}))

    async def _rename_note(self, thing: Thing) -> None:
        done(await thing.owner.put(f"/api/notes/{thing.id}", {"title": self._word(thing, "title", name=True)}))

    async def _name_version(self, thing: Thing) -> None:
        body = {"name": self._word(thing, "name of a version")}
        done(await thing.owner.put(f"/api/notes/{thing.id}/versions/1", body))

    async def _edit_document(self, thing: Thing) -> None:
        done(await thing.owner.put(f"/api/documents/{thing.id}", {"body": self._word(thing, "body")}))

    async def _rename_document(self, thing: Thing) -> None:
        done(await thing.owner.put(f"/api/documents/{thing.id}", {"title": self._word(thing, "title", name=True)}))

    async def _write_file(self, thing: Thing) -> None:
        body = f"plan {self._word(thing, 'content')}".encode()
        sent = await thing.owner.put(f"/api/repo/{thing.key}", body, headers={"content-type": "text/plain"})
        thing.id = done(sent)["id"]

    async def _ask_again(self, thing: Thing) -> None:
        body = {"prompt": self._word(thing, "question"), "conversation": thing.id}
        done(await thing.owner.post("/api/ai/chat", body))

    async def _move(self, thing: Thing) -> None:
        thing.key = f"plans/{self._word(thing, 'key', name=True)}.txt"
        done(await thing.owner.post(f"/api/repo-obj/{thing.id}/move", {"key": thing.key}))

    async def _share(self, thing: Thing) -> None:
        reader = self.dice.choice(self.observers).client.user_id
        if thing.kind == "note":
            body = {"user_id": reader, "permission": self.dice.choice(["notes:read", "notes:write"])}
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", body))
        else:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/share", {"user_id": reader}))
            thing.visibility = "shared" if thing.visibility == "private" else thing.visibility
        thing.readers.add(reader)

    async def _withdraw(self, thing: Thing) -> None:
        if not thing.readers:
            return
        reader = self.dice.choice(sorted(thing.readers))
        if thing.kind == "note":
            done(await thing.owner.post(f"/api/notes/{thing.id}/share", {"user_id": reader, "permission": None}))
        else:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/unshare", {"user_id": reader}))
        thing.readers.discard(reader)

    async def _show(self, thing: Thing) -> None:
        await self._set_visibility(thing, "team")

    async def _hide(self, thing: Thing) -> None:
        await self._set_visibility(thing, "private")
        if thing.kind != "note":
            # It ends every share; a note keeps them.
            thing.readers.clear()

    async def _set_visibility(self, thing: Thing, visibility: str) -> None:
        body = {"visibility": visibility}
        if thing.kind == "note":
            done(await thing.owner.put(f"/api/notes/{thing.id}", body))
        else:
            done(await thing.owner.post(f"/api/repo-obj/{thing.id}/visibility", body))
        thing.visibility = visibility

    async def _delete(self, thing: Thing) -> None:
        place = "notes" if thing.kind == "note" else "repo-obj"
        done(await thing.owner.delete(f"/api/{place}/{thing.id}"))
        thing.state = "trashed"

    async def _restore(self, thing: Thing) -> None:
        done(await thing.owner.post(f"/api/trash/{thing.id}/restore", {}))
        thing.state = "there"

    async def _purge(self, thing: Thing) -> None:
        done(await thing.owner.delete(f"/api/trash/{thing.id}"))
        thing.state = "purged"


BEGINNINGS = (
    "note", "file", "document", "conversation", "run", "failed_run", "job", "failed_job", "translation", "entity", "question",
)  # fmt: skip


async def begin(conspiracy: Conspiracy, seed: int, searched: int) -> Histories:
    """The people of a team, and nothing written yet but what the conspirators are after."""
    company = conspiracy.company
    observers = []
    for name, terms in OBSERVERS.items():
        admin = terms["role"] in ("admin", "owner")
        observers.append(Observer(name, await company.join(**terms), admin, admin or "org_role" in terms))
    people = [conspiracy.world.mia, await company.join("member"), await company.join("admin")]
    return Histories(conspiracy, random.Random(seed), observers, people, searched)

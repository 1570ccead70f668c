"""A model of notes, objects and their trash beside the real ones: whatever two people do in whatever order, the two agree."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from atrium.boot.assemble import Application, assemble
from atrium.engine.repository import release
from atrium.product.trash import service as trash
from tests.domains.trash.signing import signed_headers
from tests.domains.trash.things import Marker, Thing
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import found_company
from tests.support.servers import settings_for
from tests.support.state_machines import run_machine

pytestmark = pytest.mark.finding

T = TypeVar("T")
STEPS = 5_000 if os.environ.get("ATRIUM_FULL") else 300
PER_RUN = 30
# The last two are in a bucket of their own, whose client turned versioning on.
VERSIONED = "kept"
KEYS = ("a", "b/c", f"{VERSIONED}/a", f"{VERSIONED}/b")
PEOPLE = st.integers(0, 1)
TEXTS = st.text("abc ", max_size=12)
NOTE_SHARES = ("notes:read", "notes:write", "notes:delete", "notes:manage", None)
OBJECT_SHARES = ("view", "edit", "manage", None)


class Trash(RuleBasedStateMachine):
    """A member and a colleague who may be the team's admin; every rule is a thing that one of them does."""

    house: Application
    loop: asyncio.AbstractEventLoop
    steps = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize(admin=st.booleans())
    def found(self, admin: bool) -> None:
        company = self.run(found_company(self.house))
        self.people: list[Client] = [
            self.run(company.join("member")),
            self.run(company.join("admin" if admin else "member")),
        ]
        self.admins = (False, admin)
        self.keys = [self.run(person.post("/api/s3/credentials", {"name": "model"})).body for person in self.people]
        self.things: list[Thing] = []
        assert self.s3(0, "PUT", f"/{VERSIONED}").status == 200
        enabled = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        assert self.s3(0, "PUT", f"/{VERSIONED}?versioning=", enabled).status == 200

    def s3(self, person: int, method: str, path: str, body: bytes = b"") -> Answer:
        headers = signed_headers(self.keys[person], method, f"http://atrium.test/s3{path}", body)
        return self.run(self.people[person].send(method, f"/s3{path}", body or None, headers=headers))

    def ask(self, person: int, method: str, path: str, body: Any = None) -> Answer:
        return self.run(self.people[person].send(method, path, body))

    def may(self, thing: Thing, person: int, permission: str) -> bool:
        return thing.may(person, self.admins[person], permission)

    def expected(self, thing: Thing, person: int, permission: str) -> int:
        """The status of doing something to a thing by its id."""
        if not thing.live or not self.may(thing, person, "read"):
            return 404
        return 200 if self.may(thing, person, permission) else 403

    def at(self, key: str) -> Thing | None:
        return next((one for one in self.things if one.live and one.kind == "object" and one.title == key), None)

    def of(self, kind: str) -> list[Thing]:
        return [one for one in self.things if one.kind == kind]

    # Writing

    @rule(person=PEOPLE, text=TEXTS, visibility=st.sampled_from(["private", "team"]))
    def write_note(self, person: int, text: str, visibility: str) -> None:
        title = f"n{len(self.things)}"
        made = self.ask(person, "POST", "/api/notes", {"title": title, "body": text, "visibility": visibility})
        note = Thing(made["id"], "note", person, visibility, title)
        note.save(1, person, text)
        self.things.append(note)

    @precondition(lambda self: self.of("note"))
    @rule(data=st.data(), person=PEOPLE, text=TEXTS)
    def overwrite_note(self, data: st.DataObject, person: int, text: str) -> None:
        note = data.draw(st.sampled_from(self.of("note")))

        answer = self.ask(person, "PUT", f"/api/notes/{note.id}", {"body": text})

        assert answer.status == self.expected(note, person, "write")
        if answer.status == 200:
            note.save(answer["version"], person, text)

    @precondition(lambda self: self.of("note"))
    @rule(data=st.data(), person=PEOPLE)
    def restore_version(self, data: st.DataObject, person: int) -> None:
        note = data.draw(st.sampled_from(self.of("note")))
        number = data.draw(st.sampled_from(list(note.texts)))

        answer = self.ask(person, "POST", f"/api/notes/{note.id}/restore", {"version": number})

        assert answer.status == self.expected(note, person, "write")
        if answer.status == 200:
            note.save(answer["version"], person, note.texts[number])

    @rule(person=PEOPLE, key=st.sampled_from(KEYS), text=TEXTS, over_s3=st.booleans())
    def write_object(self, person: int, key: str, text: str, over_s3: bool) -> None:
        there = self.at(key)
        if over_s3:
            answer = self.s3(person, "PUT", self.address(key), text.encode())
        else:
            answer = self.ask(person, "PUT", f"/api/repo/{key}", text.encode())

        if there is None:
            assert answer.status == (200 if over_s3 else 201), answer.raw
            there = self.found_at(person, key)
            there.save(1, person, text)
        elif not self.may(there, person, "read"):
            assert answer.status == (403 if over_s3 else 409)
        else:
            assert answer.status == (200 if self.may(there, person, "write") else 403)
            if answer.status == 200:
                there.save(max(there.texts) + 1, person, text)

    def found_at(self, person: int, key: str) -> Thing:
        """The object that was just made at a key."""
        [listed] = [
            one for one in self.ask(person, "GET", f"/api/repo?prefix={key}&limit=200")["items"] if one["key"] == key
        ]
        made = Thing(listed["id"], "object", person, "private", key)
        self.things.append(made)
        return made

    def address(self, key: str) -> str:
        return f"/{key}" if key.startswith(f"{VERSIONED}/") else f"/files/{key}"

    # Sharing

    @precondition(lambda self: self.of("note"))
    @rule(data=st.data(), person=PEOPLE, permission=st.sampled_from(NOTE_SHARES))
    def share_note(self, data: st.DataObject, person: int, permission: str | None) -> None:
        note = data.draw(st.sampled_from(self.of("note")))
        other = 1 - person

        answer = self.ask(
            person, "POST", f"/api/notes/{note.id}/share",
            {"user_id": self.people[other].user_id, "permission": permission},
        )  # fmt: skip

        status = self.expected(note, person, "manage")
        assert answer.status == (400 if status == 200 and other == note.owner else status)
        if answer.status == 200:
            self.give(note, other, permission)

    @precondition(lambda self: self.of("object"))
    @rule(data=st.data(), person=PEOPLE, capability=st.sampled_from(OBJECT_SHARES))
    def share_object(self, data: st.DataObject, person: int, capability: str | None) -> None:
        stored, other = data.draw(st.sampled_from(self.of("object"))), 1 - person
        body: dict[str, Any] = {"user_id": self.people[other].user_id}
        verb = "unshare" if capability is None else "share"

        answer = self.ask(
            person, "POST", f"/api/repo-obj/{stored.id}/{verb}", body | ({"capability": capability} if capability else {})
        )  # fmt: skip

        status = self.expected(stored, person, "manage")
        own = other == stored.owner and capability is not None
        assert answer.status == (400 if status == 200 and own else status)
        if answer.status == 200 and other != stored.owner:
            self.give(stored, other, capability)
            if capability and stored.visibility == "private":
                stored.visibility = "shared"

    def give(self, thing: Thing, other: int, share: str | None) -> None:
        if share is None:
            thing.grants.pop(other, None)
        else:
            thing.grants[other] = share

    @precondition(lambda self: self.things)
    @rule(data=st.data(), person=PEOPLE, visibility=st.sampled_from(["private", "team"]))
    def show(self, data: st.DataObject, person: int, visibility: str) -> None:
        thing = data.draw(st.sampled_from(self.things))
        if thing.kind == "note":
            answer = self.ask(person, "PUT", f"/api/notes/{thing.id}", {"visibility": visibility})
            status = self.expected(thing, person, "write")
            if status == 200 and visibility != thing.visibility:
                status = self.expected(thing, person, "manage")
        else:
            answer = self.ask(person, "POST", f"/api/repo-obj/{thing.id}/visibility", {"visibility": visibility})
            status = self.expected(thing, person, "manage")

        assert answer.status == status
        if status == 200:
            thing.visibility = visibility
            if thing.kind == "note":
                thing.save(answer["version"], person, thing.current)
            elif visibility == "private":
                thing.grants.clear()

    # Deleting

    @precondition(lambda self: self.things)
    @rule(data=st.data(), person=PEOPLE)
    def delete(self, data: st.DataObject, person: int) -> None:
        thing = data.draw(st.sampled_from(self.things))

        answer = self.ask(person, "DELETE", f"/api/{'notes' if thing.kind == 'note' else 'repo-obj'}/{thing.id}")

        assert answer.status == self.expected(thing, person, "delete")
        if answer.status == 200:
            thing.trashed_by = person

    @rule(person=PEOPLE, key=st.sampled_from(KEYS))
    def delete_over_s3(self, person: int, key: str) -> None:
        there, kept = self.at(key), key.startswith(f"{VERSIONED}/")

        answer = self.s3(person, "DELETE", self.address(key))

        if there is None:
            assert answer.status == 204
            if kept:
                # A marker for a key that has nothing, as S3 leaves one.
                found = self.run(self.stored_at(key))
                marked = Thing(str(found), "object", person, "private", key)
                marked.save(1, person, Marker)
                self.things.append(marked)
        else:
            allowed = self.may(there, person, "delete")
            assert answer.status == (204 if allowed else 403)
            if allowed and kept:
                there.save(max(there.texts) + 1, person, Marker)
            elif allowed:
                there.trashed_by = person

    async def stored_at(self, key: str) -> UUID:
        [row] = await run_as_owner(
            self.house.services.settings.database_url,
            "SELECT id FROM objects WHERE team_id = $1 AND key = $2 AND trashed_at IS NULL",
            UUID(self.people[0].team_id),
            key,
        )
        return UUID(str(row["id"]))

    # The trash

    @precondition(lambda self: self.things)
    @rule(data=st.data(), person=PEOPLE, key=st.none() | st.sampled_from(KEYS[:2]))
    def restore(self, data: st.DataObject, person: int, key: str | None) -> None:
        thing = data.draw(st.sampled_from(self.things))
        body = {"key": key} if key and thing.kind == "object" else {}

        answer = self.ask(person, "POST", f"/api/trash/{thing.id}/restore", body)

        if not (thing.trashed and thing.sees_trashed(person, self.admins[person])):
            assert answer.status == 404
        elif thing.kind == "object" and self.at(body.get("key", thing.title)) is not None:
            assert (answer.status, answer.code) == (409, "repository.key_taken")
        else:
            assert answer.status == 200, answer.raw
            thing.trashed_by = None
            thing.title = body.get("key", thing.title)

    @precondition(lambda self: self.things)
    @rule(data=st.data(), person=PEOPLE)
    def purge(self, data: st.DataObject, person: int) -> None:
        thing = data.draw(st.sampled_from(self.things))

        answer = self.ask(person, "DELETE", f"/api/trash/{thing.id}")

        allowed = thing.trashed and thing.sees_trashed(person, self.admins[person])
        assert answer.status == (200 if allowed else 404)
        thing.purged = thing.purged or allowed

    @rule(person=PEOPLE)
    def empty(self, person: int) -> None:
        doomed = [one for one in self.trash_of(person) if one.trashed_by == person]

        assert self.ask(person, "DELETE", "/api/trash").body == {"purged": len(doomed)}

        for thing in doomed:
            thing.purged = True

    @rule(data=st.data(), days=st.sampled_from([29, 31]))
    def let_time_pass(self, data: st.DataObject, days: int) -> None:
        """Some of what is in the trash has been there for longer, and housekeeping comes by."""
        trashed = [one for one in self.things if one.trashed]
        old = data.draw(st.lists(st.sampled_from(trashed), unique_by=lambda one: one.id)) if trashed else []
        self.run(self.grow_old([UUID(one.id) for one in old], days))
        self.run(trash.purge_due(self.house.services))
        self.run(release.sweep(self.house.services, seconds=0))
        for thing in old:
            thing.purged = days > 30

    async def grow_old(self, ids: list[UUID], days: int) -> None:
        for table in ("notes", "objects"):
            await run_as_owner(
                self.house.services.settings.database_url,
                f"UPDATE {table} SET trashed_at = now() - make_interval(days => $2::int) WHERE id = ANY($1)",
                ids,
                days,
            )
        for table, column in (("note_grants", "note_id"), ("object_grants", "object_id")):
            await run_as_owner(
                self.house.services.settings.database_url,
                f"UPDATE {table} SET trashed_at = now() - make_interval(days => $2::int) WHERE {column} = ANY($1)",
                ids,
                days,
            )

    def trash_of(self, person: int) -> list[Thing]:
        return [one for one in self.things if one.trashed and one.sees_trashed(person, self.admins[person])]

    # What must hold after every step

    @invariant()
    def both_are_shown_what_the_model_says(self) -> None:
        if not hasattr(self, "things"):
            return
        for person in (0, 1):
            live = [one for one in self.things if one.live and self.may(one, person, "read")]
            notes = {one["id"]: one["body"] for one in self.ask(person, "GET", "/api/notes?limit=200")["items"]}
            stored = {one["id"]: one["key"] for one in self.ask(person, "GET", "/api/repo?limit=200")["items"]}
            assert notes == {one.id: one.current for one in live if one.kind == "note"}
            assert stored == {one.id: one.title for one in live if one.kind == "object" and one.current is not Marker}
            found = self.ask(person, "GET", "/api/trash?limit=200")["items"]
            assert {one["id"]: (one["kind"], one["deleted_by"]) for one in found} == {
                one.id: (one.kind, self.people[one.trashed_by or 0].user_id) for one in self.trash_of(person)
            }
            assert found == sorted(found, key=lambda one: (one["deleted_at"], one["id"]), reverse=True)

    @invariant()
    def the_quota_counts_what_is_kept(self) -> None:
        if not hasattr(self, "things"):
            return
        Trash.steps += 1
        lines = self.ask(0, "GET", "/api/usage")["items"]
        used = {one["level"]: one["used"] for one in lines if one["dimension"] == "storage.bytes"}
        assert used == dict.fromkeys(("team", "org"), sum(one.size for one in self.things))

    @precondition(lambda self: self.things)
    @rule(data=st.data(), person=PEOPLE)
    def look_closely(self, data: st.DataObject, person: int) -> None:
        """One thing with everything that belongs to it."""
        thing = data.draw(st.sampled_from(self.things))
        base = f"/api/{'notes' if thing.kind == 'note' else 'repo-obj'}/{thing.id}"
        assert self.ask(person, "GET", base).status == self.expected(thing, person, "read")
        shares = self.ask(person, "GET", f"{base}/{'shares' if thing.kind == 'note' else 'grants'}")
        assert shares.status == self.expected(thing, person, "manage")
        if shares.status == 200:
            name, held = ("user_id", "permission") if thing.kind == "note" else ("principal_id", "capability")
            told = {one[name]: one[held] for one in shares["items"]}
            assert told == {self.people[other].user_id: share for other, share in thing.grants.items()}
        if self.expected(thing, person, "read") == 200:
            self.compare_versions(thing, person, base)

    def compare_versions(self, thing: Thing, person: int, base: str) -> None:
        if thing.kind == "note":
            listed = self.ask(person, "GET", f"{base}/versions?limit=200")["items"]
            texts = {
                one["number"]: self.ask(person, "GET", f"{base}/versions/{one['number']}")["body"] for one in listed
            }
            assert texts == thing.texts
            authors = {number: self.people[author].user_id for number, author in thing.authors.items()}
            assert {one["number"]: one["created_by"] for one in listed} == authors
        else:
            listed = self.ask(person, "GET", base)["versions"]
            assert {one["number"]: one["deleted"] for one in listed} == {
                number: text is Marker for number, text in thing.texts.items()
            }
            for number, text in thing.texts.items():
                answer = self.ask(person, "GET", f"{base}/content?version={number}")
                assert (
                    (answer.status, answer.raw) == (200, text.encode()) if text is not Marker else answer.status == 404
                )


async def open_house_without_housekeeping(url: str, folder: Path) -> Application:
    """Only the model decides when something is purged or swept."""
    house = assemble(settings_for(url, data_dir=folder, s3_extra_buckets=True, extraction=False, blob_keep_hours=0))
    await house.services.database.open()
    return house


@pytest.mark.timeout(3600)
def test_notes_objects_and_trash_agree_with_their_model_after_every_step(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        loop, database = runner.get_loop(), fresh_database()
        url = loop.run_until_complete(database.__aenter__())
        Trash.loop, Trash.steps = loop, 0
        Trash.house = loop.run_until_complete(open_house_without_housekeeping(url, tmp_path))
        try:
            run_machine(Trash, STEPS, PER_RUN)
        finally:
            loop.run_until_complete(Trash.house.services.database.close())
            loop.run_until_complete(database.__aexit__(None, None, None))
    print(f"{Trash.steps} steps")

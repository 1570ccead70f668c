"""What somebody leaves behind: what they shared goes to a successor, what nobody else saw to the trash or along with it."""

from typing import Literal
from uuid import UUID

import msgspec
import pytest

from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import trash
from atrium.product.notes.model import NOTES
from atrium.seams.context import ANONYMOUS, Context, Operation
from atrium.seams.sharing import HandedOver
from tests.support.client import Client
from tests.support.people import Company


def operation_of(company: Company, person: Client) -> Operation:
    who = msgspec.structs.replace(
        ANONYMOUS, org_id=UUID(person.org_id), team_id=UUID(person.team_id), user_id=UUID(person.user_id)
    )
    return Operation(who=who, services=company.house.services)


async def hand_over(
    company: Company, admin: Client, leaving: Client, to: Client, private: Literal["trash", "transfer"]
) -> tuple[HandedOver, HandedOver]:
    async with operation_of(company, admin).begin() as ctx:
        return await _both(ctx, UUID(leaving.user_id), UUID(to.user_id), private)


async def _both(
    ctx: Context, owner_id: UUID, to: UUID, private: Literal["trash", "transfer"]
) -> tuple[HandedOver, HandedOver]:
    return (
        await trash.hand_over(ctx, NOTES, owner_id, to, private),
        await trash.hand_over(ctx, OBJECTS, owner_id, to, private),
    )


class Left:
    """Everything one person has: of each kind one private, one shared with somebody, one the team's, one in the trash."""

    def __init__(self, owner: Client) -> None:
        self.owner, self.notes, self.objects = owner, dict[str, str](), dict[str, str]()

    async def fill(self, reader: Client) -> "Left":
        for name, visibility in {"private": "private", "shared": "private", "team": "team", "trashed": "team"}.items():
            note = await self.owner.post("/api/notes", {"title": name, "visibility": visibility})
            stored = await self.owner.put(f"/api/repo/{name}?visibility={visibility}", name.encode())
            self.notes[name], self.objects[name] = note["id"], stored["id"]
        await self.owner.put(f"/api/notes/{self.notes['shared']}", {"body": "more"})
        share = {"user_id": reader.user_id}
        await self.owner.post(f"/api/notes/{self.notes['shared']}/share", {**share, "permission": "notes:read"})
        await self.owner.post(f"/api/repo-obj/{self.objects['shared']}/share", share)
        await self.owner.delete(f"/api/notes/{self.notes['trashed']}")
        await self.owner.delete(f"/api/repo-obj/{self.objects['trashed']}")
        return self


async def test_what_was_shared_is_the_successors_and_the_rest_is_in_nobody_elses_trash(
    company: Company, alice: Client, bob: Client, admin: Client
) -> None:
    reader = await company.join("member")
    left = await Left(alice).fill(reader)

    handed = await hand_over(company, admin, alice, bob, "trash")

    assert [(one.moved, one.trashed) for one in handed] == [(3, 1), (3, 1)]
    for name in ("shared", "team"):
        assert (await bob.get(f"/api/notes/{left.notes[name]}"))["owner_id"] == bob.user_id
        assert (await bob.get(f"/api/repo-obj/{left.objects[name]}"))["owner_id"] == bob.user_id
    assert (await reader.get(f"/api/notes/{left.notes['shared']}")).status == 200
    assert [one["id"] for one in (await reader.get("/api/repo", shared=1))["items"]] == [left.objects["shared"]]
    trashed = {left.notes["trashed"], left.objects["trashed"]}
    assert {one["id"] for one in (await bob.get("/api/trash"))["items"]} == trashed
    assert {one["id"] for one in (await admin.get("/api/trash"))["items"]} == trashed
    for person in (bob, admin):
        assert (await person.get(f"/api/notes/{left.notes['private']}")).status == 404
        assert (await person.post(f"/api/trash/{left.objects['private']}/restore", {})).status == 404


async def test_with_the_right_to_it_a_successor_gets_everything(
    company: Company, alice: Client, bob: Client, admin: Client
) -> None:
    left = await Left(alice).fill(bob)

    handed = await hand_over(company, admin, alice, bob, "transfer")

    assert [(one.moved, one.trashed) for one in handed] == [(4, 0), (4, 0)]
    assert (await bob.get(f"/api/notes/{left.notes['private']}"))["owner_id"] == bob.user_id
    assert (await bob.get(f"/api/repo-obj/{left.objects['private']}/content")).raw == b"private"
    # What was shared with the successor is theirs now: nothing is shared with oneself.
    assert (await bob.get(f"/api/notes/{left.notes['shared']}/shares"))["items"] == []
    assert (await bob.get(f"/api/repo-obj/{left.objects['shared']}/grants"))["items"] == []


async def test_who_wrote_what_stays_as_it_was(company: Company, alice: Client, bob: Client, admin: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "t", "visibility": "team"}))["id"]

    await hand_over(company, admin, alice, bob, "trash")

    [version] = (await bob.get(f"/api/notes/{note}/versions"))["items"]
    assert version["created_by"] == alice.user_id


@pytest.mark.parametrize("private", ["trash", "transfer"])
async def test_others_and_other_companies_keep_theirs(
    company: Company, alice: Client, bob: Client, admin: Client, stranger: Client, private: Literal["trash", "transfer"]
) -> None:
    kept = [(person, (await person.post("/api/notes", {"title": "t"}))["id"]) for person in (bob, admin, stranger)]

    await hand_over(company, admin, alice, bob, private)

    for person, note in kept:
        assert (await person.get(f"/api/notes/{note}"))["owner_id"] == person.user_id

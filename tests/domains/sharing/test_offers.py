"""What a reply offers is not refused, and what it does not offer is: for each way to have a thing before one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.people import Company

EVERY = ("read", "write", "delete", "manage")
# A level of each kind, as the wire calls it.
LEVELS = {
    "note": ("notes:read", "notes:write", "notes:delete", "notes:manage"),
    "document": ("view", "edit", "manage"),
    "object": ("view", "edit", "manage"),
}
ACTORS: dict[str, dict[str, Any] | None] = {
    "owner": None,
    "viewer": {"role": "viewer"},
    "member": {"role": "member"},
    "admin": {"role": "admin"},
    "company's reader": {"role": "viewer", "org_role": "org_reader", "elsewhere": True},
    "somebody of another team": {"role": "admin", "elsewhere": True},
    "narrow token of an admin": {"role": "admin", "scope": ["notes:read", "files:read"]},
    "token that writes": {"role": "admin", "scope": ["notes:read", "notes:write", "files:read", "files:write"]},
    "token that only deletes": {"role": "admin", "scope": ["notes:read", "notes:delete", "files:read", "files:delete"]},
}


@dataclass(slots=True)
class Kind:
    """How one kind of thing is made, read, changed, deleted and shared over HTTP."""

    name: str
    path: str

    async def make(self, owner: Client, title: str, visibility: str) -> str:
        if self.name == "object":
            made = await owner.send("PUT", f"/api/repo/{title}.bin", b"bytes", query={"visibility": visibility})
        else:
            made = await owner.post(self.path, {"title": title, "body": "text", "visibility": visibility})
        assert made.status == 201, made.raw
        assert made["abilities"] == [*EVERY]
        return str(made["id"])

    async def share(self, owner: Client, id: str, with_: Client, level: str) -> None:
        assert (await self.grant(owner, id, with_.user_id, level)).status in (200, 201)

    async def grant(self, by: Client, id: str, user_id: str, level: str) -> Any:
        if self.name == "note":
            return await by.post(f"/api/notes/{id}/share", {"user_id": user_id, "permission": level})
        body = {"principal_type": "user", "principal_id": user_id, "capability": level}
        return await by.post(f"/api/repo-obj/{id}/share", body)

    async def attempt(self, by: Client, id: str, ability: str, other: Client) -> Any:
        """Do what the ability is for."""
        tries: dict[str, Callable[[], Awaitable[Any]]] = {
            "read": lambda: by.get(f"{self.path}/{id}"),
            "write": lambda: self._write(by, id),
            "delete": lambda: by.delete(f"{self.path}/{id}"),
            "manage": lambda: self.grant(by, id, other.user_id, LEVELS[self.name][0]),
        }
        return await tries[ability]()

    async def _write(self, by: Client, id: str) -> Any:
        if self.name == "object":
            return await by.post(f"/api/repo-obj/{id}/move", {"key": f"moved/{id}.bin"})
        return await by.put(f"{self.path}/{id}", {"body": "other text"})


KINDS = (Kind("note", "/api/notes"), Kind("document", "/api/documents"), Kind("object", "/api/repo-obj"))


async def _judge(kind: Kind, owner: Client, by: Client, other: Client, make: Callable[[], Awaitable[str]]) -> list[str]:
    """What is offered on a new thing, after each of the four was tried on a thing of its own."""
    shown = await by.get(f"{kind.path}/{await make()}")
    offered = shown["abilities"] if shown.status == 200 else []
    for ability in EVERY:
        tried = await kind.attempt(by, await make(), ability, other)
        assert (tried.status < 300) == (ability in offered), (kind.name, ability, offered, tried.status, tried.raw)
    return list(offered)


async def _actor(company: Company, owner: Client, name: str) -> Client:
    told = ACTORS[name]
    if told is None:
        return owner
    elsewhere = bool(told.get("elsewhere"))
    team = await company.add_team() if elsewhere else None
    return await company.join(
        str(told["role"]),
        team=team,
        org_role=told.get("org_role"),
        scope=told.get("scope"),
    )


EXPECTED = {
    "owner": [*EVERY],
    "viewer": ["read"],
    "member": ["read", "write"],
    "admin": [*EVERY],
    "company's reader": ["read"],
    "somebody of another team": [],
    "narrow token of an admin": ["read"],
    "token that writes": ["read", "write"],
    # Another's thing is deleted by whoever manages the team's.
    "token that only deletes": ["read"],
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", [*ACTORS])
async def test_what_the_team_sees_is_offered_as_it_is_allowed(company: Company, kind: Kind, name: str) -> None:
    owner, other = await company.join("member"), await company.join("member")
    by, numbers = await _actor(company, owner, name), iter(range(10))

    async def make() -> str:
        return await kind.make(owner, f"{kind.name}-{next(numbers)}-{owner.username}", "team")

    assert await _judge(kind, owner, by, other, make) == EXPECTED[name]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_a_private_thing_is_offered_as_far_as_it_was_granted(company: Company, kind: Kind) -> None:
    owner, other = await company.join("member"), await company.join("member")
    grantee = await company.join("viewer", team=await company.add_team())
    numbers, found = iter(range(100)), dict[str, list[str]]()

    for level in LEVELS[kind.name]:

        async def make(level: str = level) -> str:
            id = await kind.make(owner, f"{kind.name}-{next(numbers)}-{owner.username}", "private")
            await kind.share(owner, id, grantee, level)
            return id

        found[level] = await _judge(kind, owner, grantee, other, make)

    if kind.name == "note":
        assert found == {
            "notes:read": ["read"], "notes:write": ["read", "write"], "notes:delete": ["read", "delete"], "notes:manage": [*EVERY],
        }  # fmt: skip
    else:
        assert found == {"view": ["read"], "edit": ["read", "write"], "manage": [*EVERY]}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_while_a_company_is_suspended_reading_alone_is_offered(company: Company, kind: Kind) -> None:
    owner, other = await company.join("owner", org_role="org_owner"), await company.join("member")
    ids = [await kind.make(owner, f"{kind.name}-{number}-{owner.username}", "team") for number in range(5)]
    await company.suspend()

    waiting = iter(ids)

    async def make() -> str:
        return next(waiting)

    assert await _judge(kind, owner, owner, other, make) == ["read"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_a_tag_follows_what_the_reader_may_do(company: Company, kind: Kind) -> None:
    """A grant is no new version, and yet another reply: what was read before it is not taken for the same."""
    owner, grantee = await company.join("member"), await company.join("viewer", team=await company.add_team())
    id = await kind.make(owner, f"{kind.name}-of-{owner.username}", "private")
    first, *_, last = LEVELS[kind.name]
    await kind.share(owner, id, grantee, first)
    read = await grantee.get(f"{kind.path}/{id}")
    again = await grantee.get(f"{kind.path}/{id}", headers={"if-none-match": read.headers["etag"]})
    await kind.share(owner, id, grantee, last)
    after = await grantee.get(f"{kind.path}/{id}", headers={"if-none-match": read.headers["etag"]})

    assert (read.headers["etag"].split(".")[1], after.headers["etag"].split(".")[1]) == ('r"', 'rwdm"')
    assert (again.status, after.status) == (304, 200)

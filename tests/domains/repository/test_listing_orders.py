"""Listings by name, time and size, in both directions, narrowed by a part of the name, page by page."""

from itertools import product

import pytest

from tests.support.client import Client
from tests.support.people import Company

KEYS = (
    "Tides.txt", "ports/Rotterdam.md", "ports/antwerp.md", "ports/old/antwerp.md", "ports/old/map.png", "ports/100%.txt",
    "ports/a_b.txt", "ports/axb.txt", "tides/", "tides/january.csv", "tides/2025/january.csv", "z", "Ólafsvík.txt",
)  # fmt: skip
SHOWN = {
    "name": lambda one: one["key"].encode(),
    "updated": lambda one: one["updated_at"],
    "size": lambda one: one["size"],
}


async def fill(alice: Client, bob: Client) -> None:
    """Files of two people: the second's are the team's or shared with the first in part."""
    for n, key in enumerate(KEYS):
        owner, visibility = (alice, "private") if n % 3 == 0 else (bob, "team" if n % 3 == 1 else "private")
        stored = await owner.put(f"/api/repo/{key}?visibility={visibility}", b"x" * (n * 7 % 5))
        assert stored.status == 201, stored.raw
        if n % 3 == 2:
            await bob.post(f"/api/repo-obj/{stored['id']}/share", {"user_id": alice.user_id})
    hidden = await bob.put("/api/repo/ports/antwerp-hidden.md?visibility=private", b"")
    assert hidden.status == 201


async def pages(client: Client, limit: int, **query: object) -> list[tuple[list[str], list[dict[str, object]]]]:
    """The pages of a listing to its end."""
    found: list[tuple[list[str], list[dict[str, object]]]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await client.send("GET", "/api/repo", query={**query, **cursor, "limit": limit})
        assert page.status == 200, page.raw
        found.append((page["prefixes"], page["items"]))
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def expected(all: list[dict[str, object]], prefix: str, order: str, down: bool, q: str, folded: bool) -> list[str]:
    """What a listing should say, from all there is."""
    below = [one for one in all if str(one["key"]).startswith(prefix)]
    by = sorted(below, key=lambda one: (SHOWN[order](one), one["id"]), reverse=down)
    if not folded:
        return [str(one["key"]) for one in by if q.lower() in str(one["key"]).rpartition("/")[2].lower()]
    shown, folders = [], []
    for one in by if order == "name" else sorted(below, key=lambda one: SHOWN["name"](one)):
        name, slash, _ = str(one["key"])[len(prefix) :].partition("/")
        if slash and q.lower() in name.lower() and f"{prefix}{name}/" not in folders:
            folders.append(f"{prefix}{name}/")
    for one in by:
        name, slash, _ = str(one["key"])[len(prefix) :].partition("/")
        if not slash and q.lower() in name.lower():
            shown.append(str(one["key"]))
    return folders + shown


@pytest.mark.parametrize("order", ["name", "updated", "size"])
async def test_every_order_and_direction_is_paged_without_a_gap(alice: Client, bob: Client, order: str) -> None:
    await fill(alice, bob)
    (whole,) = await pages(alice, 200)
    assert len(whole[1]) == len(KEYS)

    for way, prefix, q, folded in product(("asc", "desc"), ("", "ports/"), ("", "AN", "_", "%", "ó"), (False, True)):
        asked = (
            {"order": order, "dir": way, "prefix": prefix}
            | ({"q": q} if q else {})
            | ({"delimiter": "/"} if folded else {})
        )
        listed = await pages(alice, 3, **asked)

        flat = [name for folders, _ in listed for name in folders] + [
            str(one["key"]) for _, items in listed for one in items
        ]
        assert flat == expected(whole[1], prefix, order, way == "desc", q, folded), asked
        assert all(len(folders) + len(items) == 3 for folders, items in listed[:-1]), asked


async def test_the_newest_and_the_largest_come_first_unless_told(alice: Client) -> None:
    for key, size in (("b", 1), ("a", 3), ("c", 2)):
        await alice.put(f"/api/repo/{key}", b"x" * size)

    orders = {order: [one["key"] for one in (await alice.get("/api/repo", order=order))["items"]] for order in SHOWN}

    assert orders == {"name": ["a", "b", "c"], "updated": ["c", "a", "b"], "size": ["a", "c", "b"]}


async def test_a_cursor_is_good_for_its_own_order_and_words(alice: Client) -> None:
    for key in ("ab", "abc", "abd"):
        await alice.put(f"/api/repo/{key}", b"")
    cursor = (await alice.get("/api/repo", order="size", q="a", limit=1))["next_cursor"]

    others: tuple[dict[str, str], ...] = (
        {"order": "updated", "q": "a"},
        {"order": "size", "q": "b"},
        {"order": "size", "q": "a", "dir": "asc"},
        {},
    )
    refused = [await alice.send("GET", "/api/repo", query={"cursor": cursor, "limit": 1, **other}) for other in others]
    wrong: tuple[dict[str, object], ...] = ({"order": "colour"}, {"dir": "up"}, {"q": ""})
    unknown = [await alice.send("GET", "/api/repo", query=one) for one in wrong]

    assert [answer.code for answer in refused] == ["paging.bad_cursor"] * 4
    assert [answer.status for answer in unknown] == [400] * 3


async def test_a_company_role_sorts_the_whole_company(company: Company, alice: Client, stranger: Client) -> None:
    reader = await company.join("viewer", org_role="org_reader", team=await company.add_team())
    for key, size in (("a", 2), ("b", 3), ("c", 1)):
        await alice.put(f"/api/repo/{key}?visibility=team", b"x" * size)
    await stranger.put("/api/repo/d?visibility=team", b"xxxx")

    listed = await reader.get("/api/repo", scope="org", order="size")

    assert [one["key"] for one in listed["items"]] == ["b", "a", "c"]

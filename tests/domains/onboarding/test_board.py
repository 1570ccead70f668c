"""The board: listed by state, verdict and words, decided once, and from there to a company with an owner who signs in."""

import asyncio

from atrium.boot.assemble import Application
from atrium.product.onboarding import chores
from tests.domains.onboarding.conftest import prospects, publish, sign_up
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company


async def test_prospects_are_found_by_state_words_and_page(owner: Client, visitor: Client) -> None:
    await publish(owner)
    for number in range(5):
        await sign_up(visitor, f"p{number}@example.com", fields={"why": f"100% {'bread' if number % 2 else 'CAKE'}"})
    [first] = await prospects(owner, q="p0@")
    await owner.post(f"/api/beta/prospects/{first['id']}/decide", {"decision": "decline", "note": "Not now"})

    page = await owner.get("/api/beta/prospects", limit=2)
    rest = await owner.get("/api/beta/prospects", limit=200, cursor=page["next_cursor"])

    assert [one["fields"]["email"][:2] for one in (*page["items"], *rest["items"])] == ["p4", "p3", "p2", "p1", "p0"]
    assert [one["fields"]["email"][:2] for one in await prospects(owner, q="cake")] == ["p4", "p2", "p0"]
    assert await prospects(owner, q="100_") == []
    [declined] = await prospects(owner, state="declined")
    assert (declined["decided"]["decision"], declined["decided"]["note"], declined["decided"]["by"]["username"]) == (
        "decline", "Not now", owner.username,
    )  # fmt: skip


async def test_a_decision_is_made_once(company: Company, owner: Client, visitor: Client) -> None:
    await publish(owner)
    await sign_up(visitor, "ada@example.com")
    [found] = await prospects(owner)
    path = f"/api/beta/prospects/{found['id']}/decide"
    people = [await company.join("admin") for _ in range(8)]

    replies = await asyncio.gather(
        *(one.post(path, {"decision": "accept" if n % 2 else "decline"}) for n, one in enumerate(people))
    )

    won = {reply["state"] for reply in replies if reply.status == 200}
    assert len(won) == 1
    assert sorted(reply.status for reply in replies) == [*[200] * 4, *[409] * 4]
    assert {reply.code for reply in replies if reply.status == 409} == {"onboarding.decided"}


async def test_an_accepted_stranger_takes_over_their_own_company(
    house: Application, owner: Client, visitor: Client
) -> None:
    await publish(owner)
    await sign_up(visitor, "ada@example.com")
    [found] = await prospects(owner)
    path, invite = f"/api/beta/prospects/{found['id']}/decide", {"org": "Lovelace Ltd", "team": "Engines"}

    invited = await owner.post(path, {"decision": "accept", "invite": invite})
    again = await owner.post(path, {"decision": "accept", "invite": invite})
    session = await visitor.post(
        "/api/activate", {"token": invited["activation_token"], "password": "a long enough phrase"}
    )
    signed_in = await visitor.post("/api/login", {"username": "ada@example.com", "password": "a long enough phrase"})

    assert (invited.status, again.status, invited["state"]) == (200, 200, "accepted")
    assert invited["activation_url"].endswith(f"/activate#token={invited['activation_token']}")
    assert "activation_token" not in again.body
    assert (session.status, signed_in.status) == (200, 200)
    ada = Client(house.app, signed_in["token"])
    who = await ada.get("/api/whoami")
    assert (who["org"]["name"], who["team"]["name"], who["org"]["id"]) == ("Lovelace Ltd", "Engines", found["id"])
    assert (await ada.get("/api/beta/prospects")).status == 404


async def test_one_invitation_founds_one_company(owner: Client, visitor: Client) -> None:
    await publish(owner)
    await sign_up(visitor, "grace@example.com")
    [found] = await prospects(owner)
    path, body = f"/api/beta/prospects/{found['id']}/decide", {"decision": "accept", "invite": {"org": "Hopper"}}

    replies = await asyncio.gather(*(owner.post(path, body) for _ in range(6)))

    assert sum("activation_token" in reply.body for reply in replies) == 1
    assert {reply.status for reply in replies} <= {200, 409}
    assert (await owner.post(path, body)).status == 200


async def test_only_operators_invite_and_only_whom_they_accept(
    house: Application, company: Company, owner: Client, visitor: Client
) -> None:
    await publish(owner)
    await sign_up(visitor, "ada@example.com")
    [found] = await prospects(owner)
    path, invite = f"/api/beta/prospects/{found['id']}/decide", {"org": "Acme"}
    admin, member = await company.join("admin"), await company.join("member")
    stranger = await (await found_company(house)).join("owner", operator=True)

    found_by = {
        "admin": await admin.post(path, {"decision": "accept", "invite": invite}),
        "member": await member.post(path, {"decision": "accept"}),
        "stranger": await stranger.post(path, {"decision": "accept", "invite": invite}),
        "nonsense": await owner.post(path, {"decision": "decline", "invite": invite}),
        "missing": await owner.post(f"/api/beta/prospects/{company.org.id}/decide", {"decision": "accept"}),
    }

    assert {name: reply.status for name, reply in found_by.items()} == {
        "admin": 403, "member": 403, "stranger": 404, "nonsense": 400, "missing": 404,
    }  # fmt: skip
    assert (await prospects(owner))[0]["state"] == "captured"


async def test_visits_are_counted_without_anybody_in_them(house: Application, owner: Client, visitor: Client) -> None:
    await publish(owner)
    await visitor.get("/api/beta/config")
    await chores.count(house.services)
    before = {one["day"]: one for one in (await owner.get("/api/beta/prospects"))["funnel"]}
    await visitor.get("/api/beta/config")
    await sign_up(visitor, "ada@example.com")
    await sign_up(visitor, "no address")

    await chores.count(house.services)
    [today] = (await owner.get("/api/beta/prospects"))["funnel"]

    earlier = before.get(today["day"], dict.fromkeys(today, 0))
    grown = {name: today[name] - earlier[name] for name in ("opened", "started", "received", "refused")}
    assert grown == {"opened": 1, "started": 2, "received": 1, "refused": 1}


async def test_declined_people_and_old_proofs_are_forgotten(house: Application, owner: Client, visitor: Client) -> None:
    await publish(owner)
    for name in ("old", "new"):
        await sign_up(visitor, f"{name}@example.com")
    for one in await prospects(owner):
        await owner.post(f"/api/beta/prospects/{one['id']}/decide", {"decision": "decline"})
    url = house.services.settings.database_url
    await run_as_owner(url, "UPDATE prospects SET decided_at = now() - interval '91 days' WHERE words LIKE 'old@%'")
    await run_as_owner(url, "UPDATE onboarding_proofs SET spent_at = now() - interval '31 days'")

    await chores.forget(house.services)

    assert [one["fields"]["email"] for one in await prospects(owner)] == ["new@example.com"]
    assert await run_as_owner(url, "SELECT FROM onboarding_proofs WHERE org_id = $1::text::uuid", owner.org_id) == []

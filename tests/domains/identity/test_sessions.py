"""Where somebody is signed in: the list, ending one, ending the others, signing out."""

import asyncio

from tests.support.client import Client
from tests.support.people import Company
from tests.support.signing_in import PASSWORD, age, log_in, person, signed_in, with_token


async def sessions_of(client: Client) -> list[dict[str, object]]:
    answer = await client.get("/api/sessions")
    assert answer.status == 200, answer.raw
    return list(answer["items"])


async def test_a_session_says_which_device_it_is_on(company: Company) -> None:
    ann = await person(company)
    answer = await with_token(ann, None).post(
        "/api/login",
        {"username": ann.username, "password": PASSWORD},
        headers={"user-agent": "A browser on a phone"},
    )
    phone = with_token(ann, answer["token"])

    newest, first = await sessions_of(phone)

    assert (newest["user_agent"], newest["address"]) == ("A browser on a phone", phone.address)
    assert (newest["method"], newest["current"], first["current"]) == ("password", True, False)
    assert newest.keys() == {
        "id", "current", "created_at", "last_used_at", "expires_at", "user_agent", "address", "method",
    }  # fmt: skip


async def test_a_first_session_says_nothing_about_who_opened_it(company: Company, admin: Client) -> None:
    added = await admin.post("/api/members", {"username": f"new-{admin.username}", "role": "member"})
    newcomer = with_token(admin, added["token"])

    (only,) = await sessions_of(newcomer)

    assert (only["method"], only["user_agent"], only["address"]) == ("first", "", "")


async def test_one_signs_out_here(company: Company) -> None:
    ann = await person(company)
    laptop, phone = await signed_in(ann), await signed_in(ann)

    answer = await laptop.post("/api/logout")

    assert answer.status == 200
    assert (await laptop.get("/api/whoami")).status == 401
    assert (await phone.get("/api/whoami")).status == 200
    assert answer["id"] not in {session["id"] for session in await sessions_of(phone)}


async def test_one_ends_a_session_elsewhere(company: Company) -> None:
    ann = await person(company)
    laptop, phone = await signed_in(ann), await signed_in(ann)
    (there,) = [session for session in await sessions_of(phone) if session["current"]]

    answer = await laptop.delete(f"/api/sessions/{there['id']}")

    assert answer.body == {"id": there["id"]}
    assert (await phone.get("/api/whoami")).status == 401
    assert (await laptop.delete(f"/api/sessions/{there['id']}")).code == "identity.session_missing"


async def test_one_ends_every_session_but_this_one(company: Company) -> None:
    ann = await person(company)
    laptop, phone = await signed_in(ann), await signed_in(ann)

    answer = await laptop.delete("/api/sessions")

    assert answer.body == {"ended": 2}
    assert [client.status for client in await asyncio.gather(ann.get("/api/whoami"), phone.get("/api/whoami"))] == [
        401
    ] * 2
    assert [session["current"] for session in await sessions_of(laptop)] == [True]


async def test_another_persons_session_is_missing(company: Company, alice: Client, bob: Client) -> None:
    (theirs,) = await sessions_of(bob)

    assert (await alice.delete(f"/api/sessions/{theirs['id']}")).code == "identity.session_missing"
    assert (await bob.get("/api/whoami")).status == 200


async def test_a_token_is_not_a_session(company: Company) -> None:
    owner = await person(company, "owner")
    token = with_token(owner, (await owner.post("/api/tokens", {"name": "machine"}))["token"])

    answers = [await token.post("/api/logout"), await token.get("/api/sessions"), await token.delete("/api/sessions")]

    assert [answer.status for answer in answers] == [403] * 3
    assert (await token.get("/api/whoami")).status == 200


async def test_what_has_lapsed_is_not_listed(company: Company) -> None:
    ann = await person(company)
    idle = await signed_in(ann)
    await age(idle, "13 hours")

    assert len(await sessions_of(ann)) == 1


async def test_two_who_sign_out_at_once_do_not_wait_in_a_circle(company: Company) -> None:
    ann = await person(company)
    everywhere = [await signed_in(ann) for _ in range(6)]

    answers = await asyncio.gather(*(client.post("/api/logout") for client in everywhere))

    assert [answer.status for answer in answers] == [200] * 6


async def test_a_repeated_sign_out_is_answered_like_the_first_time_or_refused(company: Company) -> None:
    ann = await signed_in(await person(company))
    key = {"idempotency-key": "leaving"}

    first, again = await ann.post("/api/logout", headers=key), await ann.post("/api/logout", headers=key)

    assert (first.status, again.status) == (200, 401)


async def test_signing_in_again_works_after_signing_out(company: Company) -> None:
    ann = await person(company)
    await ann.post("/api/logout")

    assert (await log_in(with_token(ann, None))).status == 200

"""What protects an account asks who is at the keyboard: a fresh session or the current password, never a token."""

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.signing_in import PASSWORD, age, log_in, person, signed_in, with_token

NEW = "another phrase altogether"
ROUTES = ["/api/password", "/api/2fa/enable", "/api/2fa/recovery-codes"]


async def send(client: Client, path: str, **fields: str) -> Answer:
    return await client.post(path, fields | ({"new_password": NEW} if path == "/api/password" else {}))


async def enrolled(company: Company, path: str) -> Client:
    """Somebody for whom this route would answer; only a fresh set of codes needs the second factor on."""
    ann = await person(company)
    if path == "/api/2fa/recovery-codes":
        assert (await ann.post("/api/2fa/enable", {})).status == 200
    return ann


@pytest.mark.parametrize("path", ROUTES)
async def test_a_fresh_session_is_enough(company: Company, path: str) -> None:
    ann = await enrolled(company, path)

    assert (await send(ann, path)).status == 200


@pytest.mark.parametrize("path", ROUTES)
async def test_an_older_session_needs_the_current_password(company: Company, path: str) -> None:
    ann = await enrolled(company, path)
    await age(ann, "10 minutes 1 second")

    refused = await send(ann, path)
    wrong = await send(ann, path, password="not the password")
    right = await send(ann, path, password=PASSWORD)

    assert (refused.status, refused.code) == (403, "identity.confirm_required")
    assert (wrong.status, wrong.code) == (403, "identity.confirm_required")
    assert right.status == 200


@pytest.mark.parametrize("path", ROUTES)
async def test_a_wrong_password_is_refused_even_in_a_fresh_session(company: Company, path: str) -> None:
    ann = await enrolled(company, path)

    assert (await send(ann, path, password="not the password")).code == "identity.confirm_required"


@pytest.mark.parametrize("path", ROUTES)
async def test_an_api_token_is_never_enough(company: Company, path: str) -> None:
    owner = await person(company, "owner")
    if path == "/api/2fa/recovery-codes":
        await owner.post("/api/2fa/enable", {})
    token = with_token(owner, (await owner.post("/api/tokens", {"name": "machine"}))["token"])

    bare, with_password = await send(token, path), await send(token, path, password=PASSWORD)

    assert (bare.status, bare.code) == (403, "identity.confirm_required")
    assert (with_password.status, with_password.code) == (403, "identity.confirm_required")


async def test_turning_two_factor_off_needs_a_fresh_session(company: Company) -> None:
    ann = await person(company)
    await ann.post("/api/2fa/enable", {})
    await age(ann, "10 minutes 1 second")

    refused = await ann.delete("/api/2fa")

    assert (refused.status, refused.code) == (403, "identity.confirm_required")


async def test_a_token_cannot_turn_two_factor_off(company: Company) -> None:
    owner = await person(company, "owner")
    await owner.post("/api/2fa/enable", {})
    token = with_token(owner, (await owner.post("/api/tokens", {"name": "machine"}))["token"])

    refused = await token.delete("/api/2fa")

    assert (refused.status, refused.code) == (403, "identity.confirm_required")


async def test_a_changed_password_replaces_the_old_one(company: Company) -> None:
    ann = await person(company)

    await send(ann, "/api/password")

    assert (await log_in(ann)).status == 401
    assert (await log_in(ann, NEW)).status == 200


async def test_a_changed_password_ends_the_other_sessions_and_no_token(company: Company) -> None:
    owner = await person(company, "owner")
    other, another = await signed_in(owner), await signed_in(owner)
    token = with_token(owner, (await owner.post("/api/tokens", {"name": "machine"}))["token"])

    changed = await send(owner, "/api/password")

    assert changed["sessions_ended"] == 2
    assert (await owner.get("/api/whoami")).status == 200
    assert (await token.get("/api/whoami")).status == 200
    assert {(await session.get("/api/whoami")).status for session in (other, another)} == {401}


async def test_another_persons_sessions_stay(company: Company, bob: Client) -> None:
    await send(await person(company), "/api/password")

    assert (await bob.get("/api/whoami")).status == 200


async def test_a_changed_password_is_recorded_without_it(company: Company, admin: Client) -> None:
    ann = await person(company)
    await send(ann, "/api/password")

    events = await admin.get("/api/audit")

    assert ("identity.password_changed", ann.user_id) in [(e["kind"], e["subject"]) for e in events["items"]]
    assert NEW.encode() not in events.raw


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("7 chars", "request.invalid"),
        ("x" * 1025, "request.invalid"),
        ("password", "identity.weak_password"),
        ("PassWord", "identity.weak_password"),
        ("12345678", "identity.weak_password"),
        ("aaaaaaaaaa", "identity.weak_password"),
        ("abababab", "identity.weak_password"),
    ],
)
async def test_a_password_that_is_guessed_first_is_refused(alice: Client, password: str, code: str) -> None:
    answer = await alice.post("/api/password", {"new_password": password})

    assert (answer.status, answer.code) == (400, code)


async def test_ones_own_username_is_no_password(alice: Client) -> None:
    answer = await alice.post("/api/password", {"new_password": alice.username.upper()})

    assert (answer.status, answer.code) == (400, "identity.weak_password")


@pytest.mark.parametrize("password", ["8 chars!", "x" * 1021 + "abc", "пароль 🔑🔑"])
async def test_a_password_is_what_it_was_set_to(alice: Client, password: str) -> None:
    changed = await alice.post("/api/password", {"new_password": password})

    assert changed.status == 200
    assert (await log_in(alice, password)).status == 200
    assert (await log_in(alice, password[:-1])).status == 401

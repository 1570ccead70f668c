"""Letting somebody back in: a link from whoever manages them, or from the machine, redeemed once."""

import asyncio
from datetime import UTC, datetime, timedelta

import pyotp
import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.processes import run_atrium, server_settings
from tests.support.signing_in import PASSWORD, in_sql, log_in, person, signed_in, with_token

NEW = "another phrase altogether"


async def offer(caller: Client, member: Client) -> str:
    answer = await caller.post(f"/api/members/{member.user_id}/reset", {})
    assert answer.status == 200, answer.raw
    return str(answer["url"]).partition("token=")[2]


async def redeem(app: Client, token: str, password: str = NEW, **fields: object) -> Answer:
    return await app.post("/api/password/reset", {"token": token, "password": password, **fields})


async def test_a_link_lets_somebody_back_in(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company)

    offered = await admin.post(f"/api/members/{ann.user_id}/reset", {})
    session = await redeem(nobody, offered["url"].partition("token=")[2])

    assert set(offered.body) == {"url", "expires_at"}
    assert offered["url"].startswith("http://atrium.test/index.html#/reset?token=atr_")
    ends_in = datetime.fromisoformat(offered["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=23, minutes=59) < ends_in <= timedelta(hours=24)
    assert (session.status, session["user"]["id"]) == (200, ann.user_id)
    assert (await with_token(ann, session["token"]).get("/api/whoami"))["credential"] == "session"
    assert [(await log_in(ann, password)).status for password in (PASSWORD, NEW)] == [401, 200]


async def test_it_ends_every_session_and_says_what_is_left(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company, "admin")
    other = await signed_in(ann)
    token = with_token(ann, (await ann.post("/api/tokens", {"name": "machine"}))["token"])

    session = await redeem(nobody, await offer(admin, ann))

    assert [(await one.get("/api/whoami")).status for one in (ann, other, token)] == [401, 401, 200]
    assert (session["tokens"], session["s3_keys"]) == (1, 0)


async def test_it_ends_everything_when_told_to(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company, "admin")
    token = with_token(ann, (await ann.post("/api/tokens", {"name": "machine"}))["token"])

    await redeem(nobody, await offer(admin, ann), end="all")

    assert (await token.get("/api/whoami")).status == 401


async def test_a_first_password_by_a_link_ends_what_was_issued_before(
    admin: Client, alice: Client, nobody: Client
) -> None:
    await alice.post("/api/s3/credentials", {"name": "key"})

    session = await redeem(nobody, await offer(admin, alice))

    assert (await with_token(alice, session["token"]).get("/api/s3/credentials"))["items"] == []


async def test_a_link_works_once(company: Company, admin: Client, nobody: Client) -> None:
    link = await offer(admin, await person(company))

    answers = [await redeem(nobody, link), await redeem(nobody, link, "yet another phrase")]

    assert (answers[0].status, answers[1].status, answers[1].code) == (200, 400, "identity.link_spent")


async def test_of_ten_at_once_one_is_let_in(company: Company, admin: Client, nobody: Client) -> None:
    link = await offer(admin, await person(company))

    answers = await asyncio.gather(*(redeem(nobody, link, f"{NEW} {n}") for n in range(10)))

    assert sorted(answer.status for answer in answers) == [200] + [400] * 9


async def test_a_new_link_ends_the_one_before(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company)
    first, second = [await offer(admin, ann) for _ in range(2)]

    assert (await redeem(nobody, first)).code == "identity.link_spent"
    assert (await redeem(nobody, second)).status == 200


async def test_a_link_ends_after_a_day(company: Company, admin: Client, nobody: Client) -> None:
    link = await offer(admin, await person(company))
    await in_sql(company.house, "UPDATE password_resets SET expires_at = expires_at - interval '24 hours 1 second'")

    assert (await redeem(nobody, link)).code == "identity.link_spent"


@pytest.mark.parametrize("token", ["", "nonsense", "atr_" + "0" * 49, "ats_" + "0" * 49])
async def test_what_is_no_link_says_nothing_else(nobody: Client, token: str) -> None:
    answer = await redeem(nobody, token)

    assert (answer.status, answer.code) == (400, "identity.link_spent")


async def test_a_link_is_no_bearer_token(company: Company, admin: Client) -> None:
    ann = await person(company)

    assert (await with_token(ann, await offer(admin, ann)).get("/api/whoami")).status == 401


async def test_a_link_of_whoever_left_is_spent(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company)
    link = await offer(admin, ann)
    await admin.delete(f"/api/members/{ann.user_id}")

    assert (await redeem(nobody, link)).code == "identity.link_spent"


async def test_a_second_factor_is_still_asked_for(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company)
    secret = (await ann.post("/api/2fa/enable", {}))["secret"]
    link = await offer(admin, ann)

    without = await redeem(nobody, link)
    wrong = await redeem(nobody, link, code="000000")
    right = await redeem(nobody, link, code=pyotp.TOTP(secret).now())

    assert (without.status, without.code) == (401, "identity.totp_required")
    assert (wrong.status, wrong.code) == (401, "identity.code_refused")
    assert right.status == 200
    assert (await log_in(ann, NEW)).code == "identity.totp_required"


async def test_a_second_factor_that_is_turned_on_meanwhile_is_asked_for(
    company: Company, admin: Client, nobody: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bo = await person(company), await person(company)
    link, other = await offer(admin, ann), await offer(admin, bo)
    passwords = company.house.services.passwords
    hash_password, secrets = passwords.hash, list[str]()

    async def turn_on_and_hash(password: str) -> str:
        secrets.append((await ann.post("/api/2fa/enable", {}))["secret"])
        return await hash_password(password)

    monkeypatch.setattr(passwords, "hash", turn_on_and_hash)
    refused = await redeem(nobody, link)
    monkeypatch.undo()
    right = await redeem(nobody, link, code=pyotp.TOTP(secrets[0]).now())

    assert (refused.status, refused.code) == (401, "identity.code_refused")
    assert right.status == 200
    assert (await redeem(nobody, other)).status == 200


@pytest.mark.parametrize("password", ["short", "password123", "x" * 1025])
async def test_a_bad_password_leaves_the_link(company: Company, admin: Client, nobody: Client, password: str) -> None:
    link = await offer(admin, await person(company))

    assert (await redeem(nobody, link, password)).status == 400
    assert (await redeem(nobody, link)).status == 200


async def test_nobody_resets_their_own(company: Company) -> None:
    owner = await person(company, "owner")
    token = with_token(owner, (await owner.post("/api/tokens", {"name": "machine"}))["token"])

    for credential in (owner, token):
        answer = await credential.post(f"/api/members/{owner.user_id}/reset", {})
        assert (answer.status, answer.code) == (403, "identity.confirm_required")


async def test_nobody_resets_somebody_above_them(company: Company, admin: Client) -> None:
    owner = await company.join("owner")

    answer = await admin.post(f"/api/members/{owner.user_id}/reset", {})

    assert (answer.status, answer.code) == (403, "identity.role_too_high")


async def test_both_ends_are_recorded_and_the_link_is_not(company: Company, admin: Client, nobody: Client) -> None:
    ann = await person(company)
    link = await offer(admin, ann)
    await redeem(nobody, link)

    events = await admin.get("/api/audit")

    told = [(event["kind"], event["actor"]) for event in events["items"]]
    assert ("identity.reset_link_made", admin.username) in told
    assert ("identity.password_reset", ann.username) in told
    assert link.encode() not in events.raw
    assert await in_sql(company.house, "SELECT FROM password_resets WHERE digest = sha256($1)", link.encode()) == []


async def test_only_a_digest_is_kept(company: Company, admin: Client) -> None:
    link = await offer(admin, await person(company))

    found = "SELECT count(*) FROM password_resets r WHERE position($1 IN r::text) > 0"
    assert await in_sql(company.house, found, link) == [[0]]


async def test_whoever_holds_the_machine_lets_anybody_in(company: Company, nobody: Client) -> None:
    operator = await company.join("owner", operator=True, org_role="org_owner", password=PASSWORD)
    settings = server_settings(company.house.services.settings.database_url)

    printed = await run_atrium(
        "users", "reset", operator.username.upper(), "--url", "https://atrium.example/", **settings
    )
    session = await redeem(nobody, printed.output.partition("token=")[2].split()[0])

    assert printed.code == 0
    assert printed.output.startswith("https://atrium.example/index.html#/reset?token=atr_")
    assert (session.status, session["user"]["id"]) == (200, operator.user_id)
    events = (await with_token(operator, session["token"]).get("/api/org/audit"))["items"]
    assert ("identity.reset_link_made", None) in [(event["kind"], event["actor"]) for event in events]


async def test_a_name_that_nobody_has_is_said(company: Company) -> None:
    settings = server_settings(company.house.services.settings.database_url)

    printed = await run_atrium("users", "reset", "nobody-is-called-that", **settings)

    assert printed.code == 1
    assert "this instance has no user nobody-is-called-that" in printed.output

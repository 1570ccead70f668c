"""Findings about people: who gives whom what, and how one signs in, is let back in, and leaves."""

import os
import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.ground.identity import login
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application
from tests.support.signing_in import PASSWORD, age, in_sql, log_in, person, with_token

pytestmark = pytest.mark.finding

WRONG = "not the password"
# From a fifth as many addresses.
GUESSES = 500 if os.environ.get("ATRIUM_FULL") else 40


@pytest.fixture(scope="module")
async def strict_house() -> AsyncIterator[Application]:
    """A server with the limits that a server has."""
    async with fresh_application(login_failures=5, rate_public_writes=60) as house:
        yield house


@pytest.fixture
async def strict(strict_house: Application) -> Company:
    return await found_company(strict_house)


def name() -> str:
    return f"new-{secrets.token_hex(6)}"


async def add(caller: Client, **fields: object) -> Answer:
    return await caller.post("/api/members", {"username": name(), **fields})


async def add_to_company(caller: Client, **fields: object) -> Answer:
    return await caller.post("/api/org/members", {"username": name(), **fields})


@pytest.mark.parametrize("way", [add, add_to_company])
async def test_f2_no_person_becomes_a_worker(company: Company, way: object) -> None:
    owner = await company.join("owner", org_role="org_owner")

    answer = await way(owner, role="worker")  # type: ignore[operator]

    assert (answer.status, answer["errors"][0]["path"]) == (400, "role")


async def test_f4_a_scoped_token_makes_no_company_owner(company: Company) -> None:
    scoped = await company.join("owner", org_role="org_owner", scope=["org:manage"])

    answers = [await add_to_company(scoped, org_role=role) for role in ("org_owner", "org_admin", None)]

    assert [(answer.status, answer.code) for answer in answers] == [(403, "identity.scope_too_wide")] * 3


@pytest.mark.parametrize("given", ["owner", "admin", "member"])
async def test_f4_a_company_admin_gives_no_team_role_beyond_their_own(company: Company, given: str) -> None:
    viewer = await company.join("viewer", org_role="org_admin")

    answer = await add_to_company(viewer, role=given)

    assert (answer.status, answer.code) == (403, "identity.role_too_high")
    assert (await add_to_company(viewer, role="viewer", org_role="org_admin")).status == 201


async def test_f4_a_scoped_token_takes_no_company_role_that_it_could_not_give(company: Company) -> None:
    scoped = await company.join("owner", org_role="org_owner", scope=["org:manage"])
    reader = await company.join("viewer", org_role="org_reader")

    answer = await scoped.patch(f"/api/org/members/{reader.user_id}", {"org_role": None})

    assert (answer.status, answer.code) == (403, "identity.scope_too_wide")


async def test_f4_an_operators_scoped_token_founds_no_company(company: Company) -> None:
    scoped = await company.join("owner", org_role="org_owner", operator=True, scope=["instance:manage"])

    answer = await scoped.post("/api/orgs", {"name": name(), "owner": {"username": name()}})

    assert (answer.status, answer.code) == (403, "identity.scope_too_wide")


@pytest.mark.parametrize("path", ["/api/tokens", "/api/s3/credentials"])
async def test_d11_a_new_credential_carries_nothing_of_a_feature_that_is_off(company: Company, path: str) -> None:
    owner = await company.join("owner")
    wanted = {"name": "machine", "scope": ["notes:read", "workflows:run"]}
    assert (await owner.post(path, wanted)).status == 201
    await owner.post("/api/features/workflows", {"enabled": False})

    refused = await owner.post(path, wanted)

    assert (refused.status, refused.code, refused["beyond"]) == (403, "identity.scope_too_wide", ["workflows:run"])
    assert (await owner.post(path, {"name": "machine", "scope": ["notes:read"]})).status == 201


async def test_d11_what_other_features_still_use_can_be_given(company: Company) -> None:
    owner = await company.join("owner")

    statuses = []
    for feature in ("chat", "agent", "translate"):
        await owner.post(f"/api/features/{feature}", {"enabled": False})
        statuses.append((await owner.post("/api/tokens", {"name": "machine", "scope": ["chat:use"]})).status)

    assert statuses == [201, 201, 403]


async def test_d11_a_scoped_token_hands_on_what_it_can_use(company: Company) -> None:
    scoped = await company.join("owner", scope=["settings:manage", "notes:read", "workflows:run"])
    await scoped.post("/api/features/workflows", {"enabled": False})

    issued = await scoped.post("/api/tokens", {"name": "machine"})

    assert issued["scope"] == ["notes:read", "settings:manage"]


async def test_f17_the_commonest_passwords_are_refused(alice: Client) -> None:
    common = ["password123", "Password123", "  iloveyou1 ", "qwertyuiop", "1q2w3e4r5t", "football1", "metallica"]

    answers = [await alice.post("/api/password", {"new_password": password}) for password in common]

    assert {(answer.status, answer.code) for answer in answers} == {(400, "identity.weak_password")}


async def test_f17_a_phrase_is_taken(alice: Client) -> None:
    assert (await alice.post("/api/password", {"new_password": "three plain words here"})).status == 200


async def failures_told(company: Company, admin: Client) -> list[dict[str, Any]]:
    await login.record_failures(company.house.services)
    events = (await admin.get("/api/audit"))["items"]
    return [event for event in events if event["kind"] == "identity.sign_in_failed"]


async def test_f18_failed_sign_ins_are_in_the_companys_trail(company: Company, admin: Client, stranger: Client) -> None:
    ann = await person(company)
    ann.address = "203.0.113.9"
    for _ in range(3):
        await log_in(ann, WRONG)
    # Housekeeping of the same instance may have told of the first already; the others would wait for a quarter of an hour.
    await in_sql(company.house, "UPDATE failed_sign_ins SET recorded_at = NULL")

    events = await failures_told(company, admin)

    assert {(event["subject"], event["actor"]) for event in events} == {(ann.user_id, None)}
    facts = [event["facts"] for event in events]
    assert sum(fact.pop("failures") for fact in facts) == 3
    assert all(fact == {"wrong_codes": 0, "address": "203.0.113.9"} for fact in facts)
    assert ann.user_id.encode() not in (await stranger.get("/api/org/audit")).raw


async def test_f18_a_wrong_code_after_the_right_password_is_told_apart(company: Company, admin: Client) -> None:
    ann = await person(company)
    await ann.post("/api/2fa/enable", {})
    await log_in(ann, code="000000")

    [event] = await failures_told(company, admin)

    assert event["facts"] == {"failures": 1, "wrong_codes": 1, "address": ann.address}


async def test_f18_a_flood_of_guesses_is_a_few_events(company: Company, admin: Client) -> None:
    ann = await person(company)
    told = 0

    for _ in range(6):
        await log_in(ann, WRONG)
        told = len(await failures_told(company, admin))
    await in_sql(company.house, "UPDATE failed_sign_ins SET recorded_at = recorded_at - interval '15 minutes 1 second'")
    events = await failures_told(company, admin)

    assert (told, len(events)) == (1, 2)
    assert sum(event["facts"]["failures"] for event in events) == 6


async def test_f20_signing_in_tells_nobody_whether_a_name_is_taken(strict: Company) -> None:
    ann = await person(strict)
    taken = Client(strict.house.app, username=ann.username, address="203.0.113.101")
    free = Client(strict.house.app, username=name(), address="203.0.113.102")

    answers = [[await log_in(client, WRONG) for _ in range(7)] for client in (taken, free)]

    told = [[(one.status, one.code, one.body["title"]) for one in series] for series in answers]
    assert told[0] == told[1]
    assert {status for status, *_ in told[0]} == {401, 429}


async def test_f20_a_link_that_does_not_work_says_nothing_about_people(nobody: Client) -> None:
    answer = await nobody.post("/api/activate", {"token": "ata_nonsense", "password": "three plain words"})

    assert answer.status == 401


async def test_f23_guesses_from_a_hundred_addresses_keep_nobody_out(strict: Company) -> None:
    ann = await person(strict)
    for n in range(GUESSES):
        ann.address = f"203.0.113.{n % (GUESSES // 5)}"
        await log_in(ann, WRONG)

    ann.address = "198.51.100.99"
    first_try = await log_in(ann)

    assert first_try.status == 200


async def test_f23_who_signed_in_here_before_signs_in_while_others_guess_here(strict: Company) -> None:
    ann, ben = await person(strict), await person(strict)
    ann.address = ben.address = "198.51.100.50"
    assert (await log_in(ann)).status == 200
    await in_sql(strict.house, "DELETE FROM rate_limits")
    for n in range(8):
        await Client(strict.house.app, username=f"guess-{n}", address=ann.address).post(
            "/api/login", {"username": f"guess-{n}", "password": WRONG}
        )

    assert (await log_in(ben)).status == 429
    assert (await log_in(ann)).status == 200


async def test_f23_a_wait_is_for_the_one_who_guessed(strict: Company) -> None:
    ann = await person(strict)
    ann.address = "198.51.100.60"
    for _ in range(7):
        await log_in(ann, WRONG)
    here = await log_in(ann)

    ann.address = "198.51.100.61"

    assert (here.status, here.code) == (429, "identity.login_backoff")
    assert (await log_in(ann)).status == 200


async def key_of(client: Client, **fields: object) -> Answer:
    answer = await client.post("/api/s3/credentials", {"name": "key", **fields})
    assert answer.status == 201, answer.raw
    return answer


async def token_of(client: Client) -> Client:
    answer = await client.post("/api/tokens", {"name": "machine", "ttl": "never"})
    assert answer.status == 201, answer.raw
    return with_token(client, answer["token"])


async def newcomer(admin: Client, role: str = "admin") -> Client:
    added = await add(admin, role=role)
    return Client(
        admin.app, added["token"], added["member"]["id"], admin.team_id, admin.org_id, added["member"]["username"]
    )


async def keys_of(client: Client) -> list[str]:
    return [item["id"] for item in (await client.get("/api/s3/credentials"))["items"]]


async def test_f8_the_first_password_ends_what_was_issued_before_it(admin: Client) -> None:
    ann = await newcomer(admin)
    token = await token_of(ann)
    await key_of(ann)

    changed = await ann.post("/api/password", {"new_password": PASSWORD})

    lasting = with_token(ann, changed["token"])
    assert {name: changed[name] for name in ("tokens_ended", "s3_keys_ended", "tokens", "s3_keys")} == {
        "tokens_ended": 1,
        "s3_keys_ended": 1,
        "tokens": 0,
        "s3_keys": 0,
    }
    assert [(await client.get("/api/whoami")).status for client in (ann, token, lasting)] == [401, 401, 200]
    assert await keys_of(lasting) == []


async def test_f8_a_later_password_says_what_is_left(company: Company) -> None:
    ann = await person(company, "admin")
    token = await token_of(ann)
    key = (await key_of(ann))["id"]

    changed = await ann.post("/api/password", {"new_password": "another phrase altogether"})

    assert {name: changed[name] for name in ("tokens_ended", "s3_keys_ended", "tokens", "s3_keys")} == {
        "tokens_ended": 0,
        "s3_keys_ended": 0,
        "tokens": 1,
        "s3_keys": 1,
    }
    assert (await token.get("/api/whoami")).status == 200
    assert await keys_of(ann) == [key]


async def test_f8_a_later_password_ends_everything_when_told_to(company: Company) -> None:
    ann = await person(company, "admin")
    token = await token_of(ann)
    await key_of(ann)

    changed = await ann.post("/api/password", {"new_password": "another phrase altogether", "end": "all"})

    assert (changed["tokens_ended"], changed["s3_keys_ended"], changed["tokens"], changed["s3_keys"]) == (1, 1, 0, 0)
    assert [(await client.get("/api/whoami")).status for client in (ann, token)] == [200, 401]
    assert await keys_of(ann) == []


async def test_f8_an_admin_lists_and_revokes_a_members_keys(company: Company, admin: Client, alice: Client) -> None:
    key = await key_of(alice)

    listed = await admin.get("/api/s3/credentials", user=alice.user_id)
    revoked = await admin.delete(f"/api/s3/credentials/{key['id']}")

    assert [item["id"] for item in listed["items"]] == [key["id"]]
    assert key["secret_access_key"].encode() not in listed.raw
    assert (revoked.status, revoked["id"]) == (200, key["id"])
    assert await keys_of(alice) == []


async def test_f8_nobody_else_reaches_a_members_keys(
    company: Company, alice: Client, bob: Client, stranger: Client
) -> None:
    key = (await key_of(alice))["id"]
    next_door = await company.join("owner", team=await company.add_team())
    narrow = await company.join("owner", scope=["notes:read"])

    listings = [
        await client.get("/api/s3/credentials", user=alice.user_id) for client in (bob, next_door, stranger, narrow)
    ]
    endings = [await client.delete(f"/api/s3/credentials/{key}") for client in (bob, next_door, stranger, narrow)]

    assert [answer.status for answer in listings] == [403, 404, 404, 403]
    assert [answer.status for answer in endings] == [404, 404, 404, 403]
    assert await keys_of(alice) == [key]


async def test_f8_a_companys_admin_reaches_every_team(company: Company, alice: Client) -> None:
    key = (await key_of(alice))["id"]
    boss = await company.join("admin", org_role="org_admin", team=await company.add_team())

    assert [one["id"] for one in (await boss.get("/api/s3/credentials", user=alice.user_id))["items"]] == [key]
    assert (await boss.delete(f"/api/s3/credentials/{key}")).status == 200


async def test_f22_two_factor_is_turned_off_with_the_password(company: Company) -> None:
    ann = await person(company)
    await ann.post("/api/2fa/enable", {})
    await age(ann, "10 minutes 1 second")

    bare = await ann.delete("/api/2fa")
    wrong = await ann.send("DELETE", "/api/2fa", {"password": WRONG})
    right = await ann.send("DELETE", "/api/2fa", {"password": PASSWORD})

    assert [(answer.status, answer.body.get("code")) for answer in (bare, wrong, right)] == [
        (403, "identity.confirm_required"),
        (403, "identity.confirm_required"),
        (200, None),
    ]


async def test_d16_what_was_not_there_before_is_created(alice: Client) -> None:
    first, again = [await alice.put("/api/repo/report.txt", b"x") for _ in range(2)]

    assert (first.status, again.status, again["version"]["number"]) == (201, 200, 2)
    assert (await alice.post("/api/s3/credentials", {})).status == 201


@pytest.mark.parametrize("locale", ["xx", "en-GB", "EN", "", "klingon"])
async def test_d18_a_language_that_is_not_there_is_refused(alice: Client, locale: str) -> None:
    refused = await alice.post("/api/profile", {"locale": locale})

    assert (refused.status, refused["errors"][0]["path"]) == (400, "locale")
    assert (await alice.post("/api/profile", {"locale": "is"}))["locale"] == "is"


async def leave(caller: Client, member: Client, body: dict[str, Any] | None) -> Answer:
    return await caller.send("DELETE", f"/api/members/{member.user_id}", body)


@pytest.mark.parametrize("body", [None, {}, {"private": "trash"}])
@pytest.mark.parametrize("thing", ["note", "file", "shared note", "note in the trash"])
async def test_e10_nobody_gets_a_members_things_without_being_named(
    company: Company, admin: Client, body: dict[str, Any] | None, thing: str
) -> None:
    ann, bob = await company.join("member"), await company.join("member")
    if thing == "file":
        await ann.put("/api/repo/plan.txt?visibility=team", b"plan")
    else:
        visibility = "private" if thing == "shared note" else "team"
        note = await ann.post("/api/notes", {"title": "ours", "visibility": visibility})
        share = {"user_id": bob.user_id, "permission": "notes:read"}
        await (ann.post(f"/api/notes/{note['id']}/share", share) if thing == "shared note" else ann.get("/api/notes"))
        if thing == "note in the trash":
            await ann.delete(f"/api/notes/{note['id']}")

    refused = await leave(admin, ann, body)

    assert (refused.status, refused.code) == (400, "identity.heir_required")
    assert (await ann.get("/api/whoami")).status == 200
    named = await leave(admin, ann, (body or {}) | {"transfer_to": bob.user_id})
    assert (named.status, named["notes"] + named["objects"]) == (200, 1)


@pytest.mark.parametrize("body", [None, {}])
async def test_e10_with_nothing_to_hand_over_nobody_is_named(
    company: Company, admin: Client, body: dict[str, Any] | None
) -> None:
    ann = await company.join("member")
    boss = await company.join("admin", org_role="org_admin", team=await company.add_team())
    elsewhere = await company.join("member")
    await ann.post("/api/notes", {"title": "mine"})

    answers = [await leave(admin, ann, body), await leave(boss, elsewhere, body)]

    assert [answer.status for answer in answers] == [200, 200]
    assert (answers[0]["notes"], answers[0]["trashed_notes"]) == (0, 1)
    event = (await admin.get("/api/audit"))["items"][0]
    assert event["kind"] == "identity.member_removed"
    assert event["facts"].keys().isdisjoint({"transfer_to", "receiver"})


async def test_e25_who_may_not_hand_over_what_was_private_is_told_so(company: Company, admin: Client) -> None:
    ann = await company.join("member")
    await ann.post("/api/notes", {"title": "mine"})

    refused = await leave(admin, ann, {"private": "transfer", "transfer_to": admin.user_id})

    assert (refused.status, refused.code) == (403, "companies.owners_only")
    assert "handed over" in refused["message" if "message" in refused.body else "detail"]

"""Signing in, sessions and their ends, whoami and the profile, over HTTP."""

import time
from datetime import UTC, datetime, timedelta
from statistics import median

import pytest
from argon2 import PasswordHasher

from atrium.boot.assemble import Application
from atrium.ground.access.model import ROLES
from atrium.kit.crypto import passwords
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.signing_in import PASSWORD, age, in_sql, log_in, person, signed_in, use_just_now, with_token


def without_id(answer: Answer) -> tuple[int, dict[str, str], dict[str, str]]:
    body = {name: value for name, value in answer.body.items() if name != "request_id"}
    headers = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "content-length")}
    return answer.status, body, headers


async def test_a_right_password_opens_a_session(company: Company) -> None:
    ann = await person(company)

    answer = await log_in(ann)

    assert answer.status == 200
    assert set(answer.body) == {"token", "token_type", "expires_at", "user", "team"}
    assert (answer["token_type"], answer["token"][:4]) == ("Bearer", "ats_")
    assert answer["user"] == {"id": ann.user_id, "username": ann.username, "display_name": ann.username}
    assert answer["team"] == {"id": ann.team_id, "name": company.team.name}
    ends_in = datetime.fromisoformat(answer["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=30) - timedelta(minutes=1) < ends_in <= timedelta(days=30)


async def test_a_username_may_be_typed_in_any_case(company: Company) -> None:
    ann = await person(company)

    answer = await ann.post("/api/login", {"username": ann.username.upper(), "password": PASSWORD})

    assert answer.status == 200


async def test_a_lookalike_spelling_is_another_name(company: Company) -> None:
    ann = await company.join("viewer", password=PASSWORD)

    answer = await ann.post("/api/login", {"username": ann.username.replace("i", "İ"), "password": PASSWORD})

    assert (answer.status, answer.code) == (401, "identity.bad_credentials")


async def test_an_unknown_user_and_a_wrong_password_get_the_same_answer(company: Company) -> None:
    ann = await person(company)

    wrong = await log_in(ann, "not the password")
    unknown = await ann.post("/api/login", {"username": "nobody-at-all", "password": "not the password"})

    assert wrong.status == 401
    assert without_id(wrong) == without_id(unknown)


async def test_somebody_without_a_password_gets_that_answer_too(company: Company) -> None:
    ann, fresh = await person(company), await company.join("member")

    assert without_id(await log_in(fresh)) == without_id(await log_in(ann, "not the password"))


async def test_for_an_unknown_user_a_password_is_verified_too(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, verified, verify = await person(company), list[str](), passwords._verify

    def noted(stored: str, password: str) -> bool:
        verified.append(stored)
        return verify(stored, password)

    monkeypatch.setattr(passwords, "_verify", noted)
    for username in (ann.username, "nobody-at-all"):
        await ann.post("/api/login", {"username": username, "password": "not the password"})

    assert [stored == passwords._DECOY for stored in verified] == [False, True]
    # Both at the same cost, which is what stands before the salt.
    assert len({stored.rsplit("$", 2)[0] for stored in verified}) == 1


@pytest.mark.proof
async def test_an_unknown_user_and_a_wrong_password_take_the_same_time(company: Company) -> None:
    ann = await person(company)
    seconds: dict[str, list[float]] = {ann.username: [], "nobody-at-all": []}

    for _ in range(5):
        for username, taken in seconds.items():
            started = time.perf_counter()
            await ann.post("/api/login", {"username": username, "password": "not the password"})
            taken.append(time.perf_counter() - started)

    # Without the decoy hash the unknown user's answer comes some thirty times sooner.
    known, unknown = (median(taken) for taken in seconds.values())
    assert 1 / 3 < known / unknown < 3


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"username": "ann"},
        {"password": PASSWORD},
        {"username": "", "password": PASSWORD},
        {"username": "ann", "password": 7},
        {"username": "ann", "password": "x" * 1025},
        {"username": "ann\0", "password": PASSWORD},
        {"username": "ann", "password": PASSWORD, "remember": True},
    ],
)
async def test_a_malformed_sign_in_is_refused(nobody: Client, body: dict[str, object]) -> None:
    assert (await nobody.post("/api/login", body)).status == 400


async def test_signing_in_is_recorded(company: Company, admin: Client) -> None:
    ann = await person(company)
    await log_in(ann)

    events = (await admin.get("/api/audit"))["items"]

    assert [(event["subject"], event["facts"]["address"]) for event in events if event["kind"] == "identity.signed_in"] == [
        (ann.user_id, ann.address)
    ]  # fmt: skip


async def test_a_stale_hash_is_renewed_at_sign_in(house: Application, company: Company) -> None:
    ann = await person(company)
    weak = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    await in_sql(house, "UPDATE users SET password_hash = $2 WHERE id = $1::uuid", ann.user_id, weak)

    assert (await log_in(ann)).status == 200

    [[stored]] = await in_sql(house, "SELECT password_hash FROM users WHERE id = $1::uuid", ann.user_id)
    assert "m=47104,t=1,p=1" in str(stored)
    assert (await log_in(ann)).status == 200


@pytest.mark.parametrize(("idle", "status"), [("11 hours 59 minutes", 200), ("12 hours 1 minute", 401)])
async def test_a_session_ends_after_twelve_idle_hours(company: Company, idle: str, status: int) -> None:
    ann = await signed_in(await person(company))
    assert (await ann.get("/api/whoami")).status == 200

    await age(ann, idle)

    assert (await ann.get("/api/whoami")).status == status


async def test_using_a_session_starts_its_idle_time_again(company: Company) -> None:
    ann = await signed_in(await person(company))

    for _ in range(3):
        await age(ann, "11 hours")
        assert (await ann.get("/api/whoami")).status == 200


@pytest.mark.parametrize(("old", "status"), [("29 days 23 hours", 200), ("30 days 1 second", 401)])
async def test_a_session_ends_after_thirty_days_however_much_it_is_used(
    company: Company, old: str, status: int
) -> None:
    ann = await signed_in(await person(company))

    await age(ann, old)
    await use_just_now(ann)

    assert (await ann.get("/api/whoami")).status == status


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic YTpi",
        "Bearer ats_" + "0" * 49,
        "Bearer att_tooshort",
        "ats_" + "0" * 49,
    ],
)
async def test_a_bad_credential_is_refused_with_a_challenge(nobody: Client, header: str) -> None:
    answer = await nobody.get("/api/whoami", headers={"authorization": header})

    assert (answer.status, answer.code) == (401, "identity.unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_no_credential_is_refused_with_a_challenge(nobody: Client) -> None:
    answer = await nobody.get("/api/whoami")

    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_the_scheme_may_be_written_in_any_case(alice: Client) -> None:
    caller = with_token(alice, None)

    assert (await caller.get("/api/whoami", headers={"authorization": f"bearer {alice.token}"})).status == 200


async def test_whoami_says_who_where_and_what(company: Company) -> None:
    ann = await company.join("member", org_role="org_reader")

    who = await ann.get("/api/whoami")

    assert who.body == {
        "user": {"id": ann.user_id, "username": ann.username, "display_name": ann.username},
        "team": {"id": ann.team_id, "name": company.team.name},
        "org": {"id": ann.org_id, "name": company.org.name, "slug": company.org.slug, "suspended": False},
        "role": "member",
        "org_role": "org_reader",
        "operator": False,
        "locale": "en",
        "permissions": sorted(ROLES["member"] | {"org:read"}),
        "idle_permissions": [],
        "features": ["agent", "chat", "translate", "workflows"],
        "two_factor": False,
        "credential": "session",
    }


async def test_whoami_of_a_scoped_token_shows_what_is_left(company: Company) -> None:
    scoped = await company.join("member", scope=["notes:read", "settings:manage"])

    who = await scoped.get("/api/whoami")

    assert (who["permissions"], who["credential"]) == (["notes:read"], "token")


async def test_whoami_tells_which_permissions_a_new_token_may_not_hold(company: Company) -> None:
    admin = await company.join("admin", password=PASSWORD)
    await admin.post("/api/features/workflows", {"enabled": False})

    who = await admin.get("/api/whoami")
    givable = sorted(set(who["permissions"]) - set(who["idle_permissions"]))

    assert who["idle_permissions"] == ["workflows:read", "workflows:run", "workflows:write"]
    body = {"name": "all there is", "scope": givable, "password": PASSWORD}
    assert (await admin.post("/api/tokens", body)).status == 201
    refused = await admin.post("/api/tokens", body | {"scope": [*givable, "workflows:read"]})
    assert (refused.status, refused.code) == (403, "identity.scope_too_wide")


async def test_whoami_of_a_suspended_company_says_so(company: Company, alice: Client) -> None:
    await company.suspend()

    assert (await alice.get("/api/whoami"))["org"]["suspended"] is True


async def test_a_profile_change_shows_at_once_and_leaves_the_rest(alice: Client) -> None:
    await alice.post("/api/profile", {"display_name": "Älice 🌍"})

    changed = await alice.post("/api/profile", {"locale": "is"})

    assert (changed["user"]["display_name"], changed["locale"]) == ("Älice 🌍", "is")
    assert changed.body == (await alice.get("/api/whoami")).body


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"locale": "english"}, "locale"),
        ({"locale": "en_GB"}, "locale"),
        ({"locale": "../en"}, "locale"),
        ({"locale": "en\n"}, "locale"),
        ({"display_name": "x" * 201}, "display_name"),
        ({"username": "other"}, ""),
    ],
)
async def test_a_malformed_profile_is_refused_by_field(alice: Client, body: dict[str, str], path: str) -> None:
    answer = await alice.post("/api/profile", body)

    assert answer.status == 400
    assert answer["errors"][0]["path"] == path


async def test_a_person_of_a_suspended_company_signs_in_but_writes_nothing(house: Application) -> None:
    company = await found_company(house)
    ann = await person(company)
    await company.suspend()

    again = await signed_in(ann)

    assert (await again.get("/api/notes")).status == 200
    assert (await again.post("/api/profile", {"locale": "is"})).status == 402

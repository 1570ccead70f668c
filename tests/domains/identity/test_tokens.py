"""API tokens over HTTP: never wider than whoever makes them, shown once, ended at once."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.signing_in import PASSWORD, age, in_sql, log_in, with_token


async def issue(client: Client, **fields: object) -> Answer:
    answer = await client.post("/api/tokens", {"name": "machine", **fields})
    assert answer.status == 201, answer.raw
    return answer


async def token_of(client: Client, **fields: object) -> Client:
    return with_token(client, (await issue(client, **fields))["token"])


async def last_used(client: Client, id: str) -> str | None:
    [item] = [item for item in (await client.get("/api/tokens"))["items"] if item["id"] == id]
    used: str | None = item["last_used_at"]
    return used


async def tables_holding(house: Application, secret: str) -> list[str]:
    """Every table with a row that holds the secret, as text or as bytes."""
    tables = await in_sql(
        house, "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    )
    return [
        str(table)
        for [table] in tables
        if (await in_sql(
            house, f"SELECT count(*) FROM {table} t WHERE position($1 IN t::text) > 0 OR position($2 IN t::text) > 0",
            secret, secret.encode().hex(),
        ))[0][0]
    ]  # fmt: skip


async def test_a_new_token_is_shown_once_and_works(admin: Client) -> None:
    issued = await issue(admin, scope=["notes:read", "search"])

    assert set(issued.body) == {"id", "token", "name", "scope", "created_at", "expires_at"}
    assert (issued["token"][:4], issued["scope"]) == ("att_", ["notes:read", "search"])
    assert (await with_token(admin, issued["token"]).get("/api/notes")).status == 200
    listed = await admin.get("/api/tokens")
    assert [item["id"] for item in listed["items"]] == [issued["id"]]
    assert issued["token"].encode() not in listed.raw
    assert "token" not in listed["items"][0]


async def test_without_a_scope_a_token_does_what_its_owner_does(admin: Client) -> None:
    token = await token_of(admin)

    assert (await token.get("/api/whoami"))["permissions"] == (await admin.get("/api/whoami"))["permissions"]


async def test_a_scope_narrows(admin: Client) -> None:
    token = await token_of(admin, scope=["notes:read"])

    assert (await token.get("/api/whoami"))["permissions"] == ["notes:read"]
    assert (await token.get("/api/notes")).status == 200
    assert (await token.post("/api/notes", {"title": "x"})).status == 403
    assert (await token.get("/api/tokens")).status == 403


async def test_an_empty_scope_leaves_nothing(admin: Client) -> None:
    token = await token_of(admin, scope=[])

    assert (await token.get("/api/whoami"))["permissions"] == []
    assert (await token.get("/api/notes")).status == 403


@pytest.mark.parametrize("beyond", ["instance:manage", "org:read", "org:manage", "jobs:execute", "localization:read"])
async def test_a_scope_beyond_ones_own_is_refused(admin: Client, beyond: str) -> None:
    answer = await admin.post("/api/tokens", {"name": "wide", "scope": ["notes:read", beyond]})

    assert (answer.status, answer.code, answer["beyond"]) == (403, "identity.scope_too_wide", [beyond])


async def test_an_unknown_permission_is_malformed(admin: Client) -> None:
    answer = await admin.post("/api/tokens", {"name": "odd", "scope": ["notes:read", "notes:burn"]})

    assert (answer.status, answer["errors"][0]["path"]) == (400, "scope")


async def test_a_scoped_token_hands_on_no_more_than_it_has(admin: Client) -> None:
    scoped = await token_of(admin, scope=["settings:manage", "notes:read"])

    wider = await scoped.post("/api/tokens", {"name": "wider", "scope": ["notes:write"]})
    same = await issue(scoped)
    narrower = await issue(scoped, scope=["notes:read"])

    assert (wider.status, wider.code) == (403, "identity.scope_too_wide")
    assert same["scope"] == ["notes:read", "settings:manage"]
    assert narrower["scope"] == ["notes:read"]
    assert (await with_token(admin, same["token"]).post("/api/notes", {"title": "x"})).status == 403


@pytest.mark.parametrize("role", ["viewer", "member"])
async def test_only_who_manages_settings_issues_lists_and_revokes(company: Company, admin: Client, role: str) -> None:
    caller, id = await company.join(role), (await issue(admin))["id"]

    answers = [
        await caller.post("/api/tokens", {"name": "mine"}),
        await caller.get("/api/tokens"),
        await caller.delete(f"/api/tokens/{id}"),
    ]

    assert [answer.status for answer in answers] == [403, 403, 403]


@pytest.mark.parametrize(
    ("ttl", "lifetime"),
    [({}, timedelta(days=90)), ({"ttl": 60}, timedelta(minutes=1)), ({"ttl": 315_360_000}, timedelta(days=3650))],
)
async def test_a_token_lives_ninety_days_or_as_long_as_asked(
    admin: Client, ttl: dict[str, int], lifetime: timedelta
) -> None:
    issued = await issue(admin, **ttl)

    assert datetime.fromisoformat(issued["expires_at"]) - datetime.fromisoformat(issued["created_at"]) == lifetime


async def test_a_token_may_live_for_ever(admin: Client) -> None:
    issued = await issue(admin, ttl="never")
    token = with_token(admin, issued["token"])

    await age(token, "3000 days")

    assert issued["expires_at"] is None
    assert (await token.get("/api/whoami")).status == 200


@pytest.mark.parametrize("ttl", [0, -1, 315_360_001, 1.5, "forever", "60", True, None])
async def test_any_other_lifetime_is_malformed(admin: Client, ttl: object) -> None:
    assert (await admin.post("/api/tokens", {"name": "odd", "ttl": ttl})).status == 400


@pytest.mark.parametrize(("old", "status"), [("59 seconds", 200), ("61 seconds", 401)])
async def test_an_expired_token_is_refused(admin: Client, old: str, status: int) -> None:
    token = await token_of(admin, ttl=60)

    await age(token, old)

    assert (await token.get("/api/whoami")).status == status


async def test_a_token_needs_no_use_to_stay(admin: Client) -> None:
    token = await token_of(admin)
    await token.get("/api/whoami")

    await age(token, "89 days")

    assert (await token.get("/api/whoami")).status == 200


async def test_a_revoked_token_ends_at_once(admin: Client) -> None:
    issued = await issue(admin)
    token = with_token(admin, issued["token"])
    assert (await token.get("/api/whoami")).status == 200

    revoked = await admin.delete(f"/api/tokens/{issued['id']}")

    assert (revoked.status, revoked.body) == (200, {"id": issued["id"]})
    assert (await token.get("/api/whoami")).status == 401
    assert (await admin.delete(f"/api/tokens/{issued['id']}")).code == "identity.token_missing"


async def test_a_token_can_revoke_itself(admin: Client) -> None:
    issued = await issue(admin)
    token = with_token(admin, issued["token"])

    assert (await token.delete(f"/api/tokens/{issued['id']}")).status == 200
    assert (await token.get("/api/whoami")).status == 401


async def test_a_colleague_of_the_team_may_revoke_and_nobody_else(
    company: Company, admin: Client, stranger: Client
) -> None:
    id = (await issue(admin))["id"]
    colleague, next_door = await company.join("admin"), await company.join("admin", team=await company.add_team())

    for elsewhere in (stranger, next_door):
        assert (await elsewhere.delete(f"/api/tokens/{id}")).code == "identity.token_missing"
        assert (await elsewhere.get("/api/tokens"))["items"] == []
    assert (await colleague.delete(f"/api/tokens/{id}")).status == 200


async def test_a_session_is_no_token_to_revoke(house: Application, admin: Client, alice: Client) -> None:
    [[session]] = await in_sql(house, "SELECT id::text FROM tokens WHERE user_id = $1::uuid", alice.user_id)

    assert (await admin.delete(f"/api/tokens/{session}")).status == 404
    assert (await alice.get("/api/whoami")).status == 200


async def test_a_changed_role_narrows_a_token_at_once(house: Application, admin: Client) -> None:
    wide, scoped = await token_of(admin), await token_of(admin, scope=["settings:manage", "notes:write"])
    assert (await scoped.get("/api/audit")).status == 200

    await in_sql(house, "UPDATE users SET role = 'member' WHERE id = $1::uuid", admin.user_id)

    assert (await wide.get("/api/audit")).status == 403
    assert (await scoped.get("/api/audit")).status == 403
    assert (await scoped.get("/api/whoami"))["permissions"] == ["notes:write"]


async def test_a_role_regained_reaches_as_far_as_the_scope_again(house: Application, admin: Client) -> None:
    scoped = await token_of(admin, scope=["settings:manage"])
    await in_sql(house, "UPDATE users SET role = 'viewer' WHERE id = $1::uuid", admin.user_id)
    await in_sql(house, "UPDATE users SET role = 'owner' WHERE id = $1::uuid", admin.user_id)

    assert (await scoped.get("/api/whoami"))["permissions"] == ["settings:manage"]


async def test_last_use_is_noted_at_most_once_a_minute(house: Application, admin: Client) -> None:
    issued = await issue(admin)
    token = with_token(admin, issued["token"])
    assert await last_used(admin, issued["id"]) is None

    await token.get("/api/whoami")
    first = await last_used(admin, issued["id"])
    await token.get("/api/whoami")
    second = await last_used(admin, issued["id"])
    await in_sql(
        house, "UPDATE tokens SET last_used_at = now() - interval '61 seconds' WHERE id = $1", UUID(issued["id"])
    )
    await token.get("/api/whoami")
    third = await last_used(admin, issued["id"])

    assert first is not None
    assert second == first
    assert third is not None
    assert third > first


async def test_no_raw_credential_is_in_the_database(house: Application, company: Company, admin: Client) -> None:
    ann = await company.join("member", password=PASSWORD)
    session = (await log_in(ann))["token"]
    token = (await issue(admin))["token"]
    kept = await admin.post("/api/tokens", {"name": "kept"}, headers={"idempotency-key": "once"})
    first = (await admin.post("/api/members", {"username": f"n-{admin.user_id}", "role": "viewer"}))["token"]

    for secret in (session, token, kept["token"], first, PASSWORD):
        assert await tables_holding(house, secret) == []
    assert "tokens" in await tables_holding(house, "kept")


async def test_a_repeated_request_with_one_key_shows_the_same_token_again(admin: Client) -> None:
    once = {"idempotency-key": "one token please"}

    first = await admin.post("/api/tokens", {"name": "once"}, headers=once)
    again = await admin.post("/api/tokens", {"name": "once"}, headers=once)

    assert again.body == first.body
    assert again.headers["idempotent-replay"] == "true"
    assert len((await admin.get("/api/tokens"))["items"]) == 1


async def test_tokens_are_listed_newest_first_page_by_page(admin: Client) -> None:
    made = [(await issue(admin, name=f"t{n}"))["id"] for n in range(7)]
    seen: list[str] = []
    cursor = None

    while True:
        page = await admin.get("/api/tokens", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == made[::-1]


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 201}, {"limit": "x"}, {"cursor": "x" * 1025}])
async def test_a_malformed_page_is_refused(admin: Client, query: dict[str, object]) -> None:
    assert (await admin.send("GET", "/api/tokens", query=query)).status == 400


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 201}, {"name": "x", "scope": "notes:read"}, {"name": "x", "user": "me"}]
)
async def test_a_malformed_token_is_refused(admin: Client, body: dict[str, object]) -> None:
    assert (await admin.post("/api/tokens", body)).status == 400


async def test_issuing_and_revoking_are_recorded_without_the_secret(admin: Client) -> None:
    issued = await issue(admin, scope=["notes:read"])
    await admin.delete(f"/api/tokens/{issued['id']}")

    trail = await admin.get("/api/audit")

    assert [event["kind"] for event in trail["items"] if event["subject"] == issued["id"]] == [
        "identity.token_revoked",
        "identity.token_issued",
    ]
    assert issued["token"].encode() not in trail.raw


async def test_a_narrow_token_is_not_handed_what_a_wide_one_was_answered(admin: Client) -> None:
    once = {"idempotency-key": "the same key"}
    await admin.post("/api/tokens", {"name": "wide"}, headers=once)
    narrow = replace(
        admin, token=(await admin.post("/api/tokens", {"name": "n", "scope": ["settings:manage"]}))["token"]
    )

    answer = await narrow.post("/api/tokens", {"name": "wide"}, headers=once)

    assert (answer.status, answer.code) == (409, "idempotency.reused")

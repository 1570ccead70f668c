"""Changing roles and leaving over HTTP: who may let whom go, what becomes of theirs, and that nothing acts for them after."""

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.signing_in import PASSWORD, in_sql, log_in, person, signed_in, with_token


async def change(caller: Client, member: Client, role: str) -> Answer:
    return await caller.patch(f"/api/members/{member.user_id}", {"role": role})


async def remove(caller: Client, member: Client, **fields: object) -> Answer:
    return await caller.send("DELETE", f"/api/members/{member.user_id}", fields or None)


async def test_an_admin_changes_a_members_role(admin: Client, alice: Client) -> None:
    changed = await change(admin, alice, "viewer")

    assert (changed.status, changed["id"], changed["role"]) == (200, alice.user_id, "viewer")
    assert (await alice.post("/api/notes", {"title": "x"})).status == 403
    [event] = [one for one in (await admin.get("/api/audit"))["items"] if one["kind"] == "identity.role_changed"]
    assert (event["subject"], event["facts"]) == (alice.user_id, {"role": "viewer", "before": "member"})


@pytest.mark.parametrize(
    ("own", "before", "after", "status"),
    [
        ("admin", "member", "admin", 200),
        ("admin", "member", "owner", 403),
        ("admin", "owner", "member", 403),
        ("owner", "owner", "viewer", 200),
        ("owner", "admin", "owner", 200),
        ("member", "viewer", "viewer", 403),
        ("owner", "member", "translator", 403),
        ("owner", "member", "worker", 400),
    ],
)
async def test_nobody_gives_or_takes_a_role_beyond_their_own(
    company: Company, own: str, before: str, after: str, status: int
) -> None:
    await company.join("owner")
    caller, member = await company.join(own), await company.join(before)

    assert (await change(caller, member, after)).status == status


@pytest.mark.parametrize("org_role", ["org_reader", "org_admin", "org_owner"])
async def test_a_team_owner_touches_nobody_with_a_role_in_the_company(company: Company, org_role: str) -> None:
    owner, boss = await company.join("owner"), await company.join("member", org_role=org_role)

    answers = [
        await change(owner, boss, "viewer"),
        await remove(owner, boss),
        await owner.post(f"/api/members/{boss.user_id}/reset", {}),
    ]

    assert [answer.status for answer in answers] == [403, 403, 403]
    assert (await boss.get("/api/whoami"))["role"] == "member"


async def test_an_operator_is_touched_by_operators_only_and_stays(company: Company) -> None:
    boss = await company.join("owner", org_role="org_owner")
    operator = await company.join("member", operator=True)
    other = await company.join("owner", org_role="org_owner", operator=True)

    for act in (change(boss, operator, "viewer"), remove(boss, operator)):
        assert (await act).status == 403
    assert (await boss.post(f"/api/members/{operator.user_id}/reset", {})).status == 403
    assert (await change(other, operator, "viewer")).status == 200
    assert (await remove(other, operator)).code == "identity.operator_stays"


async def test_the_last_owner_stays(company: Company) -> None:
    owner, admin = await company.join("owner"), await company.join("admin")

    answers = [await change(owner, owner, "admin"), await remove(owner, owner, transfer_to=admin.user_id)]

    assert {(answer.status, answer.code) for answer in answers} == {(409, "identity.last_owner")}
    second = await company.join("owner")
    assert (await remove(owner, owner, transfer_to=second.user_id)).status == 200


async def test_the_last_company_owner_stays(company: Company) -> None:
    boss, owner = await company.join("owner", org_role="org_owner"), await company.join("owner")

    alone = await remove(boss, boss, transfer_to=owner.user_id)
    await company.join("viewer", org_role="org_owner")

    assert (alone.status, alone.code) == (409, "identity.last_owner")
    assert (await remove(boss, boss, transfer_to=owner.user_id)).status == 200


async def test_whoever_left_is_nobody_any_more(company: Company, admin: Client) -> None:
    ann = await person(company, "admin")
    other = await signed_in(ann)
    token = with_token(ann, (await ann.post("/api/tokens", {"name": "machine", "ttl": "never"}))["token"])
    await ann.post("/api/s3/credentials", {"name": "key"})

    removed = await remove(admin, ann)

    assert removed.status == 200
    assert (removed["id"], removed["tokens"], removed["s3_keys"]) == (ann.user_id, 1, 1)
    for credential in (ann, other, token):
        assert (await credential.get("/api/whoami")).status == 401
    assert (await log_in(ann)).code == "identity.bad_credentials"
    assert ann.user_id not in [one["id"] for one in (await admin.get("/api/members"))["items"]]
    assert ann.user_id.encode() not in (await admin.get("/api/share-targets")).raw
    again = await remove(admin, ann)
    assert (again.status, again.code) == (404, "identity.user_missing")
    assert (await admin.post(f"/api/members/{ann.user_id}/reset", {})).code == "identity.user_missing"
    assert (await change(admin, ann, "viewer")).code == "identity.user_missing"


async def test_the_name_is_free_again_and_stays_on_what_they_did(company: Company, admin: Client) -> None:
    ann = await person(company)
    note = await ann.post("/api/notes", {"title": "theirs", "visibility": "team"})
    await remove(admin, ann, transfer_to=admin.user_id)

    again = await admin.post("/api/members", {"username": ann.username.upper(), "role": "viewer"})

    assert again.status == 201
    events = (await admin.get("/api/audit", limit=200))["items"]
    assert [one["actor"] for one in events if one["kind"] == "notes.created"] == [ann.username]
    versions = (await admin.get(f"/api/notes/{note['id']}/versions"))["items"]
    assert versions[0]["created_by"] == ann.user_id


async def test_what_they_shared_has_another_owner_and_keeps_its_readers(
    company: Company, admin: Client, bob: Client
) -> None:
    ann, heir = await company.join("member"), await company.join("member")
    team = await ann.post("/api/notes", {"title": "team", "visibility": "team"})
    shared = await ann.post("/api/notes", {"title": "shared"})
    await ann.post(f"/api/notes/{shared['id']}/share", {"user_id": bob.user_id, "permission": "notes:read"})
    stored = await ann.put("/api/repo/plan.txt?visibility=team", b"plan")

    removed = await remove(admin, ann, transfer_to=heir.user_id)

    assert (removed["notes"], removed["objects"]) == (2, 1)
    for note in (team, shared):
        assert (await heir.get(f"/api/notes/{note['id']}"))["owner_id"] == heir.user_id
    assert (await bob.get(f"/api/notes/{shared['id']}")).status == 200
    assert (await heir.get(f"/api/repo-obj/{stored['id']}"))["owner_id"] == heir.user_id
    assert (await heir.get(f"/api/repo-obj/{stored['id']}/content")).raw == b"plan"


async def test_what_nobody_else_saw_goes_to_the_trash_where_nobody_sees_it(company: Company, admin: Client) -> None:
    boss = await company.join("owner", org_role="org_owner")
    ann = await company.join("member")
    note = await ann.post("/api/notes", {"title": "private"})
    stored = await ann.put("/api/repo/diary.txt", b"private")

    removed = await remove(admin, ann)

    assert (removed["notes"], removed["objects"], removed["trashed_notes"], removed["trashed_objects"]) == (0, 0, 1, 1)
    rows = await in_sql(
        company.house,
        """
        SELECT owner_id::text, trashed_by::text FROM notes WHERE id = $1::uuid
        UNION ALL SELECT owner_id::text, trashed_by::text FROM objects WHERE id = $2::uuid
        """,
        note["id"],
        stored["id"],
    )
    assert rows == [[ann.user_id, admin.user_id]] * 2
    for other in (admin, boss):
        assert (await other.get(f"/api/notes/{note['id']}")).status == 404
        assert (await other.get("/api/trash"))["items"] == []


async def test_only_a_company_owner_hands_over_what_was_private(company: Company, admin: Client) -> None:
    boss = await company.join("owner", org_role="org_owner")
    ann, heir = await company.join("member"), await company.join("member")
    note = await ann.post("/api/notes", {"title": "private"})

    refused = await remove(admin, ann, private="transfer")
    removed = await remove(boss, ann, private="transfer", transfer_to=heir.user_id)

    assert (refused.status, refused.code) == (403, "companies.owners_only")
    assert (removed["notes"], removed["trashed_notes"]) == (1, 0)
    assert (await heir.get(f"/api/notes/{note['id']}"))["visibility"] == "private"
    [event] = [one for one in (await boss.get("/api/org/audit"))["items"] if one["kind"] == "identity.member_removed"]
    assert (event["facts"]["private"], event["facts"]["receiver"]) == ("transfer", heir.username)


async def test_nothing_is_shared_with_whoever_left(company: Company, admin: Client, alice: Client) -> None:
    ann = await company.join("member")
    note = await alice.post("/api/notes", {"title": "x"})
    await alice.post(f"/api/notes/{note['id']}/share", {"user_id": ann.user_id, "permission": "notes:read"})
    stored = await alice.put("/api/repo/x", b"x")
    await alice.post(f"/api/repo-obj/{stored['id']}/share", {"user_id": ann.user_id})

    await remove(admin, ann)

    assert (await alice.get(f"/api/notes/{note['id']}/shares"))["items"] == []
    assert (await alice.get(f"/api/repo-obj/{stored['id']}/grants"))["items"] == []
    again = await alice.post(f"/api/notes/{note['id']}/share", {"user_id": ann.user_id, "permission": "notes:read"})
    assert (again.status, again.code) == (400, "notes.not_sharable")


async def test_what_waits_in_their_name_is_cancelled(company: Company, admin: Client) -> None:
    ann = await company.join("member")
    job = await ann.post("/api/jobs", {"kind": "x.integrator-demo.lane-report", "input": {"lane": "AMS-LIS"}})

    await remove(admin, ann)

    assert (await admin.get(f"/api/jobs/{job['id']}"))["state"] == "cancelled"


async def test_unfinished_uploads_are_let_go(company: Company, admin: Client) -> None:
    ann = await company.join("member")
    begun = await ann.post("/s3/files/film.bin?uploads")
    assert begun.status == 200, begun.raw

    await remove(admin, ann)

    owner = "SELECT count(*) FROM multipart_uploads WHERE owner_id = $1::uuid"
    assert await in_sql(company.house, owner, ann.user_id) == [[0]]


@pytest.mark.parametrize("who", ["nobody", "themselves", "a stranger", "somebody of another team", "somebody who left"])
async def test_the_successor_is_somebody_of_the_team(
    company: Company, admin: Client, alice: Client, stranger: Client, who: str
) -> None:
    gone, next_door = await company.join("member"), await company.join("member", team=await company.add_team())
    await remove(admin, gone)
    heirs = {
        "nobody": "01900000-0000-7000-8000-000000000000",
        "themselves": alice.user_id,
        "a stranger": stranger.user_id,
        "somebody of another team": next_door.user_id,
        "somebody who left": gone.user_id,
    }

    answer = await remove(admin, alice, transfer_to=heirs[who])

    assert (answer.status, answer.code, answer["errors"][0]["path"]) == (400, "identity.heir_required", "transfer_to")
    assert (await alice.get("/api/whoami")).status == 200


async def test_a_company_admin_reaches_every_team_and_names_the_successor(company: Company, alice: Client) -> None:
    boss = await company.join("admin", org_role="org_admin", team=await company.add_team())
    heir = await company.join("viewer")
    await alice.post("/api/notes", {"title": "ours", "visibility": "team"})

    unnamed = await remove(boss, alice)
    role = await change(boss, alice, "viewer")
    named = await remove(boss, alice, transfer_to=heir.user_id)

    assert (unnamed.status, unnamed.code) == (400, "identity.heir_required")
    assert (role.status, named.status) == (200, 200)


async def test_other_teams_and_companies_are_missing(company: Company, alice: Client) -> None:
    next_door = await company.join("owner", team=await company.add_team())
    elsewhere = await (await found_company(company.house)).join("owner", org_role="org_owner")

    for caller in (next_door, elsewhere):
        answers = [
            await change(caller, alice, "viewer"),
            await remove(caller, alice),
            await caller.post(f"/api/members/{alice.user_id}/reset", {}),
        ]
        assert {(answer.status, answer.code) for answer in answers} == {(404, "identity.user_missing")}


@pytest.mark.parametrize("scope", [["members:manage"], ["members:manage", "notes:read", "files:read", "search"]])
async def test_a_scoped_token_touches_nobody_who_reaches_further(
    company: Company, alice: Client, scope: list[str]
) -> None:
    scoped = await company.join("owner", scope=scope)

    answers = [
        await change(scoped, alice, "viewer"),
        await remove(scoped, alice),
        await scoped.post(f"/api/members/{alice.user_id}/reset", {}),
    ]

    assert {(answer.status, answer.code) for answer in answers} == {(403, "identity.scope_too_wide")}


async def test_a_suspended_company_still_lets_people_go(company: Company, admin: Client, alice: Client) -> None:
    await company.suspend()

    assert (await change(admin, alice, "viewer")).status == 402
    assert (await admin.post(f"/api/members/{alice.user_id}/reset", {})).status == 200
    assert (await remove(admin, alice)).status == 200


async def test_a_password_that_is_being_checked_opens_nothing_after_the_person_left(
    company: Company, admin: Client
) -> None:
    ann = await person(company)
    await remove(admin, ann)

    assert (await log_in(ann, PASSWORD)).status == 401
    assert await in_sql(company.house, "SELECT FROM tokens WHERE user_id = $1::uuid", ann.user_id) == []

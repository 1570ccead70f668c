"""Roles given, taken and lost at the same moment: nobody acts on what they were, and every team keeps an owner."""

import asyncio

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.processes import holding, rounds, until_queued
from tests.support.signing_in import PASSWORD, in_sql, log_in, person

pytestmark = pytest.mark.timeout(1800)


async def change(caller: Client, member: Client, role: str) -> Answer:
    return await caller.patch(f"/api/members/{member.user_id}", {"role": role})


async def remove(caller: Client, member: Client, **fields: object) -> Answer:
    return await caller.send("DELETE", f"/api/members/{member.user_id}", fields or None)


async def owners_of(company: Company) -> int:
    sql = "SELECT count(*) FROM users WHERE team_id = $1 AND role = 'owner' AND left_at IS NULL"
    [[count]] = await in_sql(company.house, sql, company.team.id)
    return int(str(count))


async def test_two_owners_who_demote_each_other_leave_one(company: Company) -> None:
    for _ in rounds(5, 60):
        company = await found_company(company.house)
        one, other = await company.join("owner"), await company.join("owner")

        answers = await asyncio.gather(change(one, other, "viewer"), change(other, one, "viewer"))

        assert sorted(answer.status for answer in answers) in ([200, 403], [200, 409]), [one.raw for one in answers]
        assert await owners_of(company) == 1


async def test_two_owners_who_remove_each_other_leave_one(company: Company) -> None:
    for _ in rounds(5, 60):
        company = await found_company(company.house)
        one, other = await company.join("owner"), await company.join("owner")

        answers = await asyncio.gather(remove(one, other), remove(other, one))

        assert sorted(answer.status for answer in answers)[0] == 200
        assert {answer.status for answer in answers} <= {200, 401, 404, 409}
        assert await owners_of(company) == 1


async def test_three_who_demote_in_a_circle_leave_an_owner(company: Company) -> None:
    for _ in rounds(5, 60):
        company = await found_company(company.house)
        people = [await company.join("owner") for _ in range(3)]

        answers = await asyncio.gather(
            *(change(people[n], people[(n + 1) % 3], "admin") for n in range(3)), change(people[0], people[0], "viewer")
        )

        assert all(answer.status in (200, 403, 409) for answer in answers), [answer.raw for answer in answers]
        assert await owners_of(company) >= 1


async def test_two_company_owners_who_take_each_others_role_leave_one(company: Company) -> None:
    for _ in rounds(5, 60):
        company = await found_company(company.house)
        one, other = [await company.join("owner", org_role="org_owner") for _ in range(2)]

        answers = await asyncio.gather(
            one.patch(f"/api/org/members/{other.user_id}", {"org_role": None}),
            other.patch(f"/api/org/members/{one.user_id}", {"org_role": None}),
        )

        assert sorted(answer.status for answer in answers) in ([200, 403], [200, 409])
        [[left]] = await in_sql(
            company.house, "SELECT count(*) FROM users WHERE org_id = $1 AND org_role = 'org_owner'", company.org.id
        )
        assert left == 1


async def test_whoever_is_demoted_adds_nobody_after_that_is_acknowledged(company: Company) -> None:
    owner, admin = await company.join("owner"), await company.join("admin")
    url = company.house.services.settings.database_url
    for caller in (owner, admin):
        # A credential is marked as used once a minute; that must not be what waits.
        assert (await caller.get("/api/whoami")).status == 200

    async with holding(url, "LOCK TABLE tokens IN SHARE MODE"):
        # The new member is there, and their first token waits; whoever takes the adder's role waits for both.
        adding = asyncio.create_task(admin.post("/api/members", {"username": f"new-{admin.user_id}", "role": "admin"}))
        await until_queued(url, 1)
        demoting = asyncio.create_task(change(owner, admin, "viewer"))
        await until_queued(url, 2)
        early = demoting.done()

    assert not early
    assert ((await adding).status, (await demoting).status) == (201, 200)
    assert (await admin.post("/api/members", {"username": f"n-{admin.user_id}", "role": "viewer"})).status == 403


async def test_a_sign_in_under_way_opens_nothing_for_whoever_left(company: Company) -> None:
    for _ in rounds(3, 40):
        admin, ann = await company.join("admin"), await person(company)

        answers = await asyncio.gather(
            *(log_in(ann) for _ in range(4)), remove(admin, ann), *(log_in(ann) for _ in range(4))
        )

        assert answers[4].status == 200
        assert {answer.status for answer in answers} <= {200, 401}
        assert await in_sql(company.house, "SELECT id FROM tokens WHERE user_id = $1::uuid", ann.user_id) == []


async def test_a_sign_in_under_way_with_the_old_password_opens_nothing_after_a_reset(company: Company) -> None:
    for _ in rounds(3, 40):
        admin, ann = await company.join("admin"), await person(company)
        link = (await admin.post(f"/api/members/{ann.user_id}/reset", {}))["url"].partition("token=")[2]
        redeeming = Client(ann.app).post("/api/password/reset", {"token": link, "password": PASSWORD + "!"})

        answers = await asyncio.gather(*(log_in(ann) for _ in range(3)), redeeming, *(log_in(ann) for _ in range(3)))

        assert answers[3].status == 200
        left = await in_sql(company.house, "SELECT id FROM tokens WHERE user_id = $1::uuid", ann.user_id)
        assert len(left) == 1


async def test_two_who_leave_to_each_other_leave_nothing_without_an_owner(company: Company) -> None:
    for _ in rounds(5, 60):
        admin, ann, ben = [await company.join(role) for role in ("admin", "member", "member")]
        notes = [
            (await one.post("/api/notes", {"title": "x", "visibility": "team"}))["id"] for one in (ann, ben, ann, ben)
        ]

        answers = await asyncio.gather(
            remove(admin, ann, transfer_to=ben.user_id), remove(admin, ben, transfer_to=ann.user_id)
        )

        assert sorted(answer.status for answer in answers) == [200, 400]
        owned = "SELECT count(*) FROM notes n JOIN users u ON u.id = n.owner_id WHERE n.id = ANY($1::uuid[]) AND u.left_at IS NULL"
        assert await in_sql(company.house, owned, notes) == [[4]]


async def test_nothing_is_shared_with_whoever_leaves_at_that_moment(company: Company) -> None:
    for _ in rounds(5, 60):
        admin, ann, ben = [await company.join(role) for role in ("admin", "member", "member")]
        note = (await ben.post("/api/notes", {"title": "x"}))["id"]
        stored = (await ben.put(f"/api/repo/{note}", b"x"))["id"]

        answers = await asyncio.gather(
            ben.post(f"/api/notes/{note}/share", {"user_id": ann.user_id, "permission": "notes:read"}),
            ben.post(f"/api/repo-obj/{stored}/share", {"user_id": ann.user_id}),
            remove(admin, ann),
        )

        assert {answer.status for answer in answers} <= {200, 400}, [answer.raw for answer in answers]
        grants = """
            SELECT user_id FROM note_grants WHERE user_id = $1::uuid
            UNION ALL SELECT principal_id FROM object_grants WHERE principal_id = $1::uuid
        """
        assert await in_sql(company.house, grants, ann.user_id) == []

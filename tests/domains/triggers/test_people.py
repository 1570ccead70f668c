"""People who leave, companies that are suspended, teams that go, and what is kept for how long."""

from uuid import UUID

from atrium.boot.assemble import Application
from atrium.product.triggers import chores
from tests.domains.triggers.flows import arm, done, history, outcomes, publish, upload
from tests.domains.triggers.test_firing import sql
from tests.support.client import Client
from tests.support.people import Company


async def test_a_trigger_outlives_who_made_it_and_who_fired_it(company: Company, admin: Client, alice: Client) -> None:
    maker = await company.join("admin")
    trigger = await arm(maker, await publish(admin))
    await upload(alice, "a.txt")

    for person in (maker, alice):
        await done(admin.send("DELETE", f"/api/members/{person.user_id}", {"transfer_to": admin.user_id}))
    await upload(admin, "b.txt")

    fires = await history(admin, trigger)
    assert [(fire["outcome"], fire["by"]["username"]) for fire in fires] == [
        ("fired", admin.username),
        ("fired", alice.username),
    ]
    left = await admin.get(f"/api/doc-triggers/{trigger['id']}")
    assert (left["created_by"], left["maker_id"]) == (maker.user_id, admin.user_id)


async def test_a_role_that_was_taken_away_counts_from_the_next_version_on(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    bob = await company.join("member")
    written = await done(bob.post("/api/documents", {"title": "Mine", "body": "x"}))

    await done(admin.patch(f"/api/members/{bob.user_id}", {"role": "viewer"}))
    await done(bob.put(f"/api/documents/{written['id']}", {"body": "y"}))

    assert await outcomes(admin, trigger) == ["no_permission", "fired"]


async def test_a_suspended_company_writes_nothing_and_reads_its_history(company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await upload(admin, "a.txt")
    await company.suspend()

    refused = [
        (await admin.put("/api/repo/b.txt", b"x")).status,
        (await admin.patch(f"/api/doc-triggers/{trigger['id']}", {"name": "x"})).status,
        (await admin.post("/api/doc-triggers?dry_run=1", {"workflow_slug": trigger["workflow_slug"]})).status,
    ]

    assert refused == [402, 402, 402]
    assert await outcomes(admin, trigger) == ["fired"]
    await company.suspend(False)
    await upload(admin, "b.txt")
    assert await outcomes(admin, trigger) == ["fired", "fired"]


async def test_a_team_that_is_deleted_takes_its_triggers_along(company: Company) -> None:
    team = await company.add_team()
    # Past the service: rows that refer to a team with people in it are not deleted with it.
    id = UUID(int=team.id.int ^ 1)
    await sql(
        company,
        """
        INSERT INTO doc_triggers (id, org_id, team_id, name, workflow_slug, match_prefix, match_types, input, fire_on_derived, enabled)
        VALUES ($1, $2, $3, '', 'x', '', '{}', '{}', false, true)
        """,
        id, company.org.id, team.id,
    )  # fmt: skip
    await sql(company, "INSERT INTO trigger_matches VALUES ($1, '', '', $2, $3)", team.id, id, company.org.id)
    await sql(
        company,
        """
        INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, reason)
        VALUES ($1, $1, $2, $1, $1, 1, $1, 'loop')
        """,
        id, company.org.id,
    )  # fmt: skip

    await sql(company, "DELETE FROM teams WHERE id = $1", team.id)

    for table in ("doc_triggers", "trigger_matches", "trigger_fires"):
        assert await sql(company, f"SELECT FROM {table} WHERE org_id = $1", company.org.id) == []


async def test_old_entries_are_forgotten_in_batches(house: Application, company: Company, admin: Client) -> None:
    trigger = await arm(admin, await publish(admin))
    await upload(admin, "a.txt")
    await sql(
        company,
        """
        INSERT INTO trigger_fires (trigger_id, id, org_id, object_id, version_id, number, user_id, reason, at)
        SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), gen_random_uuid(), 1, $1, 'loop', now() - interval '91 days'
          FROM generate_series(1, 2500)
        """,
        UUID(trigger["id"]), company.org.id,
    )  # fmt: skip

    forgotten = await chores.FIRES.run(house.services)

    assert forgotten >= 2500
    assert await outcomes(admin, trigger) == ["fired"]

"""Sharing objects: visibility, grants with capability and expiry, and what each lets people do."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from atrium.engine.repository import writes
from atrium.engine.repository.model import DerivationSource, ObjectDraft, Provenance
from atrium.ground.identity import service as identity
from atrium.kit.postgres.database import Database
from atrium.seams.context import Operation
from tests.domains.repository.test_api import content, keys, put
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company


async def share(
    owner: Client, id: str, principal_type: str, principal_id: str, capability: str = "view", **more: str
) -> Any:
    body = {"principal_type": principal_type, "principal_id": principal_id, "capability": capability, **more}
    return await owner.post(f"/api/repo-obj/{id}/share", body)


@pytest.mark.parametrize(
    ("capability", "writes", "deletes", "shares"),
    [("view", 403, 403, 403), ("edit", 200, 403, 403), ("manage", 200, 200, 200)],
)
async def test_a_grant_gives_what_it_names_and_no_more(
    company: Company, alice: Client, bob: Client, capability: str, writes: int, deletes: int, shares: int
) -> None:
    third = await company.join("viewer")
    stored = await put(alice, "a")
    await share(alice, stored["id"], "user", bob.user_id, capability)

    assert (await content(bob, stored["id"])).status == 200
    assert (await bob.put("/api/repo/a", b"x")).status == writes
    assert (await share(bob, stored["id"], "user", third.user_id)).status == shares
    assert (await bob.get(f"/api/repo-obj/{stored['id']}/grants")).status == shares
    assert (await bob.delete(f"/api/repo-obj/{stored['id']}")).status == deletes


async def test_sharing_a_private_object_makes_it_shared(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")

    answer = await alice.post(f"/api/repo-obj/{stored['id']}/share", {"user_id": bob.user_id})

    assert (answer["capability"], answer["permissions"], answer["granted_by"]) == (
        "view",
        ["files:read"],
        alice.user_id,
    )
    assert (await bob.get(f"/api/repo-obj/{stored['id']}"))["visibility"] == "shared"


async def test_going_back_to_private_ends_the_grants_and_says_how_many(
    company: Company, alice: Client, bob: Client
) -> None:
    stored = await put(alice, "a")
    await share(alice, stored["id"], "user", bob.user_id)
    await share(alice, stored["id"], "org", alice.org_id)

    answer = await alice.post(f"/api/repo-obj/{stored['id']}/visibility", {"visibility": "private"})

    assert (answer.status, answer["visibility"], answer["revoked"]) == (200, "private", 2)
    assert (await content(bob, stored["id"])).status == 404
    assert (await alice.get(f"/api/repo-obj/{stored['id']}/grants"))["items"] == []


async def test_a_team_grant_lets_the_whole_team_in(company: Company, alice: Client) -> None:
    team = await company.add_team()
    elsewhere, other = await company.join("viewer", team=team), await company.join("viewer")
    stored = await put(alice, "a")

    await share(alice, stored["id"], "team", str(team.id))

    assert await keys(elsewhere) == ["a"]
    assert (await content(elsewhere, stored["id"])).status == 200
    assert (await content(other, stored["id"])).status == 404


async def test_a_company_grant_lets_everybody_in_and_no_other_company(
    company: Company, alice: Client, stranger: Client
) -> None:
    elsewhere = await company.join("viewer", team=await company.add_team())
    stored = await put(alice, "a")

    await share(alice, stored["id"], "org", alice.org_id)

    assert (await content(elsewhere, stored["id"])).status == 200
    assert (await content(stranger, stored["id"])).status == 404


async def test_a_grant_ends_when_it_expires(company: Company, alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")
    await share(
        alice, stored["id"], "user", bob.user_id, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat()
    )
    before = await content(bob, stored["id"])

    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE object_grants SET expires_at = now() - interval '1 second' WHERE object_id = $1",
        stored["id"],
    )

    assert (before.status, (await content(bob, stored["id"])).status) == (200, 404)
    assert await keys(bob) == []
    assert [grant["expired"] for grant in (await alice.get(f"/api/repo-obj/{stored['id']}/grants"))["items"]] == [True]


async def test_unsharing_shuts_the_principal_out(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")
    await share(alice, stored["id"], "user", bob.user_id)

    answer = await alice.post(f"/api/repo-obj/{stored['id']}/unshare", {"user_id": bob.user_id})

    assert answer.body == {"id": stored["id"], "revoked": 1}
    assert (await content(bob, stored["id"])).status == 404


async def test_shared_lists_what_others_gave_and_nothing_of_ones_own(alice: Client, bob: Client) -> None:
    given = await put(alice, "given")
    await put(alice, "teams", visibility="team")
    await put(bob, "own")
    await share(alice, given["id"], "team", alice.team_id)

    assert await keys(bob, shared=1) == ["given"]
    assert await keys(alice, shared=1) == []
    assert await keys(bob) == ["given", "own", "teams"]


async def test_an_object_reached_in_several_ways_is_listed_once(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a", visibility="team")
    await share(alice, stored["id"], "user", bob.user_id)
    await share(alice, stored["id"], "team", alice.team_id)
    await share(alice, stored["id"], "org", alice.org_id)

    assert (await keys(bob), await keys(alice)) == (["a"], ["a"])
    assert await keys(bob, delimiter="/") == ["a"]


async def test_the_grants_list_has_one_entry_per_principal(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")
    await share(alice, stored["id"], "user", bob.user_id, "view")
    await share(alice, stored["id"], "user", bob.user_id, "manage")

    grants = (await alice.get(f"/api/repo-obj/{stored['id']}/grants"))["items"]

    assert [(grant["principal_id"], grant["capability"], grant["name"]) for grant in grants] == [
        (bob.user_id, "manage", bob.username)
    ]


@pytest.mark.parametrize("kind", ["user", "team", "org"])
async def test_nobody_outside_the_company_can_be_given_anything(alice: Client, stranger: Client, kind: str) -> None:
    stored = await put(alice, "a")
    id = {"user": stranger.user_id, "team": stranger.team_id, "org": stranger.org_id}[kind]

    answer = await share(alice, stored["id"], kind, id)

    assert (answer.status, answer.code) == (400, "repository.not_sharable")


async def test_a_share_in_the_past_or_with_the_owner_is_refused(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")

    assert (await share(alice, stored["id"], "user", bob.user_id, expires_at="2020-01-01T00:00:00Z")).status == 400
    assert (await share(alice, stored["id"], "user", alice.user_id)).status == 400
    assert (await alice.post(f"/api/repo-obj/{stored['id']}/share", {})).status == 400


async def test_a_role_does_not_open_what_is_shared_with_others(alice: Client, bob: Client, admin: Client) -> None:
    stored = await put(alice, "a")
    await share(alice, stored["id"], "user", bob.user_id)

    assert (await content(admin, stored["id"])).status == 404
    assert (await admin.post(f"/api/repo-obj/{stored['id']}/visibility", {"visibility": "team"})).status == 404


async def test_an_admin_manages_the_teams_objects(alice: Client, admin: Client) -> None:
    stored = await put(alice, "a", visibility="team")

    answer = await admin.post(f"/api/repo-obj/{stored['id']}/visibility", {"visibility": "shared"})

    assert (answer.status, answer["visibility"]) == (200, "shared")


async def test_a_changed_share_changes_the_tag(alice: Client, bob: Client) -> None:
    stored = await put(alice, "a")
    before = (await alice.get(f"/api/repo-obj/{stored['id']}")).headers["etag"]

    await share(alice, stored["id"], "user", bob.user_id)

    answer = await alice.get(f"/api/repo-obj/{stored['id']}", headers={"if-none-match": before})
    assert answer.status == 200


async def test_share_targets_are_the_teams_people_and_the_companys_teams(
    company: Company, alice: Client, bob: Client
) -> None:
    team = await company.add_team("Elsewhere")
    outside = await company.join("member", team=team)

    targets = (await alice.get("/api/share-targets")).body

    assert {one["principal_id"] for one in targets["people"]} == {alice.user_id, bob.user_id}
    assert outside.user_id not in {one["principal_id"] for one in targets["people"]}
    assert {one["name"] for one in targets["teams"]} == {"First team", "Elsewhere"}
    assert targets["org"]["principal_id"] == alice.org_id


async def test_provenance_shows_both_ends_as_far_as_one_can_see(company: Company, alice: Client, bob: Client) -> None:
    source = await put(alice, "source", visibility="team")
    hidden = await put(alice, "hidden")
    op = await operation_of(company, alice)
    threads = tuple(DerivationSource(one["id"], one["version"]["id"]) for one in (source, hidden))
    async with op.begin() as ctx:
        draft = ObjectDraft(key="made", content_type="text/plain", visibility="team")
        made = await writes.write_small(ctx, draft, b"made", provenance=Provenance(threads, step="form"))

    whole = (await alice.get(f"/api/repo-obj/{made.id}/derivations"))["items"]
    seen = (await bob.get(f"/api/repo-obj/{made.id}/derivations"))["items"]
    processing = (await bob.get(f"/api/repo-obj/{source['id']}/processing")).body

    assert {one["source_key"] for one in whole} == {"source", "hidden"}
    assert [(one["source_key"], one["step"]) for one in seen] == [("source", "form")]
    assert ([one["key"] for one in processing["derived"]], processing["sources"], processing["runs"]) == (
        ["made"],
        [],
        [],
    )


async def operation_of(company: Company, client: Client) -> Operation:
    database: Database = company.house.services.database
    async with database.borrow() as connection:
        who = await identity.identify(database, connection, (client.token or "").encode())
    return Operation(who=who, services=company.house.services)

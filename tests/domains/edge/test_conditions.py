"""Findings beside the walls, each with its test: scopes, suspension, If-Match, the audit trail."""

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.table.specimens import made

pytestmark = pytest.mark.finding


async def test_d10_a_company_is_changed_only_as_it_was_read(operator: Client) -> None:
    read = await operator.get(f"/api/orgs/{operator.org_id}")
    first = await operator.patch(f"/api/orgs/{operator.org_id}", {"name": "First"}, headers=tagged(read))

    second = await operator.patch(f"/api/orgs/{operator.org_id}", {"name": "Second"}, headers=tagged(read))

    assert (first.status, second.status) == (200, 412)
    assert second.headers["etag"] == first.headers["etag"] != read.headers["etag"]
    assert (await operator.get(f"/api/orgs/{operator.org_id}"))["name"] == "First"


async def test_d10_a_teams_model_roles_are_changed_only_as_they_were_read(admin: Client) -> None:
    read = await admin.get("/api/model-roles")
    first = await admin.put("/api/model-roles", {"roles": {"utility": "local"}}, headers=tagged(read))

    second = await admin.put("/api/model-roles", {"roles": {"utility": None}}, headers=tagged(read))

    assert (first.status, second.status, second.code) == (200, 412, "request.stale")
    assert (await admin.get("/api/model-roles"))["roles"] == {"utility": "local"}


async def test_d10_if_match_is_refused_where_there_is_nothing_to_compare(admin: Client) -> None:
    token = await made(admin.post("/api/tokens", {"name": "a"}))

    refused = await admin.delete(f"/api/tokens/{token['id']}", headers={"if-match": "*"})

    assert (refused.status, refused.code) == (412, "request.nothing_to_match")
    assert "etag" not in refused.headers
    assert (await admin.delete(f"/api/tokens/{token['id']}")).status == 200


def tagged(answer: Answer) -> dict[str, str]:
    return {"if-match": answer.headers["etag"]}


async def test_d10_a_person_is_changed_only_as_they_were_read(company: Company) -> None:
    owner = await company.join("owner", org_role="org_owner")
    bob = await company.join("member")
    [listed] = [one for one in (await owner.get("/api/members"))["items"] if one["id"] == bob.user_id]
    read = {"if-match": f'"{listed["revision"]}"'}
    first = await owner.patch(f"/api/members/{bob.user_id}", {"role": "viewer"}, headers=read)

    late = [
        await owner.patch(f"/api/members/{bob.user_id}", {"role": "admin"}, headers=read),
        await owner.patch(f"/api/org/members/{bob.user_id}", {"org_role": "org_admin"}, headers=read),
        await owner.delete(f"/api/members/{bob.user_id}", headers=read),
    ]

    assert (first.status, [answer.status for answer in late]) == (200, [412, 412, 412])
    named = await owner.patch(f"/api/org/members/{bob.user_id}", {"org_role": "org_reader"}, headers=tagged(first))
    assert named.status == 200
    assert (await owner.delete(f"/api/members/{bob.user_id}", headers=tagged(named))).status == 200

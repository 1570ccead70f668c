"""What is given and stays: roles, people and credentials by an API token, older versions by a share."""

from typing import Any

import pytest

from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.signing_in import with_token

pytestmark = pytest.mark.finding

# Events of what outlives the token by which it was given.
BY_TOKEN = {
    "identity.token_issued",
    "identity.reset_link_made",
    "companies.role_set",
    "companies.person_added",
    "identity.role_changed",
    "identity.member_added",
    "s3.key_issued",
}


@pytest.fixture
async def owner(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner")


async def _token(owner: Client, name: str = "People sync") -> tuple[str, Client]:
    issued = await owner.post("/api/tokens", {"name": name})
    assert issued.status == 201, issued.raw
    return str(issued["id"]), with_token(owner, issued["token"])


async def _gives(token: Client, company: Company) -> tuple[Answer, Client]:
    """Everything that outlives a token: a member, a person of the company, roles of another, a token, a key, a link."""
    other = await company.join("member")
    added = await token.post("/api/members", {"username": f"by-token-{other.username}", "role": "viewer"})
    answers = [
        added,
        await token.post("/api/org/members", {"username": f"also-{other.username}", "org_role": "org_admin"}),
        await token.patch(f"/api/members/{other.user_id}", {"role": "admin"}),
        await token.patch(f"/api/org/members/{other.user_id}", {"org_role": "org_owner"}),
        await token.patch(f"/api/org/members/{other.user_id}", {"org_role": None}),
        await token.post("/api/tokens", {"name": "Another", "scope": ["notes:read"]}),
        await token.post("/api/s3/credentials", {"name": "Nightly"}),
        await token.post(f"/api/members/{other.user_id}/reset", {}),
    ]
    assert {answer.status for answer in answers} <= {200, 201}, [answer.raw for answer in answers]
    return added, other


async def test_g16_events_name_the_token_by_which_something_is_given(company: Company, owner: Client) -> None:
    id, token = await _token(owner)
    await _gives(token, company)
    # The same by the person leaves no token behind.
    await owner.post("/api/members", {"username": f"by-hand-{owner.username}", "role": "viewer"})

    events = (await owner.get("/api/org/audit", limit=200))["items"]

    by_token = [event for event in events if "token" in event["facts"]]
    assert {event["kind"] for event in by_token} == BY_TOKEN
    assert {(event["facts"]["token"], event["facts"]["token_name"]) for event in by_token} == {(id, "People sync")}
    by_hand = next(event for event in events if event["kind"] == "identity.member_added")
    assert by_hand["facts"] == {"username": f"by-hand-{owner.username}", "role": "viewer"}


async def test_g16_revoking_a_token_tells_what_it_gave(company: Company, owner: Client) -> None:
    id, token = await _token(owner)
    added, other = await _gives(token, company)
    another, silent = await _token(owner, "Another one")
    await silent.get("/api/whoami")

    revoked, nothing = await owner.delete(f"/api/tokens/{id}"), await owner.delete(f"/api/tokens/{another}")

    told: dict[str, list[dict[str, Any]]] = {}
    for gift in revoked["gave"]:
        told.setdefault(gift["kind"], []).append(gift)
    assert told.keys() == BY_TOKEN
    [member] = told["identity.member_added"]
    assert (member["subject"], member["role"]) == (added["member"]["id"], "viewer")
    assert member["name"] == added["member"]["username"]
    assert [gift["org_role"] for gift in told["companies.role_set"]] == [None, "org_owner"]
    assert [(gift["subject"], gift["role"]) for gift in told["identity.role_changed"]] == [(other.user_id, "admin")]
    assert [gift["name"] for gift in (*told["identity.token_issued"], *told["s3.key_issued"])] == ["Another", "Nightly"]
    assert nothing.body == {"id": another}
    # All of it stays: that is what is told.
    assert added["member"]["id"] in [one["id"] for one in (await owner.get("/api/members", limit=200))["items"]]

"""Findings about narrow tokens: what they stay away from, and what those without a scope still make."""

import pytest

from tests.support.client import Client
from tests.table.specimens import made

pytestmark = pytest.mark.finding


async def with_scope(person: Client, *scope: str) -> Client:
    issued = await made(person.post("/api/tokens", {"name": "narrow", "scope": list(scope)}))
    return Client(person.app, issued["token"], person.user_id, person.team_id, person.org_id, person.username)


async def test_f9_a_narrow_token_stays_away_from_keys_profile_and_jobs(admin: Client) -> None:
    key = await made(admin.post("/api/s3/credentials", {}))
    job = await made(admin.post("/api/jobs", {"kind": "x.example-tools.word-count", "input": {"text": "private"}}))
    narrow = await with_scope(admin, "notes:read")

    answers = [
        await narrow.delete(f"/api/s3/credentials/{key['id']}"),
        await narrow.post("/api/s3/credentials", {}),
        await narrow.get("/api/s3/credentials"),
        await narrow.post("/api/profile", {"display_name": "Somebody else"}),
        await narrow.get("/api/jobs"),
        await narrow.get(f"/api/jobs/{job['id']}"),
        await narrow.post(f"/api/jobs/{job['id']}/cancel"),
        await narrow.get("/api/members"),
    ]

    assert [answer.status for answer in answers] == [403] * len(answers)
    assert [one["id"] for one in (await admin.get("/api/s3/credentials"))["items"]] == [key["id"]]
    assert (await narrow.get("/api/whoami")).status == 200


async def test_f9_a_token_without_a_scope_still_makes_s3_keys_for_programs(admin: Client) -> None:
    issued = await made(admin.post("/api/tokens", {"name": "wide"}))
    program = Client(admin.app, issued["token"])

    assert (await program.post("/api/s3/credentials", {})).status < 300
    assert (await program.post("/api/profile", {"display_name": "x"})).code == "identity.confirm_required"

"""Findings beside the walls, each with its test: scopes, suspension, If-Match, the audit trail."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from atrium.boot.assemble import Application
from atrium.ground.audit import sealer
from tests.client import Answer, Client
from tests.contract.specimens import made
from tests.patience import PATIENCE
from tests.people import Company, found_company
from tests.postgres import fresh_database, run_as_owner
from tests.processes import run_atrium
from tests.servers import SECRET, open_application, settings_for


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


async def test_f10_a_suspended_company_ends_and_hardens_its_credentials(company: Company) -> None:
    owner = await company.join("owner", password="a long enough phrase")
    token = await made(owner.post("/api/tokens", {"name": "leaked"}))
    key = await made(owner.post("/api/s3/credentials", {}))
    await company.suspend()

    answers = [
        await owner.delete(f"/api/tokens/{token['id']}"),
        await owner.delete(f"/api/s3/credentials/{key['id']}"),
        await owner.post("/api/password", {"password": "a long enough phrase", "new_password": "another long phrase"}),
        await owner.post("/api/2fa/enable", {"password": "another long phrase"}),
    ]

    assert [answer.status for answer in answers] == [200] * len(answers)
    assert (await owner.post("/api/tokens", {"name": "another"})).code == "tenancy.suspended"


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


async def test_f18_a_tail_cut_off_with_its_head_set_back_is_found(tmp_path: Path) -> None:
    async with fresh_database() as url, open_application(settings_for(url)) as house:
        company = await found_company(house)
        admin = await company.join("admin")
        for n in range(4):
            await made(admin.post("/api/features/chat", {"enabled": bool(n % 2)}))
        published = await sealed_heads(house, 4)
        await run_as_owner(url, "DELETE FROM audit_events WHERE seq > 2")
        await run_as_owner(url, "UPDATE audit_heads SET seq = 2, hash = (SELECT hash FROM audit_events WHERE seq = 2)")

        (tmp_path / "log").write_text("a line that is no JSON\n" + "\n".join(map(json.dumps, published)))
        alone = await run_atrium("audit", "verify", database_url=url, secret_key=SECRET)
        with_log = await run_atrium(
            "audit", "verify", "--heads", str(tmp_path / "log"), database_url=url, secret_key=SECRET
        )

    assert (alone.code, with_log.code) == (1, 1)
    assert "did not sign that end" in alone.output
    assert published[-1]["seq"] == 4


async def sealed_heads(house: Application, seq: int) -> list[dict[str, Any]]:
    """Seal until a chain has come so far; the heads that were written into the log meanwhile."""
    with capture_logs() as lines:
        async with asyncio.timeout(PATIENCE):
            while not any(line["event"] == "audit.head" and line["seq"] == seq for line in lines):
                await sealer.seal(house.services.database, house.services.keys)
                await asyncio.sleep(0.01)
    return [dict(line) for line in lines if line["event"] == "audit.head"]


async def test_f18_events_are_handed_over_as_lines_of_json(company: Company, admin: Client) -> None:
    await made(admin.post("/api/features/chat", {"enabled": False}))
    url = company.house.services.settings.database_url

    printed = await run_atrium("audit", "export", "--company", company.org.slug, database_url=url, secret_key=SECRET)

    [event] = [json.loads(line) for line in printed.output.splitlines()]
    assert (event["kind"], event["actor"], event["org_id"]) == (
        "features.switched",
        admin.username,
        str(company.org.id),
    )


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE users SET operator = true",
        "INSERT INTO users (id, org_id, team_id, username, role, operator)"
        " SELECT gen_random_uuid(), org_id, team_id, 'mallory', role, true FROM users LIMIT 1",
        "UPDATE users SET org_id = gen_random_uuid()",
    ],
)
async def test_f19_the_serving_role_makes_no_operator(company: Company, sql: str) -> None:
    await company.join("member")

    with pytest.raises(Exception, match="permission denied"):
        async with company.house.services.database.begin(company.org.id) as db:
            await db.run(sql)


async def test_f14_the_provisioning_token_cannot_be_guessed_at_any_rate() -> None:
    token = "the host's own token, which is long enough"
    async with fresh_database() as url:
        settings = settings_for(url, hosted=True, provision_token=token, rate_public_writes=5)
        async with open_application(settings) as house:
            guesses = [await Client(house.app, f"guess {n}").post("/api/instance/suspend") for n in range(8)]
            right = await Client(house.app, token).post("/api/instance/suspend")
            elsewhere = await Client(house.app, token, address="203.0.113.9").post(
                "/api/provision", {"username": "ada", "org": "Acme"}
            )

    assert [guess.status for guess in guesses] == [401] * 5 + [429] * 3
    assert right.status == 429
    assert elsewhere.status == 201


async def test_f14_a_short_provisioning_token_stops_the_start() -> None:
    checked = await run_atrium("check", hosted=1, provision_token="short")

    assert checked.code != 0
    assert "SERVICE_PROVISION_TOKEN is too short: it takes at least 32 characters" in checked.output


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

"""Hosted mode: one tenant, provisioned once, taken over once, suspended and limited by its host."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.servers import fresh_application

TOKEN = "the host's own token"
TENANT = {"username": "ada", "org": "Acme"}


@pytest.fixture
async def hosted() -> AsyncIterator[Application]:
    async with fresh_application(hosted=True, provision_token=TOKEN) as house:
        yield house


@pytest.fixture
def host(hosted: Application) -> Client:
    return Client(hosted.app, TOKEN)


async def owner_of(hosted: Application, host: Client) -> Client:
    link = (await host.post("/api/provision", TENANT))["activation_token"]
    session = await Client(hosted.app).post("/api/activate", {"token": link, "password": "a long phrase"})
    return Client(hosted.app, session["token"])


async def test_provisioning_exists_in_hosted_mode_only(nobody: Client) -> None:
    for path in ("/api/provision", "/api/instance/suspend", "/api/instance/resume", "/api/instance/quota"):
        answer = await Client(nobody.app, TOKEN).post(path, {})

        assert (answer.status, answer.code) == (404, "request.no_route")


async def test_only_the_provisioning_token_provisions(hosted: Application) -> None:
    assert (await Client(hosted.app).post("/api/provision", TENANT)).status == 401
    assert (await Client(hosted.app, "another token").post("/api/provision", TENANT)).status == 401
    assert (
        await Client(hosted.app).post(
            "/api/bootstrap", {"username": "eve", "password": "a long phrase", "org": "E", "team": "E"}
        )
    ).status == 403


async def test_the_link_lets_the_owner_in_once(hosted: Application, host: Client) -> None:
    answer = await host.post("/api/provision", TENANT)
    assert answer.status == 201
    assert answer["activation_url"] == f"http://atrium.test/activate#token={answer['activation_token']}"
    nobody = Client(hosted.app)

    sessions = await asyncio.gather(
        *(
            nobody.post("/api/activate", {"token": answer["activation_token"], "password": "a long phrase"})
            for _ in range(20)
        )
    )

    assert sorted(session.status for session in sessions) == [200] + [401] * 19
    owner = Client(hosted.app, next(session["token"] for session in sessions if session.status == 200))
    identity = await owner.get("/api/whoami")
    assert (identity["role"], identity["org_role"], identity["operator"]) == ("owner", "org_owner", False)
    assert (await nobody.post("/api/login", {"username": "ada", "password": "a long phrase"})).status == 200


async def test_provisioning_again_renews_the_link_and_makes_nobody_new(hosted: Application, host: Client) -> None:
    first, second = await host.post("/api/provision", TENANT), await host.post("/api/provision", TENANT)
    nobody = Client(hosted.app)

    assert first["owner"] == second["owner"]
    assert (
        await nobody.post("/api/activate", {"token": first["activation_token"], "password": "a long phrase"})
    ).status == 401
    assert (await host.post("/api/provision", {**TENANT, "username": "eve"})).code == "hosting.provisioned"
    assert (
        await nobody.post("/api/activate", {"token": second["activation_token"], "password": "a long phrase"})
    ).status == 200
    assert (await host.post("/api/provision", TENANT)).code == "hosting.provisioned"


async def test_fifty_provisionings_at_once_make_one_owner(hosted: Application, host: Client) -> None:
    answers = await asyncio.gather(*(host.post("/api/provision", TENANT) for _ in range(50)))

    users = await run_as_owner(hosted.services.settings.database_url, "SELECT username FROM users")
    assert [row["username"] for row in users] == ["ada"]
    assert 201 in {answer.status for answer in answers}
    assert {answer.status for answer in answers} <= {201, 409}


async def test_an_old_link_is_refused(hosted: Application, host: Client) -> None:
    link = (await host.post("/api/provision", TENANT))["activation_token"]
    await run_as_owner(hosted.services.settings.database_url, "UPDATE activations SET expires_at = now()")

    answer = await Client(hosted.app).post("/api/activate", {"token": link, "password": "a long phrase"})

    assert (answer.status, answer.code) == (401, "hosting.activation_refused")


async def test_a_suspended_tenant_reads_but_does_not_write(hosted: Application, host: Client) -> None:
    owner = await owner_of(hosted, host)

    assert (await host.post("/api/instance/suspend")).body == {"suspended": True}
    refused = await owner.post("/api/notes", {"title": "x"})
    reading = await owner.get("/api/notes")
    assert (await host.post("/api/instance/resume")).body == {"suspended": False}

    assert (refused.status, refused.code) == (402, "hosting.suspended")
    assert reading.status == 200
    assert (await owner.post("/api/notes", {"title": "x"})).status == 201


async def test_the_hosts_limit_binds_the_tenant_who_cannot_lift_it(hosted: Application, host: Client) -> None:
    owner = await owner_of(hosted, host)

    answer = await host.post("/api/instance/quota", {"dimension": "ai.requests", "limit": 1, "window": "month"})

    assert (answer.status, answer["limit"]) == (200, 1)
    assert [(await owner.post("/api/ai/echo", {"prompt": "x"})).status for _ in range(2)] == [200, 429]
    assert (await owner.post("/api/quota", {"dimension": "ai.requests", "limit": 9, "window": "month"})).status == 403


async def test_nothing_can_be_suspended_before_there_is_a_tenant(host: Client) -> None:
    assert (await host.post("/api/instance/suspend")).code == "hosting.not_provisioned"

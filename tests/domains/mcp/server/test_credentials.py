"""Which credential gets in, and as far as what."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.ground.identity import sessions
from atrium.ground.identity.credential_model import TokenTerms
from atrium.kit.crypto.tokens import digest_of
from atrium.seams.context import ANONYMOUS, Operation
from tests.domains.mcp.server.speaking import REVISIONS, ask, call, names
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

Spoil = Callable[[Company, Client], Awaitable[Client]]


async def issued(company: Company, person: Client, terms: TokenTerms | None) -> Client:
    """The same person with another credential; without terms with the first one that a new person gets."""
    op = Operation(who=ANONYMOUS, services=company.house.services)
    holder = UUID(person.user_id), UUID(person.team_id), UUID(person.org_id)
    async with op.begin_system() as ctx:
        made = await (sessions.issue(ctx, *holder, terms) if terms else sessions.open_first_session(ctx, *holder))
    return replace(person, token=made.token)


def is_admitted(answer: Answer) -> bool:
    return answer.status == 200 and "result" in answer.body


async def test_a_persons_credentials_get_in_with_what_each_may_do(company: Company, alice: Client) -> None:
    whole = await issued(company, alice, TokenTerms(kind="token"))
    reads = await issued(company, alice, TokenTerms(kind="token", scope=["notes:read"]))
    first = await issued(company, alice, None)

    assert await names(alice) == await names(whole) == await names(first)
    assert {"notes_list", "notes_read"} <= set(await names(reads)) < set(await names(alice))
    assert (await call(reads, "notes_create", title="x", body=""))["error"]["code"] == -32602
    assert is_admitted(await call(whole, "notes_create", title="x", body=""))


async def test_a_scope_beyond_the_role_gives_nothing_more(company: Company) -> None:
    viewer = await company.join("viewer")
    wide = await issued(
        company, viewer, TokenTerms(kind="token", scope=["notes:write", "settings:manage", "notes:read"])
    )

    assert not {"notes_create", "t_admin"} & set(await names(wide))


async def test_a_worker_is_refused(company: Company) -> None:
    for worker in (await company.employ(), await company.employ(bound=False)):
        answer = await ask(worker, "tools/list")
        assert (answer.status, answer.code) == (403, "access.permission_missing")


async def test_an_access_key_of_s3_is_no_credential_here(alice: Client) -> None:
    key = await alice.post("/api/s3/credentials", {"name": "A key"})

    for credential in (f"Bearer {key['access_key_id']}", f"Bearer {key['secret_access_key']}"):
        answer = await ask(replace(alice, token=None), "tools/list", authorization=credential)
        assert (answer.status, answer.code, answer.headers["www-authenticate"]) == (
            401,
            "identity.unauthenticated",
            "Bearer",
        )


async def test_without_a_credential_the_reply_names_the_scheme(alice: Client) -> None:
    for revision in REVISIONS:
        answer = await ask(replace(alice, token=None), "tools/list", None, revision)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")


async def expire(company: Company, person: Client) -> Client:
    await run_as_owner(
        company.house.services.settings.database_url,
        "UPDATE tokens SET expires_at = now() - interval '1 second' WHERE digest = $1",
        digest_of((person.token or "").encode()),
    )
    return person


async def revoke(company: Company, person: Client) -> Client:
    admin = await company.join("admin")
    token = await admin.post("/api/tokens", {"name": "to be revoked"})
    held = replace(admin, token=token["token"])
    assert is_admitted(await ask(held, "tools/list"))
    assert (await admin.delete(f"/api/tokens/{token['id']}")).status < 300
    return held


async def remove(company: Company, person: Client) -> Client:
    owner = await company.join("owner", org_role="org_owner")
    answer = await owner.send("DELETE", f"/api/members/{person.user_id}", {"transfer_to": owner.user_id})
    assert answer.status < 300, answer.raw
    return person


@pytest.mark.parametrize("spoil", [expire, revoke, remove])
async def test_a_credential_that_has_ended_is_none(company: Company, alice: Client, spoil: Spoil) -> None:
    assert is_admitted(await ask(alice, "tools/list"))

    ended = await spoil(company, alice)

    answer = await ask(ended, "tools/list")
    assert (answer.status, answer.code, answer.headers["www-authenticate"]) == (
        401,
        "identity.unauthenticated",
        "Bearer",
    )


async def test_a_suspended_company_calls_nothing(company: Company, alice: Client) -> None:
    await company.suspend()

    for answer in (await ask(alice, "tools/list"), await call(alice, "t_repeat", text="x")):
        assert (answer.status, answer.code) == (402, "tenancy.suspended")


async def test_a_team_with_the_feature_off_is_refused(admin: Client) -> None:
    await admin.post("/api/features/agent", {"enabled": False})

    answer = await ask(admin, "tools/list")

    assert (answer.status, answer.code) == (403, "features.off")


@pytest.mark.parametrize(
    "origin", ["https://evil.test", "null", "http://atrium.test:8080", "http://atrium.test.evil.test"]
)
async def test_a_page_elsewhere_is_refused_whatever_it_brings_along(alice: Client, origin: str) -> None:
    answer = await ask(alice, "tools/list", origin=origin)

    assert (answer.status, answer.code) == (403, "identity.cross_origin")
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "localhost"])
async def test_our_own_origin_with_a_token_is_let_in(alice: Client, host: str) -> None:
    assert is_admitted(await ask(alice, "tools/list", host=host, origin=f"http://{host}"))


@pytest.mark.parametrize("host", ["evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "", "[", "1"])
async def test_a_name_that_another_site_can_point_here_is_no_origin_of_ours(alice: Client, host: str) -> None:
    answer = await ask(alice, "tools/list", host=host, origin=f"http://{host}")

    assert (answer.status, answer.code) == (403, "identity.cross_origin")


async def test_the_origin_that_the_settings_name_is_ours(speaking: Application) -> None:
    url = speaking.services.settings.database_url
    async with open_application(settings_for(url, base_url="https://atrium.test")) as named:
        alice = await (await found_company(named)).join("member")

        ours = await ask(alice, "tools/list", origin="https://atrium.test")
        plain = await ask(alice, "tools/list", origin="http://atrium.test")

    assert is_admitted(ours)
    assert plain.status == 403


async def test_a_credential_has_one_rate_here_and_everywhere(speaking: Application) -> None:
    url = speaking.services.settings.database_url
    async with open_application(settings_for(url, rate_per_credential=5)) as limited:
        alice = await (await found_company(limited)).join("member")

        answers = [await ask(alice, "tools/list") for _ in range(4)] + [await alice.get("/api/whoami")]
        refused = await ask(alice, "tools/list")

    assert {answer.status for answer in answers} == {200}
    assert (refused.status, refused.code) == (429, "limits.rate")
    assert int(refused.headers["retry-after"]) > 0


async def test_another_teams_switches_do_not_count(company: Company, alice: Client, admin: Client) -> None:
    other = await company.join("admin", team=await company.add_team())
    await other.post("/api/tools/t_repeat", {"enabled": False})

    assert "t_repeat" not in await names(other)
    assert "t_repeat" in await names(alice)

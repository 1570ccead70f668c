"""The console's session: in a cookie that no script reads, good only from its own origin, and never enough to give credentials or power."""

import secrets
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from atrium.boot.assemble import Application
from atrium.routes import ROUTES
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.signing_in import COOKIE_WANTED, PASSWORD, age, in_browser, in_sql, person, with_cookie, with_token
from tests.table.specimens import Place, a_prospect

ORIGIN = "http://atrium.test"
GIVING = [(route.method, route.path) for route in ROUTES if route.gives]


def body_for(method: str, path: str) -> dict[str, object]:
    """A valid body, but for the password."""
    fresh = f"x{secrets.token_hex(6)}"
    changes: dict[str, dict[str, object]] = {
        "/api/members/:id": {"role": "admin"}, "/api/org/members/:id": {"org_role": "org_admin"},
        "/api/orgs/:ref": {"domain": f"{fresh}.example", "waive_proof": True},
    }  # fmt: skip
    bodies: dict[str, dict[str, object]] = {
        "/api/tokens": {"name": "taken"}, "/api/s3/credentials": {"name": "taken"},
        "/api/members": {"username": fresh, "role": "member"}, "/api/org/members": {"username": fresh, "role": "member"},
        "/api/orgs": {"name": "Taken", "owner": {"username": fresh}},
        "/api/members/:id/reset": {}, "/api/repo-obj/:id/presign": {"method": "PUT"},
        "/api/beta/prospects/:id/decide": {"decision": "accept", "invite": {"org": "Taken", "username": fresh}},
        "/api/executors": {"name": fresh, "mode": "pull"}, "/api/org/executors": {"name": fresh, "mode": "pull"},
    }  # fmt: skip
    return (changes if method == "PATCH" else bodies)[path]


@pytest.fixture(autouse=True)
async def no_first_company(house: Application) -> AsyncIterator[None]:
    """A sign-up form is the first company's; the tests beside these are of an instance that has none."""
    yield
    await run_as_owner(house.services.settings.database_url, "DELETE FROM instance")


async def place_of(company: Company, ann: Client, path: str) -> str:
    """The path, with somebody or something for which a credential could be made."""
    if "repo-obj" in path:
        await ann.post("/api/s3/credentials", {})
        return path.replace(":id", (await ann.put(f"/api/repo/{secrets.token_hex(6)}", b"x"))["id"])
    if "prospects" in path:
        return path.replace(":id", await a_prospect(Place(company, company.team, ann)))
    return path.replace(":id", (await company.join("member")).user_id).replace(":ref", company.org.slug)


async def an_operator(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner", operator=True, password=PASSWORD)


async def test_a_browsers_sign_in_gets_a_cookie_and_no_token(company: Company) -> None:
    ann = await person(company)

    answer = await with_token(ann, None).post(
        "/api/login", {"username": ann.username, "password": PASSWORD}, headers=COOKIE_WANTED
    )

    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert (answer.status, answer["token"]) == (200, None)
    assert name == "atrium_session"
    assert rest.partition("; ")[2] == "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
    assert (await with_cookie(ann, answer).get("/api/whoami"))["user"]["id"] == ann.user_id


async def test_a_programs_sign_in_gets_a_token_and_no_cookie(company: Company) -> None:
    ann = await person(company)

    answer = await with_token(ann, None).post("/api/login", {"username": ann.username, "password": PASSWORD})

    assert answer["token"].startswith("ats_")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("scheme", "host", "name"),
    [
        ("https", "atrium.test", "__Host-atrium_session"),
        ("https", "atrium.test:8443", "__Host-atrium_session_8443"),
        ("http", "192.168.1.5:8080", "atrium_session_8080"),
        ("http", "localhost:8080", "atrium_session_8080"),
        ("http", "127.0.0.1", "atrium_session"),
        ("http", "[::1]:8080", "atrium_session_8080"),
        ("http", "[::1]", "atrium_session"),
    ],
)
async def test_the_cookie_is_as_strict_as_the_address_allows(
    company: Company, scheme: str, host: str, name: str
) -> None:
    ann = replace(await person(company), scheme=scheme)

    answer = await with_token(ann, None).post(
        "/api/login", {"username": ann.username, "password": PASSWORD}, headers={**COOKIE_WANTED, "host": host}
    )
    browser = with_cookie(ann, answer)

    assert browser.cookie.startswith(f"{name}=atc_")
    assert answer.headers["set-cookie"].endswith("; Secure") is (scheme == "https")
    assert (await browser.get("/api/whoami", headers={"host": host})).status == 200


async def test_over_https_a_cookie_that_plain_http_could_set_counts_as_nothing(company: Company) -> None:
    browser = await in_browser(await person(company))
    tossed = replace(browser, scheme="https")

    assert (await tossed.get("/api/whoami")).status == 401


async def test_behind_a_silent_proxy_the_settings_say_that_it_is_https(database_url: str) -> None:
    async with open_application(settings_for(database_url, base_url="https://atrium.test")) as house:
        ann = await person(await found_company(house))
        browser = await in_browser(ann)

        assert browser.cookie.startswith("__Host-atrium_session=")
        unsafe = replace(browser, site="")
        assert (await unsafe.post("/api/profile", {}, headers={"origin": "https://atrium.test"})).status == 200
        assert (await unsafe.post("/api/profile", {}, headers={"origin": "http://atrium.test"})).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "nonsense"])
async def test_only_our_own_pages_write_with_a_cookie(company: Company, site: str) -> None:
    browser = await in_browser(await person(company))

    answer = await replace(browser, site=site).post("/api/notes", {"title": "forged"}, headers={"origin": ORIGIN})

    assert (answer.status, answer.code) == (403, "identity.cross_origin")
    assert (await browser.get("/api/notes"))["items"] == []


@pytest.mark.parametrize(
    "origin",
    ["https://atrium.test", "http://atrium.test:8080", "http://elsewhere.test", "http://x.atrium.test", "null", ""],
)
async def test_a_browser_that_says_no_more_than_its_origin_is_held_to_it(company: Company, origin: str) -> None:
    browser = replace(await in_browser(await person(company)), site="")

    refused = await browser.post("/api/notes", {"title": "forged"}, headers={"origin": origin} if origin else None)
    own = await browser.post("/api/notes", {"title": "mine"}, headers={"origin": ORIGIN})

    assert (refused.status, refused.code) == (403, "identity.cross_origin")
    assert own.status == 201


@pytest.mark.parametrize(("site", "status"), [("none", 200), ("", 200), ("same-site", 403), ("cross-site", 403)])
async def test_reading_with_a_cookie_is_for_our_pages_and_typed_addresses(
    company: Company, site: str, status: int
) -> None:
    browser = await in_browser(await person(company))

    assert (await replace(browser, site=site).get("/api/notes")).status == status
    assert (await replace(browser, site=site).send("HEAD", "/api/notes")).status == status


async def test_a_bearer_credential_is_the_only_one_that_counts(company: Company, alice: Client) -> None:
    browser = await in_browser(await person(company))

    both = replace(browser, token=alice.token)
    bad = await browser.get("/api/whoami", headers={"authorization": "Bearer nonsense"})

    assert (await both.get("/api/whoami"))["user"]["id"] == alice.user_id
    assert (await replace(both, site="cross-site").post("/api/notes", {"title": "a program's"})).status == 201
    assert bad.status == 401


async def test_a_bearer_token_is_worth_nothing_as_a_cookie_nor_the_reverse(company: Company) -> None:
    owner = await person(company, "owner")
    token = (await owner.post("/api/tokens", {"name": "machine"}))["token"]
    first = (await owner.post("/api/members", {"username": f"n-{owner.username}", "role": "member"}))["token"]
    browser = await in_browser(owner)

    for raw in (owner.token, token, first):
        assert (await replace(browser, cookie=f"atrium_session={raw}").get("/api/whoami")).status == 401
    assert (await with_token(owner, browser.cookie.partition("=")[2]).get("/api/whoami")).status == 401


async def test_a_long_note_is_saved_with_a_cookie(company: Company) -> None:
    browser = await in_browser(await person(company))

    answer = await browser.post("/api/notes", {"title": "Long", "body": "word " * 60_000})

    assert answer.status == 201


async def test_two_cookies_of_one_name_open_nothing(company: Company) -> None:
    victim, attacker = await in_browser(await person(company)), await in_browser(await person(company))

    for cookie in (
        f"{attacker.cookie}; {victim.cookie}",
        f"{victim.cookie}; {attacker.cookie}",
        f"{victim.cookie};{victim.cookie}",
    ):
        assert (await replace(victim, cookie=cookie).get("/api/whoami")).status == 401
        assert (await replace(victim, cookie=cookie).get("/api/branding")).status == 200


async def test_other_cookies_do_not_disturb(company: Company) -> None:
    browser = await in_browser(await person(company))

    among = replace(browser, cookie=f"theme=dark; {browser.cookie}; xatrium_session=1; atrium_session_9=2; =3; plain")

    assert (await among.get("/api/whoami")).status == 200


async def test_signing_out_forgets_the_cookie(company: Company) -> None:
    browser = await in_browser(await person(company))

    answer = await browser.post("/api/logout")

    assert answer.headers["set-cookie"] == "atrium_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    assert (await browser.get("/api/whoami")).status == 401


async def test_a_session_left_idle_ends_in_a_cookie_too(company: Company, house: Application) -> None:
    browser = await in_browser(await person(company))
    await age(with_token(browser, browser.cookie.partition("=")[2]), "12 hours 1 second")

    assert (await browser.get("/api/whoami")).status == 401


@pytest.mark.parametrize(("method", "path"), GIVING)
async def test_a_browsers_session_alone_gives_no_credential_and_no_power(
    company: Company, method: str, path: str
) -> None:
    ann = await an_operator(company)
    browser, place, body = await in_browser(ann), await place_of(company, ann, path), body_for(method, path)

    bare = await browser.send(method, place, body)
    wrong = await browser.send(method, place, {**body, "password": "not the password"})
    right = await browser.send(method, place, {**body, "password": PASSWORD})

    assert (bare.status, bare.code) == (403, "identity.confirm_required")
    assert (wrong.status, wrong.code) == (403, "identity.confirm_required")
    assert right.status in (200, 201), right.raw


@pytest.mark.parametrize(("method", "path"), GIVING)
async def test_a_program_gives_as_before(company: Company, method: str, path: str) -> None:
    ann = await an_operator(company)

    answer = await ann.send(method, await place_of(company, ann, path), body_for(method, path))

    assert answer.status in (200, 201), answer.raw


async def test_a_prospect_is_decided_about_without_the_password_unless_they_are_invited(company: Company) -> None:
    ann = await an_operator(company)
    path = "/api/beta/prospects/:id/decide"
    browser, place = await in_browser(ann), await place_of(company, ann, path)

    answer = await browser.post(place, {"decision": "accept", "note": "Bakes"})
    invited = await browser.post(place, body_for("POST", path))

    assert (answer.status, answer["state"]) == (200, "accepted")
    assert (invited.status, invited.code) == (403, "identity.confirm_required")


async def test_a_company_is_renamed_without_the_password_and_keeps_its_hostname(company: Company) -> None:
    browser = await in_browser(await an_operator(company))

    answer = await browser.patch(f"/api/orgs/{company.org.slug}", {"name": "Renamed"})

    assert (answer.status, answer["name"]) == (200, "Renamed")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/password", {"new_password": "another long phrase"}),
        ("POST", "/api/2fa/enable", {}),
        ("POST", "/api/2fa/recovery-codes", {}),
        ("DELETE", "/api/2fa", {}),
    ],
)
async def test_what_protects_the_account_asks_a_browser_for_the_password_however_fresh_it_is(
    company: Company, method: str, path: str, body: dict[str, str]
) -> None:
    ann = await person(company)
    browser = await in_browser(ann)
    if path in ("/api/2fa", "/api/2fa/recovery-codes"):
        await in_sql(company.house, "UPDATE users SET totp_sealed = '\\x00' WHERE id = $1::uuid", ann.user_id)

    bare = await browser.send(method, path, body)
    right = await browser.send(method, path, {**body, "password": PASSWORD})

    assert (bare.status, bare.code) == (403, "identity.confirm_required")
    assert right.status == 200, right.raw


async def test_guessing_the_password_from_a_browsers_session_is_slowed_like_signing_in(database_url: str) -> None:
    async with open_application(settings_for(database_url, login_failures=3)) as house:
        owner = replace(await person(await found_company(house), "owner"), address="203.0.113.77")
        browser = await in_browser(owner)
        guesses = [
            await browser.post("/api/tokens", {"name": "x", "password": f"guess {number}"}) for number in range(6)
        ]

        assert 429 in {answer.status for answer in guesses}


async def test_a_repeated_request_hands_a_programs_credential_to_no_browser(company: Company) -> None:
    owner = await person(company, "owner")
    key, draft = {"idempotency-key": "one"}, {"name": "machine", "password": PASSWORD}
    made = await owner.post("/api/tokens", draft, headers=key)
    browser = await in_browser(owner)

    repeated = await browser.post("/api/tokens", draft, headers=key)

    assert (repeated.status, repeated.code) == (409, "idempotency.reused")
    assert made["token"].encode() not in repeated.raw


async def test_a_first_session_becomes_a_browsers_with_its_first_password(company: Company, admin: Client) -> None:
    added = await admin.post("/api/members", {"username": f"new-{admin.username}", "role": "member"})
    newcomer = with_token(admin, added["token"])

    answer = await newcomer.post("/api/password", {"new_password": PASSWORD}, headers=COOKIE_WANTED)

    assert (answer.status, answer["token"]) == (200, None)
    assert (await with_cookie(newcomer, answer).get("/api/whoami"))["credential"] == "session"


async def test_the_companys_look_is_shown_to_its_people_and_not_to_other_sites(company: Company) -> None:
    ann = await company.join("owner", org_role="org_owner", password=PASSWORD)
    assert (await ann.put("/api/org/branding", {"title": "Ours alone"})).status == 200
    browser = await in_browser(ann)

    assert (await browser.get("/api/branding"))["title"] == "Ours alone"
    assert (await replace(browser, site="cross-site").get("/api/branding"))["title"] != "Ours alone"


async def test_large_files_move_in_parts_with_the_cookie(company: Company) -> None:
    browser = await in_browser(await person(company))

    begun = await browser.post("/s3/files/large.bin?uploads")
    forged = await replace(browser, site="cross-site").post("/s3/files/forged.bin?uploads")

    assert begun.status == 200, begun.raw
    assert forged.status == 403
    assert b"AccessDenied" in forged.raw


async def test_no_other_origin_is_ever_invited(company: Company) -> None:
    browser = await in_browser(await person(company))

    for method in ("OPTIONS", "GET", "POST"):
        answer = await replace(browser, site="cross-site").send(
            method, "/api/notes", headers={"origin": "http://evil.test", "access-control-request-method": "POST"}
        )
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert answer.status in (403, 405)


@pytest.mark.parametrize("header", ["x-http-method-override", "x-http-method", "x-method-override"])
async def test_a_header_does_not_turn_one_method_into_another(company: Company, header: str) -> None:
    browser = await in_browser(await person(company))

    read = await replace(browser, site="none").get("/api/sessions", headers={header: "DELETE"})
    forged = await replace(browser, site="").post("/api/logout", headers={header: "GET"})

    assert (read.status, forged.status) == (200, 403)
    assert len((await browser.get("/api/sessions"))["items"]) == 2

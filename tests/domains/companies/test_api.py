"""Companies over HTTP: the operators' plane, the company's own plane, and the wall between companies."""

import asyncio

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Answer, Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


async def founded(operator: Client, **fields: object) -> Answer:
    name = f"Co {operator.username} {len(str(fields))}"
    owner = {"username": f"owner-{id(fields)}-{operator.username}"}
    return await operator.post("/api/orgs", {"name": name, "owner": owner, **fields})


async def test_a_company_is_founded_with_its_team_and_owner(operator: Client, house: Application) -> None:
    answer = await founded(operator, team="Core", plan="team")

    assert answer.status == 201
    owner = Client(house.app, answer["token"])
    identity = await owner.get("/api/whoami")
    assert (identity["org"]["id"], identity["team"]["name"], identity["org_role"]) == (
        answer["org"]["id"],
        "Core",
        "org_owner",
    )
    assert (await owner.get("/api/org"))["plan"] == "team"


async def test_e14_the_companys_tag_changes_with_whatever_it_shows(company: Company) -> None:
    owner = await company.join("owner", org_role="org_owner")
    first = await owner.get("/api/org")
    known = {"if-none-match": first.headers["etag"]}
    same = await owner.get("/api/org", headers=known)

    await owner.post("/api/notes", {"title": "x", "body": "y" * 1000, "visibility": "private"})
    used = await owner.get("/api/org", headers=known)
    await owner.post("/api/org/teams", {"name": "Second"})
    joined = await owner.get("/api/org", headers={"if-none-match": used.headers["etag"]})

    assert (same.status, joined.status) == (304, 200)
    assert (used.headers["etag"] != first.headers["etag"]) is (used.raw != first.raw)
    assert {team["name"] for team in joined["teams"]} >= {"Second"}


async def test_an_explicit_slug_is_a_natural_key(operator: Client, company: Company) -> None:
    slug = f"acme-{company.org.id.hex[-8:]}"
    first = await founded(operator, slug=slug)

    again = await operator.post("/api/orgs", {"name": "Another", "slug": slug, "owner": {"username": "someone-else"}})

    assert (first.status, first["org"]["slug"]) == (201, slug)
    assert (again.status, again.code) == (409, "tenancy.slug_taken")
    assert (await operator.get(f"/api/orgs/{slug}"))["id"] == first["org"]["id"]


async def test_of_fifty_foundings_with_one_slug_one_wins(operator: Client, company: Company) -> None:
    slug = f"race-{company.org.id.hex[-8:]}"

    answers = await asyncio.gather(
        *(
            operator.post("/api/orgs", {"name": "R", "slug": slug, "owner": {"username": f"{slug}-{n}"}})
            for n in range(50)
        )
    )

    assert sorted(answer.status for answer in answers) == [201] + [409] * 49


async def test_a_plan_re_applies_its_caps(operator: Client) -> None:
    org = (await founded(operator, plan="free"))["org"]
    at = f"/api/orgs/{org['id']}"

    changed = await operator.patch(at, {"plan": "business", "name": "Renamed"})

    assert (changed["plan"], changed["name"]) == ("business", "Renamed")
    caps = {(quota["dimension"], quota["window"]): quota["limit"] for quota in changed["quotas"]}
    assert caps["ai.requests", "day"] == 100_000
    assert (await operator.patch(at, {"plan": "unlimited"}))["quotas"] == []
    assert (await operator.patch(at, {"plan": "gold"})).status == 400


async def test_a_company_shows_operators_what_it_has_used(operator: Client, house: Application) -> None:
    answer = await founded(operator, plan="free")
    await Client(house.app, answer["token"]).post("/api/ai/echo", {})

    company = await operator.get(f"/api/orgs/{answer['org']['id']}")

    spent = next(line for line in company["usage"] if line["dimension"] == "ai.requests")
    assert (spent["level"], spent["window"], spent["used"], spent["remaining"]) == ("org", "day", 1, 199)


async def test_operators_see_what_a_company_keeps_before_it_is_in_the_books(
    operator: Client, house: Application
) -> None:
    answer = await founded(operator)
    at = f"/api/orgs/{answer['org']['id']}"
    await Client(house.app, answer["token"]).post("/api/notes", {"title": "four", "body": "eight by"})

    replies = [await operator.get(at), await operator.patch(at, {"name": "Renamed"})]

    assert [reply.status for reply in replies] == [200, 200]
    for company in replies:
        stored = next(line for line in company["usage"] if line["dimension"] == "storage.bytes")
        assert (stored["used"], stored["parts"]["notes"]) == (12, 12)


async def test_a_suspended_company_reads_and_signs_in_but_does_not_write(
    operator: Client, house: Application, database_url: str
) -> None:
    org = (await founded(operator, owner={"username": f"sus-{operator.username}", "password": "a long phrase"}))["org"]
    credentials = {"username": f"sus-{operator.username}", "password": "a long phrase"}
    async with open_application(settings_for(database_url)) as second:
        here = Client(house.app, (await Client(house.app).post("/api/login", credentials))["token"])
        there = Client(second.app, here.token)
        assert (await there.post("/api/notes", {"title": "before"})).status == 201

        assert (await operator.post(f"/api/orgs/{org['slug']}/suspend"))["suspended"]

        for client in (here, there):
            refused = await client.post("/api/notes", {"title": "during"})
            assert (refused.status, refused.code) == (402, "tenancy.suspended")
            assert (await client.get("/api/notes")).status == 200
        assert (await Client(second.app).post("/api/login", credentials)).status == 200

        assert not (await operator.post(f"/api/orgs/{org['id']}/resume"))["suspended"]

        assert (await there.post("/api/notes", {"title": "after"})).status == 201


async def test_operators_work_on_while_their_own_company_is_suspended(company: Company, operator: Client) -> None:
    assert (await operator.post(f"/api/orgs/{company.org.id}/suspend")).status == 200

    assert (await operator.post("/api/notes", {"title": "x"})).status == 402
    assert (await operator.post(f"/api/orgs/{company.org.id}/resume")).status == 200


async def test_listing_pages_and_searches(operator: Client) -> None:
    made = {
        (
            await founded(
                operator, name=f"Pager {operator.username} {n}", owner={"username": f"p{n}-{operator.username}"}
            )
        )["org"]["id"]
        for n in range(5)
    }

    found = await operator.get("/api/orgs", q=f"Pager {operator.username}", limit=3)
    rest = await operator.get("/api/orgs", q=f"Pager {operator.username}", limit=3, cursor=found["next_cursor"])

    assert {org["id"] for org in (*found["items"], *rest["items"])} == made
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("Notes.Example.COM", "notes.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("a.example.", "a.example"),
    ],
)
async def test_a_hostname_has_one_spelling_and_one_company(
    operator: Client, company: Company, given: str, stored: str
) -> None:
    other = await found_company(company.house)
    await operator.patch(f"/api/orgs/{other.org.id}", {"domain": None})

    mine = await operator.patch(f"/api/orgs/{company.org.id}", {"domain": given})
    theirs = await operator.patch(f"/api/orgs/{other.org.id}", {"domain": stored})

    assert (mine["domain"], mine["domain_verified"]) == (stored, True)
    assert (theirs.status, theirs.code) == (409, "tenancy.domain_taken")
    assert (await operator.patch(f"/api/orgs/{company.org.id}", {"domain": None}))["domain"] is None


@pytest.mark.parametrize(
    "bad",
    [
        "localhost",
        "127.0.0.1",
        "a b.example",
        "ex_ample.com",
        "host.example:80",
        "[::1]",
        "-x.example",
        "http://x.example",
    ],
)
async def test_what_is_no_hostname_is_refused(operator: Client, company: Company, bad: str) -> None:
    answer = await operator.patch(f"/api/orgs/{company.org.id}", {"domain": bad})

    assert (answer.status, answer.code) == (400, "tenancy.bad_domain")


async def test_operators_addresses_do_not_exist_on_a_companys_hostname(operator: Client, company: Company) -> None:
    host = f"h{company.org.id.hex[-8:]}.example"
    await operator.patch(f"/api/orgs/{company.org.id}", {"domain": host})

    answer = await operator.get("/api/orgs", headers={"host": f"{host.upper()}:8443"})

    assert (answer.status, answer.code) == (404, "request.no_route")
    assert (await operator.get("/api/orgs", headers={"host": f"other.{host}"})).status == 200


async def test_a_company_admin_makes_teams_and_adds_people(company: Company, house: Application) -> None:
    boss = await company.join("admin", org_role="org_admin")

    team = await boss.post("/api/org/teams", {"name": "Support"})
    added = await boss.post(
        "/api/org/members",
        {
            "username": f"new-{company.org.id.hex[-8:]}",
            "team_id": team["id"],
            "role": "admin",
            "org_role": "org_reader",
        },
    )

    assert (team.status, added.status) == (201, 201)
    person = await Client(house.app, added["token"]).get("/api/whoami")
    assert (person["team"]["name"], person["role"], person["org_role"]) == ("Support", "admin", "org_reader")
    assert [item["name"] for item in (await boss.get("/api/org/teams"))["items"]] == ["First team", "Support"]
    everyone = {item["username"] for item in (await boss.get("/api/members", scope="org"))["items"]}
    assert {boss.username, added["member"]["username"]} <= everyone


async def test_company_roles_follow_their_rules(company: Company) -> None:
    owner = await company.join("member", org_role="org_owner")
    boss = await company.join("member", org_role="org_admin")
    reader = await company.join("member", org_role="org_reader")
    person = await company.join("member")

    assert (await boss.patch(f"/api/org/members/{boss.user_id}", {"org_role": None})).code == "companies.own_role"
    assert (
        await boss.patch(f"/api/org/members/{person.user_id}", {"org_role": "org_owner"})
    ).code == "companies.owners_only"
    assert (await boss.patch(f"/api/org/members/{owner.user_id}", {"org_role": None})).code == "companies.owners_only"
    assert (await boss.patch(f"/api/org/members/{person.user_id}", {"org_role": "org_admin"}))[
        "org_role"
    ] == "org_admin"
    assert (await owner.patch(f"/api/org/members/{person.user_id}", {"org_role": "org_owner"})).status == 200
    assert (await owner.patch(f"/api/org/members/{person.user_id}", {"org_role": None}))["org_role"] is None
    assert (await reader.post("/api/org/teams", {"name": "x"})).status == 403
    assert (await person.get("/api/org")).code == "access.plane"


async def test_people_of_another_company_are_missing(company: Company, stranger: Client) -> None:
    boss = await company.join("member", org_role="org_owner")
    other_team = (await stranger.get("/api/whoami"))["team"]["id"]

    role = await boss.patch(f"/api/org/members/{stranger.user_id}", {"org_role": "org_reader"})
    person = await boss.post("/api/org/members", {"username": f"x-{company.org.id.hex[-8:]}", "team_id": other_team})

    assert (role.status, person.status) == (404, 404)


async def test_the_company_sees_what_operators_did_to_it(company: Company, operator: Client) -> None:
    other = await found_company(company.house)
    owner = await other.join("owner", org_role="org_owner")
    await operator.patch(f"/api/orgs/{other.org.id}", {"name": "New name"})
    await operator.post(f"/api/orgs/{other.org.id}/suspend")

    events = (await owner.get("/api/org/audit"))["items"]

    assert [event["kind"] for event in events] == ["companies.suspended", "companies.renamed"]
    assert events[0]["actor_id"] == operator.user_id


async def test_demo_companies_need_the_switch_and_are_made_once(
    database_url: str, house: Application, operator: Client
) -> None:
    async with open_application(settings_for(database_url, demo=False)) as closed:
        assert (await Client(closed.app, operator.token).post("/api/admin/seed-tenants")).code == "companies.demo_off"
    async with open_application(settings_for(database_url)) as demo:
        there = Client(demo.app, operator.token)

        first, again = await there.post("/api/admin/seed-tenants"), await there.post("/api/admin/seed-tenants")

        assert [org["slug"] for org in first["items"]] == ["demo-bakery", "demo-shipping"]
        assert first.body == again.body
        signed_in = await Client(demo.app).post("/api/login", {"username": "demo-baker", "password": "demo-password"})
        assert signed_in.status == 200


async def test_samples_are_seeded_once(admin: Client) -> None:
    first, again = await admin.post("/api/admin/seed"), await admin.post("/api/admin/seed")

    assert (first.body, again.body) == ({"notes": 3, "documents": 2}, {"notes": 0, "documents": 0})
    assert len((await admin.get("/api/notes"))["items"]) == 3


async def test_samples_are_seeded_by_who_could_write_them(company: Company) -> None:
    narrow = await company.join("admin", scope=["settings:manage"])

    answer = await narrow.post("/api/admin/seed")

    assert (answer.status, answer["permission"]) == (403, "notes:write")

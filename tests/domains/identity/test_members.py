"""People of a team over HTTP: who may add whom, their first token, and who is listed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import fresh_application
from tests.support.signing_in import PASSWORD, age, log_in, with_token


@pytest.fixture(scope="module")
async def founded_house() -> AsyncIterator[tuple[Application, Client]]:
    """A house after its first run, and its operator."""
    first = {"username": "root", "password": PASSWORD, "org": "First", "team": "Core"}
    async with fresh_application() as house:
        token = (await Client(house.app).post("/api/bootstrap", first))["token"]
        yield house, Client(house.app, token)


async def newcomer(admin: Client, username: str, role: str = "member") -> Client:
    added = await admin.post("/api/members", {"username": username, "role": role})
    assert added.status == 201, added.raw
    member = added["member"]
    return Client(admin.app, added["token"], member["id"], admin.team_id, admin.org_id, member["username"])


async def test_a_new_member_comes_with_a_first_token(admin: Client) -> None:
    added = await admin.post(
        "/api/members", {"username": f"Ann.{admin.user_id[-6:]}", "role": "viewer", "display_name": "Ann"}
    )

    assert added.status == 201
    assert set(added.body) == {"member", "token", "expires_at"}
    assert (added["member"]["display_name"], added["member"]["role"], added["member"]["two_factor"]) == (
        "Ann",
        "viewer",
        False,
    )
    who = await Client(admin.app, added["token"]).get("/api/whoami")
    assert (who["user"]["id"], who["team"]["id"], who["credential"]) == (added["member"]["id"], admin.team_id, "first")


async def test_a_first_token_lasts_72_hours(admin: Client) -> None:
    added = await admin.post("/api/members", {"username": f"ann-{admin.user_id}", "role": "viewer"})

    ends_in = datetime.fromisoformat(added["expires_at"]) - datetime.now(UTC)

    assert timedelta(hours=72) - timedelta(minutes=1) < ends_in <= timedelta(hours=72)


@pytest.mark.parametrize(("old", "status"), [("71 hours 59 minutes", 200), ("72 hours 1 second", 401)])
async def test_a_first_token_ends_whether_used_or_not(admin: Client, old: str, status: int) -> None:
    ann = await newcomer(admin, f"ann-{admin.user_id}")

    await age(ann, old)

    assert (await ann.get("/api/whoami")).status == status


async def test_the_first_password_needs_no_current_one_and_opens_a_lasting_session(admin: Client) -> None:
    ann = await newcomer(admin, f"ann-{admin.user_id}")
    await age(ann, "1 hour")

    changed = await ann.post("/api/password", {"new_password": PASSWORD})

    assert changed.status == 200
    lasting = with_token(ann, changed["token"])
    assert (await lasting.get("/api/whoami"))["credential"] == "session"
    assert (await ann.get("/api/whoami")).status == 401
    assert (await log_in(ann)).status == 200


async def test_a_lasting_session_is_not_replaced_by_the_next_password(admin: Client) -> None:
    ann = await newcomer(admin, f"ann-{admin.user_id}")
    lasting = with_token(ann, (await ann.post("/api/password", {"new_password": PASSWORD}))["token"])

    again = await lasting.post("/api/password", {"new_password": PASSWORD + "!"})

    assert (again["token"], again["expires_at"]) == (None, None)
    assert (await lasting.get("/api/whoami")).status == 200


ADDED, TOO_HIGH, NOT_PERMITTED = (201, None), (403, "identity.role_too_high"), (403, "access.permission_missing")


@pytest.mark.parametrize(
    ("own", "granted", "expected"),
    [
        ("viewer", "viewer", NOT_PERMITTED),
        ("member", "viewer", NOT_PERMITTED),
        ("admin", "viewer", ADDED),
        ("admin", "member", ADDED),
        ("admin", "admin", ADDED),
        ("admin", "owner", TOO_HIGH),
        ("owner", "admin", ADDED),
        ("owner", "owner", ADDED),
    ],
)
async def test_nobody_grants_above_their_own_role(
    company: Company, own: str, granted: str, expected: tuple[int, str | None]
) -> None:
    caller = await company.join(own)

    answer = await caller.post("/api/members", {"username": f"new-{caller.user_id}", "role": granted})

    assert (answer.status, answer.body.get("code")) == expected


async def test_an_operator_grants_any_role(company: Company) -> None:
    operator = await company.join("viewer", operator=True)

    assert (await operator.post("/api/members", {"username": f"o-{company.org.id}", "role": "owner"})).status == 201


@pytest.mark.parametrize("role", ["member", "admin"])
async def test_a_scoped_token_adds_nobody_who_reaches_further_than_itself(company: Company, role: str) -> None:
    scoped = await company.join("admin", scope=["members:manage", "notes:read", "files:read", "search"])

    answer = await scoped.post("/api/members", {"username": f"new-{scoped.user_id}", "role": role})

    assert (answer.status, answer.code) == (403, "identity.scope_too_wide")


async def test_a_scoped_token_adds_whom_its_scope_covers(company: Company) -> None:
    scoped = await company.join(
        "admin", scope=["members:manage", "notes:read", "files:read", "search", "workflows:read"]
    )

    assert (await scoped.post("/api/members", {"username": f"n-{scoped.user_id}", "role": "viewer"})).status == 201


async def test_a_username_is_taken_in_any_case_and_in_any_company(admin: Client, stranger: Client) -> None:
    name = f"ann-{admin.user_id}"
    await newcomer(admin, name)

    here = await admin.post("/api/members", {"username": name.upper(), "role": "viewer"})
    elsewhere = await stranger.post("/api/members", {"username": name.title(), "role": "viewer"})

    assert (here.status, here.code) == (409, "identity.username_taken")
    assert (elsewhere.status, elsewhere.code) == (409, "identity.username_taken")


@pytest.mark.parametrize("role", ["translator", "reviewer"])
async def test_translators_and_reviewers_belong_to_the_first_team(
    founded_house: tuple[Application, Client], role: str
) -> None:
    house, root = founded_house
    elsewhere = await (await found_company(house)).join("owner")

    inside = await root.post("/api/members", {"username": f"{role}-inside", "role": role})
    outside = await elsewhere.post("/api/members", {"username": f"{role}-outside", "role": role})

    assert inside.status == 201
    assert (outside.status, outside.code) == (403, "access.forbidden")


async def test_an_operator_elsewhere_adds_no_translator_either(founded_house: tuple[Application, Client]) -> None:
    house, _ = founded_house
    elsewhere = await (await found_company(house)).join("owner", operator=True)

    assert (await elsewhere.post("/api/members", {"username": "t-elsewhere", "role": "translator"})).status == 403


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"role": "viewer"}, ""),
        ({"username": "", "role": "viewer"}, "username"),
        ({"username": "two words", "role": "viewer"}, "username"),
        ({"username": "x" * 65, "role": "viewer"}, "username"),
        ({"username": "ünï", "role": "viewer"}, "username"),
        ({"username": "line\n", "role": "viewer"}, "username"),
        ({"username": "ann", "role": "king"}, "role"),
        ({"username": "ann", "role": "viewer", "operator": True}, ""),
    ],
)
async def test_a_malformed_member_is_refused_by_field(admin: Client, body: dict[str, object], path: str) -> None:
    answer = await admin.post("/api/members", body)

    assert answer.status == 400
    assert answer["errors"][0]["path"] == path


async def test_members_are_listed_in_the_order_they_joined_page_by_page(admin: Client) -> None:
    joined = [admin.user_id, *[(await newcomer(admin, f"m{n}-{admin.user_id}")).user_id for n in range(6)]]
    seen: list[str] = []
    cursor = None

    while True:
        page = await admin.get("/api/members", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += [member["id"] for member in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == joined


async def test_any_member_sees_their_own_team_and_no_other(company: Company, stranger: Client) -> None:
    viewer = await company.join("viewer")
    elsewhere = await company.join("member", team=await company.add_team())

    listed = {member["id"] for member in (await viewer.get("/api/members"))["items"]}

    assert listed == {viewer.user_id}
    assert not listed & {elsewhere.user_id, stranger.user_id}


async def test_adding_somebody_is_recorded(admin: Client) -> None:
    ann = await newcomer(admin, f"ann-{admin.user_id}", "viewer")

    [event] = [event for event in (await admin.get("/api/audit"))["items"] if event["kind"] == "identity.member_added"]

    assert (event["subject"], event["actor"]) == (ann.user_id, admin.username)
    assert event["facts"] == {"username": ann.username, "role": "viewer"}

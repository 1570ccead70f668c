"""First run over HTTP: one operator, once, and behind its guard when there is one."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from atrium.ground.access.model import PERMISSIONS, WORKER
from tests.support.client import Answer, Client
from tests.support.servers import fresh_application
from tests.support.signing_in import PASSWORD, in_sql

FIRST = {"username": "Root", "password": PASSWORD, "org": "Grüne Räume GmbH", "team": "Core"}


@pytest.fixture(scope="module")
async def founding() -> AsyncIterator[tuple[Application, Answer, Answer]]:
    """A house after its first run: what the configuration said before, and what the run answered."""
    async with fresh_application() as house:
        before = await Client(house.app).get("/api/config")
        yield house, before, await Client(house.app).post("/api/bootstrap", FIRST)


@pytest.fixture(scope="module")
async def open_to_all() -> AsyncIterator[Application]:
    """A house whose first run never succeeds, for the tests about malformed ones."""
    async with fresh_application() as house:
        yield house


@pytest.fixture(scope="module")
async def guarded_house() -> AsyncIterator[Application]:
    async with fresh_application(bootstrap_token="let-me-in") as house:
        yield house


async def people_in(house: Application) -> object:
    return (await in_sql(house, "SELECT count(*) FROM users"))[0][0]


Founding = tuple[Application, Answer, Answer]


def test_the_first_run_makes_an_operator_a_company_and_a_team(founding: Founding) -> None:
    _, _, founded = founding

    assert founded.status == 201
    assert set(founded.body) == {"token", "user", "org", "team"}
    assert (founded["user"]["username"], founded["user"]["display_name"]) == ("Root", "Root")
    assert (founded["org"]["name"], founded["org"]["slug"]) == ("Grüne Räume GmbH", "grune-raume-gmbh")
    assert founded["team"]["name"] == "Core"


async def test_the_first_token_is_the_operators_session(founding: Founding) -> None:
    house, _, founded = founding

    who = await Client(house.app, founded["token"]).get("/api/whoami")

    assert (who["operator"], who["org_role"], who["role"], who["credential"]) == (True, "org_owner", "owner", "session")
    assert set(who["permissions"]) == PERMISSIONS - WORKER


async def test_a_second_run_is_refused_and_makes_nothing(founding: Founding) -> None:
    house, _, _ = founding

    again = await Client(house.app).post("/api/bootstrap", FIRST | {"username": "mallory", "org": "Other"})

    assert (again.status, again.code) == (409, "instance.bootstrapped")
    assert await people_in(house) == 1
    assert await in_sql(house, "SELECT count(*) FROM orgs") == [[1]]


async def test_the_configuration_says_whether_a_first_run_is_due(founding: Founding) -> None:
    house, before, _ = founding

    after = await Client(house.app).get("/api/config")

    assert (before["needs_bootstrap"], after["needs_bootstrap"]) == (True, False)


async def test_the_first_run_is_the_first_audit_event(founding: Founding) -> None:
    house, _, founded = founding

    events = (await Client(house.app, founded["token"]).get("/api/audit"))["items"]

    assert [(event["kind"], event["actor"]) for event in events] == [("instance.bootstrapped", "Root")]


async def test_of_many_first_runs_at_once_one_wins() -> None:
    async with fresh_application() as house:
        nobody = Client(house.app)

        runs = [nobody.post("/api/bootstrap", FIRST | {"username": f"root{n}"}) for n in range(6)]
        answers = await asyncio.gather(*runs)

        assert sorted(answer.status for answer in answers) == [201] + [409] * 5
        assert await people_in(house) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"password": "short"},
        {"password": "password"},
        {"password": "root"},
        {"username": ""},
        {"username": "two words"},
        {"username": "-dash"},
        {"org": ""},
        {"team": "  "},
        {"colour": "red"},
    ],
)
async def test_a_malformed_first_run_is_refused_and_leaves_the_instance_open(
    open_to_all: Application, wrong: dict[str, str]
) -> None:
    nobody = Client(open_to_all.app)

    refused = await nobody.post("/api/bootstrap", FIRST | wrong)

    assert refused.status == 400
    assert (await nobody.get("/api/config"))["needs_bootstrap"] is True
    assert await people_in(open_to_all) == 0


@pytest.mark.parametrize("token", [None, "wrong", "let-me-in2", "let-me-i", "LET-ME-IN", "let-me-in é"])
async def test_a_guarded_first_run_needs_its_token(guarded_house: Application, token: str | None) -> None:
    refused = await Client(guarded_house.app, token).post("/api/bootstrap", FIRST)

    assert (refused.status, refused.code) == (403, "instance.bootstrap_token")
    assert await people_in(guarded_house) == 0


async def test_a_guarded_first_run_opens_with_its_token() -> None:
    async with fresh_application(bootstrap_token="let-me-in") as house:
        assert (await Client(house.app, "let-me-in").post("/api/bootstrap", FIRST)).status == 201

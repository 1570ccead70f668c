"""With every condition of our own struck from the statements, PostgreSQL's wall still lets nothing through."""

from datetime import UTC, datetime

import asyncpg
import pytest

from atrium.boot.assemble import Application
from atrium.product.s3 import sigv4
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.servers import open_application, settings_for
from tests.walls.catalog import org_column, tenant_tables
from tests.walls.population import Populated, populate
from tests.walls.sweep import Errand, errands
from tests.walls.unfenced import unfenced, without_first_wall


async def fingerprint(house: Application, where: Populated) -> dict[str, str]:
    """What a company's rows are, table by table."""
    connection = await asyncpg.connect(house.services.settings.database_url)
    try:
        return {
            table: await connection.fetchval(
                f"SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM {table} t WHERE {org_column(table)} = $1",
                where.company.org.id,
            )
            for table in await tenant_tables(connection)
        }
    finally:
        await connection.close()


async def leaking(asked: list[Errand]) -> set[str]:
    return {errand.row for errand in asked if errand.leaks(await errand.run())}


async def test_nothing_of_theirs_is_read_or_changed(
    walled_house: Application, ours: Populated, theirs: Populated
) -> None:
    asked = await errands(walled_house, ours, theirs)
    before = await fingerprint(walled_house, theirs)

    with without_first_wall() as struck:
        answers = [(errand, await errand.run()) for errand in asked]

    assert struck
    assert [errand.row for errand, answer in answers if errand.leaks(answer)] == []
    assert {answer.status for errand, answer in answers if errand.foreign} == {404}
    assert {answer.status for errand, answer in answers if not errand.foreign} == {200}
    assert await fingerprint(walled_house, theirs) == before


async def signed(person: Client, path: str) -> Answer:
    """A GET over S3."""
    key = await person.post("/api/s3/credentials", {})
    pair = (key["access_key_id"], key["secret_access_key"])
    link = sigv4.sign_link(sigv4.Link("GET", "http", "atrium.test", path), pair, "atrium", datetime.now(UTC), 60)
    return await Client(person.app).get(link.removeprefix("http://atrium.test"))


async def test_nothing_of_theirs_is_read_over_s3(walled_house: Application, ours: Populated, theirs: Populated) -> None:
    caller = await ours.company.join("admin", org_role="org_owner")
    own = await caller.put("/api/repo/own.txt?visibility=team", b"own")

    with without_first_wall() as struck:
        listed, versions = await signed(caller, "/s3/files"), await signed(caller, "/s3/files/own.txt")
        theirs_by_key = await signed(caller, f"/s3/files/{theirs.canary}.txt")

    assert own.status == 201
    assert struck
    assert (listed.status, versions.raw, theirs_by_key.status) == (200, b"own", 404)
    assert b"own.txt" in listed.raw
    assert theirs.canary.encode() not in listed.raw


async def test_the_first_wall_is_really_gone(walled_house: Application, ours: Populated) -> None:
    viewer = await ours.company.join("admin")
    at = f"/api/notes/{ours.private_note}"
    assert (await viewer.get(at)).status == 404
    assert ours.canary not in str((await viewer.get("/api/notes")).body)

    with without_first_wall():
        note, notes, tokens = await viewer.get(at), await viewer.get("/api/notes"), await viewer.get("/api/tokens")

    assert note["title"] == ours.canary
    assert {ours.private_note, ours.team_note} <= {item["id"] for item in notes["items"]}
    assert ours.token in {item["id"] for item in tokens["items"]}


async def test_without_either_wall_everything_comes_through() -> None:
    async with fresh_database() as url, open_application(settings_for(url)) as house:
        ours, theirs = await populate(house), await populate(house)
        asked = await errands(house, ours, theirs)
        await take_down_second_wall(url)

        with without_first_wall():
            leaks = await leaking(asked)

    assert leaks >= {
        "GET /api/notes",
        "GET /api/notes/:id",
        "GET /api/members",
        "GET /api/tokens",
        "GET /api/audit",
        "POST /mcp",
    }


async def take_down_second_wall(url: str) -> None:
    connection = await asyncpg.connect(url)
    tables = await tenant_tables(connection)
    await connection.close()
    for table in tables:
        await run_as_owner(url, f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize(
    ("sql", "struck"),
    [
        ("SELECT 1 WHERE n.org_id = :org_id", "SELECT 1 WHERE (:org_id::uuid IS NOT NULL)"),
        (
            "WHERE a = :a AND g.user_id = :user_id AND (owner_id = :user_id OR x)",
            "WHERE a = :a AND (:user_id::uuid IS NOT NULL) AND ((:user_id::uuid IS NOT NULL) OR x)",
        ),
        ("UPDATE users SET team_id = :team_id WHERE id = :id", "UPDATE users SET team_id = :team_id WHERE id = :id"),
        ("SELECT x FROM orgs WHERE id = :id", "SELECT x FROM orgs WHERE (:id::uuid IS NOT NULL)"),
    ],
)
def test_conditions_are_struck_and_nothing_else(sql: str, struck: str) -> None:
    assert unfenced(sql) == struck

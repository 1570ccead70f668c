"""Listings walk past nothing that is in the trash, and the trash's own past nothing that is not."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from atrium.boot.assemble import Application
from atrium.engine.repository import listing_rows as object_listings
from atrium.engine.repository.listing_rows import ListingShape
from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import trash_rows
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import compile_statement
from atrium.product.notes import store
from atrium.product.notes.model import NOTES
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

TRASHED, LIVE, PAGE = 2000, 400, 51
LISTINGS = {
    "notes": store.listing_sql("team", after=False, search=False, many=False),
    "many notes": store.listing_sql("team", after=False, search=False, many=True),
    "notes of the company": store.listing_sql("org", after=False, search=False, many=False),
    "notes in the trash": trash_rows.listing_sql(NOTES, after=False),
    "objects": object_listings.listing_sql(ListingShape()),
    "objects of the company": object_listings.listing_sql(ListingShape(scope="org")),
    "newest objects": object_listings.listing_sql(ListingShape(column="updated_at", descending=True, after=False)),
    "largest objects": object_listings.listing_sql(ListingShape(column="size", descending=True, after=False)),
    "largest objects of the company": object_listings.listing_sql(
        ListingShape(scope="org", column="size", descending=True, after=False)
    ),
    "a bucket": object_listings.bucket_listing(False),
    "objects in the trash": trash_rows.listing_sql(OBJECTS, after=False),
}


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """On a database of its own: which plan is chosen follows what else is in the tables."""
    async with (
        fresh_database() as url,
        open_application(settings_for(url, data_dir=tmp_path_factory.mktemp("listings"))) as house,
    ):
        yield house


@pytest.fixture(scope="module")
async def crowded(house: Application) -> Client:
    """Two people with a lot in the trash and less that is not, and a database that knows it."""
    company = await found_company(house)
    person, other = await company.join("admin"), await company.join("member")
    url = house.services.settings.database_url
    ids = UUID(person.org_id), UUID(person.team_id), [UUID(person.user_id), UUID(other.user_id)]
    for count, trashed in ((TRASHED, "now() - n * interval '1 second', ($3::uuid[])[1]"), (LIVE, "NULL, NULL")):
        await run_as_owner(
            url,
            "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, trashed_at, trashed_by)"
            f" SELECT gen_random_uuid(), $1, $2, ($3::uuid[])[n % 2 + 1], 't', 'b', 'team', {trashed} FROM generate_series(1, {count}) n",
            *ids,
        )
        await run_as_owner(
            url,
            "INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, trashed_at, trashed_by)"
            " SELECT gen_random_uuid(), $1, $2, ($3::uuid[])[n % 2 + 1], gen_random_uuid()::text, 'team', gen_random_uuid(),"
            f" {trashed} FROM generate_series(1, {count}) n",
            *ids,
        )
    await run_as_owner(
        url,
        "INSERT INTO object_versions (id, org_id, object_id, number, size, etag, content_type, filename, delete_marker, created_by)"
        " SELECT version_id, org_id, id, 1, 0, '', 'x/y', 'f', true, owner_id FROM objects WHERE org_id = $1",
        ids[0],
    )
    for table in ("notes", "objects", "object_versions"):
        await run_as_owner(url, f"ANALYZE {table}")
    return person


@pytest.mark.parametrize("name", LISTINGS)
async def test_a_page_reads_little_more_than_it_shows(house: Application, crowded: Client, name: str) -> None:
    nodes = await _plan(house, crowded, LISTINGS[name])

    walked = sum(int(node.get("Rows Removed by Filter", 0)) * int(node["Actual Loops"]) for node in nodes)
    whole = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
    # Of the team's, what is the caller's own comes by another branch: about as many as are shown.
    assert walked < 2 * PAGE
    assert not whole & {"notes", "objects"}


async def _plan(house: Application, person: Client, sql: str) -> list[dict[str, Any]]:
    text, names = compile_statement(sql)
    org_id, team_id, user_id = UUID(person.org_id), UUID(person.team_id), UUID(person.user_id)
    known = {
        "org_id": org_id, "team_id": team_id, "user_id": user_id, "principals": [user_id, team_id, org_id], "by_role": True,
        "limit": PAGE, "after_key": "", "after": "", "prefix": "", "after_id": NIL,
    }  # fmt: skip
    connection = await asyncpg.connect(house.services.settings.database_url)
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL ROLE atrium_app; SET LOCAL app.org_id = '{org_id}'")
            found = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", *[known[one] for one in names])
    finally:
        await connection.close()
    return _nodes(json.loads(found)[0]["Plan"])


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for below in plan.get("Plans", ()) for node in _nodes(below))]

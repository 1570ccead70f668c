"""PostgreSQL alone keeps companies apart: asked without any of our code in between, with every table filled on both sides."""

from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from atrium.boot.assemble import Application
from atrium.kit.postgres.database import APP_ROLE
from tests.walls.catalog import Connection, org_column, tenant_tables
from tests.walls.population import Populated


@pytest.fixture
async def owner(walled_house: Application) -> AsyncIterator[Connection]:
    """The login that owns the tables and passes every policy."""
    connection = await asyncpg.connect(walled_house.services.settings.database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def app(walled_house: Application) -> AsyncIterator[Connection]:
    """A connection as the server serves on: the unprivileged role, no company named yet."""
    connection = await asyncpg.connect(walled_house.services.settings.database_url)
    await connection.execute(f"SET ROLE {APP_ROLE}")
    yield connection
    await connection.close()


async def orgs_in(connection: Connection, table: str) -> set[UUID]:
    return {row[0] for row in await connection.fetch(f"SELECT DISTINCT {org_column(table)} FROM {table}")}


async def enter(app: Connection, company: UUID) -> None:
    await app.execute(f"SET app.org_id = '{company}'")


async def test_both_companies_have_rows_in_every_table(owner: Connection, ours: Populated, theirs: Populated) -> None:
    tables = await tenant_tables(owner)

    assert tables
    for table in tables:
        assert await orgs_in(owner, table) >= {ours.company.org.id, theirs.company.org.id}, table


async def test_a_company_sees_its_own_rows_and_no_others(
    owner: Connection, app: Connection, ours: Populated, theirs: Populated
) -> None:
    await enter(app, ours.company.org.id)

    for table in await tenant_tables(owner):
        assert await orgs_in(app, table) == {ours.company.org.id}, table


@pytest.mark.parametrize("setting", ["RESET app.org_id", "SET app.org_id = ''", "SET app.org_id = '{nil}'"])
async def test_without_a_company_there_are_no_rows(
    owner: Connection, app: Connection, ours: Populated, theirs: Populated, setting: str
) -> None:
    await app.execute(setting.format(nil=UUID(int=0)))

    for table in await tenant_tables(owner):
        assert await app.fetchval(f"SELECT count(*) FROM {table}") == 0, table


async def touched(app: Connection, sql: str, *values: object) -> int:
    """How many rows a statement reached; none when the role may not run it at all."""
    try:
        async with app.transaction():
            return int((await app.execute(sql, *values)).rpartition(" ")[2])
    except asyncpg.InsufficientPrivilegeError:
        return 0


async def test_another_companys_rows_are_neither_changed_nor_deleted(
    owner: Connection, app: Connection, ours: Populated, theirs: Populated
) -> None:
    await enter(app, ours.company.org.id)
    company = theirs.company.org.id

    for table in await tenant_tables(owner):
        column = org_column(table)
        before = await owner.fetchval(f"SELECT count(*) FROM {table} WHERE {column} = $1", company)
        assert await touched(app, f"UPDATE {table} SET {column} = {column} WHERE {column} = $1", company) == 0, table
        assert await touched(app, f"DELETE FROM {table} WHERE {column} = $1", company) == 0, table
        assert await owner.fetchval(f"SELECT count(*) FROM {table} WHERE {column} = $1", company) == before > 0


async def test_a_row_is_not_handed_to_another_company(
    owner: Connection, app: Connection, ours: Populated, theirs: Populated
) -> None:
    await enter(app, ours.company.org.id)

    for table in await tenant_tables(owner):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await app.execute(f"UPDATE {table} SET {org_column(table)} = $1", theirs.company.org.id)


async def test_a_row_is_not_written_into_another_company(
    owner: Connection, app: Connection, ours: Populated, theirs: Populated
) -> None:
    await enter(app, ours.company.org.id)

    for table in await tenant_tables(owner):
        row = await owner.fetchval(
            f"SELECT to_jsonb(t) FROM {table} t WHERE {org_column(table)} = $1 LIMIT 1", theirs.company.org.id
        )
        columns = ", ".join(await insertable(owner, table) or await writable(owner, table))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await app.execute(
                f"INSERT INTO {table} ({columns}) SELECT {columns} FROM jsonb_populate_record(NULL::{table}, $1)", row
            )


async def insertable(owner: Connection, table: str) -> list[str]:
    """The columns the serving role may give a new row, so that only the wall can be what refuses it."""
    rows = await owner.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
        " AND has_column_privilege($2, attrelid, attnum, 'INSERT')",
        table,
        APP_ROLE,
    )
    return [row["attname"] for row in rows]


async def writable(owner: Connection, table: str) -> list[str]:
    """Every column that anybody could give a new row; PostgreSQL computes the others itself."""
    rows = await owner.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        table,
    )
    return [row["attname"] for row in rows]


async def test_our_own_row_is_written(owner: Connection, app: Connection, ours: Populated) -> None:
    await enter(app, ours.company.org.id)

    assert await touched(app, "UPDATE notes SET org_id = $1 WHERE org_id = $1", ours.company.org.id) == 2

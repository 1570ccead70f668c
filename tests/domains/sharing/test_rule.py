"""The rule of who may read a thing is the same in each of its forms: for one row, as a listing, in Python, and as we say it."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atrium.engine.repository.model import OBJECTS
from atrium.ground.access.model import NotPermitted, permissions_of
from atrium.ground.sharing import abilities, rule
from atrium.ground.sharing.model import EVERY, Ability, ThingTable
from atrium.kit.postgres.database import Transaction
from atrium.product.notes.model import NOTES
from atrium.seams.context import Principal
from tests.postgres import fresh_database
from tests.support.processes import sized

WORLDS = sized(50, 2_000)
ORG, TEAMS = UUID(int=1), (UUID(int=11), UUID(int=12))
PEOPLE = tuple(UUID(int=20 + number) for number in range(4))
SOON, GONE = timedelta(days=1), timedelta(days=-1)
VISIBILITIES = {NOTES: ("private", "team"), OBJECTS: ("private", "team", "shared")}


class Grant(NamedTuple):
    """A level for a principal, until a time."""

    principal: UUID
    level: str
    ends: timedelta | None

    def is_live(self) -> bool:
        """Whether it counts now."""
        return self.ends is None or self.ends > timedelta(0)


class Row(msgspec.Struct, frozen=True):
    """A thing as it stands in its table, and who was let in."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    visibility: str
    trashed: bool
    deleted: bool
    grants: tuple[Grant, ...]


def rows(of: ThingTable) -> st.SearchStrategy[list[Row]]:
    principals = PEOPLE if of is NOTES else (*PEOPLE, *TEAMS, ORG)
    ends = (None, SOON, GONE) if of.grants.ends else (None,)
    grant = st.builds(Grant, st.sampled_from(principals), st.sampled_from([*of.grants.gives]), st.sampled_from(ends))
    row = st.builds(
        Row,
        st.none(),
        st.sampled_from(TEAMS),
        st.sampled_from(PEOPLE),
        st.sampled_from(VISIBILITIES[of]),
        st.booleans(),
        st.booleans() if of is OBJECTS else st.just(False),
        st.lists(grant, max_size=3, unique_by=lambda one: one.principal).map(tuple),
    )
    return st.lists(row, min_size=1, max_size=8).map(_numbered)


def _numbered(found: list[Row]) -> list[Row]:
    return [
        msgspec.structs.replace(
            row,
            id=UUID(int=1_000 + number),
            grants=tuple(one for one in row.grants if one.principal != row.owner_id),
        )
        for number, row in enumerate(found)
    ]


@st.composite
def people(draw: st.DrawFn) -> Principal:
    role = draw(st.sampled_from(["viewer", "member", "admin"]))
    org_role = draw(st.sampled_from([None, "org_reader"]))
    scope = draw(
        st.sampled_from([None, ("notes:read",), ("files:read", "files:write"), ("notes:delete", "files:delete")])
    )
    return Principal(
        user_id=draw(st.sampled_from(PEOPLE)),
        team_id=draw(st.sampled_from(TEAMS)),
        org_id=ORG,
        username="somebody",
        role=role,
        org_role=org_role,
        permissions=permissions_of(role, org_role, False, scope),
        scope=None if scope is None else frozenset(scope),
    )


# As we say it


def _held(who: Principal, row: Row) -> list[str]:
    mine = {who.user_id, who.team_id, who.org_id}
    return [one.level for one in row.grants if one.principal in mine and one.is_live()]


def may_read(who: Principal, of: ThingTable, row: Row) -> bool:
    """Its owner, the team by its role, the company's readers, and whom it was given to."""
    team_sees = row.visibility == "team"
    by_role = team_sees and row.team_id == who.team_id and f"{of.family}:read" in who.permissions
    wide = team_sees and "org:read" in who.permissions
    return row.owner_id == who.user_id or by_role or wide or bool(_held(who, row))


def listed(who: Principal, of: ThingTable, row: Row) -> bool:
    """The same without what only the company's readers can read."""
    narrow = msgspec.structs.replace(who, permissions=who.permissions - {"org:read"})
    return not row.trashed and not row.deleted and may_read(narrow, of, row)


def may(who: Principal, of: ThingTable, row: Row, ability: Ability) -> bool:
    """What somebody who can read it may do: owners all, others what was granted, and by role what the team sees."""
    if who.scope is not None and f"{of.family}:{ability}" not in who.scope:
        return False
    if ability == "read" or row.owner_id == who.user_id:
        return True
    if any(ability in of.grants.gives[level] for level in _held(who, row)):
        return True
    wanted = {f"{of.family}:{ability}"} | ({f"{of.family}:manage"} if ability == "delete" else set())
    return row.team_id == who.team_id and row.visibility == "team" and wanted <= who.permissions


# In PostgreSQL


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="module")
def connection(loop: asyncio.AbstractEventLoop) -> Iterator[Any]:
    database = fresh_database()
    url = loop.run_until_complete(database.__aenter__())
    opened = loop.run_until_complete(asyncpg.connect(url))
    yield opened
    loop.run_until_complete(opened.close())
    loop.run_until_complete(database.__aexit__(None, None, None))


async def _insert(connection: Any, of: ThingTable, found: list[Row]) -> None:
    """The rows alone: no trigger writes what follows from them, and nothing else need be there."""
    await connection.execute("SET LOCAL session_replication_role = replica")
    now = datetime.now(UTC)
    for row in found:
        own = (
            {"title": "t", "body": ""}
            if of is NOTES
            else {"key": str(row.id), "version_id": row.id, "deleted": row.deleted}
        )
        values: dict[str, Any] = {
            "id": row.id, "org_id": ORG, "team_id": row.team_id, "owner_id": row.owner_id, "visibility": row.visibility,
            "trashed_at": now if row.trashed else None, "trashed_by": row.owner_id if row.trashed else None, **own,
        }  # fmt: skip
        await _put(connection, of.table, values)
        for grant in row.grants:
            at = {
                "org_id": ORG,
                of.grants.thing: row.id,
                of.grants.principal: grant.principal,
                of.grants.level: grant.level,
            }
            more: dict[str, Any] = {"granted_by": row.owner_id, "trashed_at": now if row.trashed else None}
            if of is OBJECTS:
                kind = "user" if grant.principal in PEOPLE else "team" if grant.principal in TEAMS else "org"
                ends = None if grant.ends is None else now + grant.ends
                more |= {"principal_type": kind, "owner_id": row.owner_id, "key": str(row.id), "expires_at": ends}
            await _put(connection, of.grants.name, at | more)


async def _put(connection: Any, table: str, values: dict[str, Any]) -> None:
    names, places = ", ".join(values), ", ".join(f"${number}" for number in range(1, len(values) + 1))
    await connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", *values.values())


async def _ids(db: Transaction, sql: str, values: dict[str, Any]) -> list[UUID]:
    return sorted(row[0] for row in await db.rows(sql, **values))


async def _judge(connection: Any, of: ThingTable, found: list[Row], who: Principal) -> None:
    db, values = Transaction(connection), rule.reader(who, of)
    there = [row for row in found if not row.trashed]
    readable = [row.id for row in there if may_read(who, of, row)]
    assert await _ids(db, f"SELECT t.id FROM {of.table} t WHERE {rule.readable(of, 't')}", values) == readable

    mine = [row.id for row in found if listed(who, of, row)]
    found_by = [f"SELECT t.id FROM {way.source} WHERE {way.where}" for way in rule.keyed_ways(of, "t", "team")]
    assert await _ids(db, " UNION ".join(found_by), values) == mine
    if of is NOTES:
        once = [f"SELECT t.id FROM {way.source} WHERE {way.where}" for way in rule.ways(of, "t", "team")]
        assert await _ids(db, " UNION ALL ".join(once), values) == mine
    company = [row.id for row in there if row.visibility == "team" and not row.deleted]
    [way] = rule.ways(of, "t", "org")
    assert await _ids(db, f"SELECT t.id FROM {way.source} WHERE {way.where}", values) == company

    trash = f"SELECT t.id FROM {of.table} t WHERE {rule.manageable(of, 't')}"
    manages = {row.id for row in found if row.trashed and (row.owner_id == who.user_id or _manages(who, of, row))}
    assert set(await _ids(db, trash, rule.manager(who, of))) == manages

    for row in found:
        looked_up = await db.rows(rule.lookup(of, "t", "t.id"), id=row.id, **values)
        assert [id for id, _ in looked_up] == ([row.id] if row.id in readable else [])
        for _, levels in looked_up:
            everything = abilities.abilities_of(who, of, row, _held(who, row))
            assert abilities.abilities_of(who, of, row, levels) == everything
    for row in (one for one in there if may_read(who, of, one)):
        allowed = f"SELECT {rule.allowed(of, 't', 'write')} FROM {of.table} t WHERE t.id = :id"
        unscoped = msgspec.structs.replace(who, scope=None)
        writes = await db.value(allowed, id=row.id, **values, **rule.actor(who, of, "write"))
        assert writes == may(unscoped, of, row, "write")


def _manages(who: Principal, of: ThingTable, row: Row) -> bool:
    unscoped = msgspec.structs.replace(who, scope=None)
    return row.visibility != "private" and may(unscoped, of, row, "manage")


@pytest.mark.parametrize("of", [NOTES, OBJECTS], ids=lambda of: of.kind)
def test_the_rule_says_the_same_in_sql_as_a_listing_and_in_words(
    of: ThingTable, loop: asyncio.AbstractEventLoop, connection: Any
) -> None:
    @settings(max_examples=WORLDS, suppress_health_check=[HealthCheck.too_slow])
    @given(rows(of), st.lists(people(), min_size=1, max_size=3))
    def judged(found: list[Row], readers: list[Principal]) -> None:
        async def run() -> None:
            transaction = connection.transaction()
            await transaction.start()
            try:
                await _insert(connection, of, found)
                for who in readers:
                    await _judge(connection, of, found, who)
            finally:
                await transaction.rollback()

        loop.run_until_complete(run())

    judged()


@pytest.mark.parametrize("of", [NOTES, OBJECTS], ids=lambda of: of.kind)
def test_what_is_offered_is_what_is_not_refused(of: ThingTable) -> None:
    @settings(max_examples=sized(200, 5_000))
    @given(rows(of), people())
    def judged(found: list[Row], who: Principal) -> None:
        for row in (one for one in found if may_read(who, of, one)):
            levels = _held(who, row)
            offered = abilities.abilities_of(who, of, row, levels)
            assert offered == {ability for ability in EVERY if may(who, of, row, ability)}
            assert offered == {ability for ability in EVERY if not _is_refused(who, of, row, ability, levels)}

    judged()


def _is_refused(who: Principal, of: ThingTable, row: Row, ability: Ability, levels: list[str]) -> bool:
    acting: Any = _Asking(who, set())
    try:
        abilities.require(acting, of, row, ability, levels)
    except NotPermitted:
        return True
    return False


class _Asking(NamedTuple):
    """As much of a caller as is asked for an ability."""

    who: Principal
    checked: set[str]

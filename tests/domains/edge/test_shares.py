"""While others wait, no company holds more than its share: of connections, of transactions that take long, of threads and of streams."""

import ast
import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.chat import service as ai
from atrium.engine.chat.model import Question
from atrium.engine.tools.calls import call_tool
from atrium.ground.identity import service as identity
from atrium.kit.crypto.tokens import new_token
from atrium.kit.postgres.database import Database
from atrium.kit.work.shares import Capacity, Permit, Shares, account
from atrium.kit.work.threads import Threads
from atrium.product.changes.hub import Hub
from atrium.routes import ROUTES
from atrium.seams.context import Operation, Principal
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.processes import ROOT
from tests.support.servers import open_application, settings_for

pytestmark = pytest.mark.finding

BUSY, OTHER = UUID(int=1), UUID(int=2)
CONNECTIONS, ASKED = 2, 12
# What stays in other threads: the system's or an operator's, strangers' whose rate is bounded, and what has a thread of its own.
OUTSIDE = (
    "product/branding/logo.py",
    "product/s3/payload.py",
    "product/localization/",
    "product/mcp/servers.py",
    "product/mcp/wire.py",
    "product/onboarding/proof.py",
)


@pytest.fixture(scope="module")
async def house() -> AsyncIterator[Application]:
    """Few connections, so that some wait."""
    async with (
        fresh_database() as url,
        open_application(
            settings_for(url, database_pool=CONNECTIONS, long_transactions=1, embed_worker=False)
        ) as house,
    ):
        yield house


async def until_waiting(shares: Shares, how_many: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while shares.waiting < how_many:
            await asyncio.sleep(0)


def waits_of(database: Database) -> Shares:
    shares = database._pool._shares
    assert isinstance(shares, Shares)
    return shares


async def known(company: Company) -> Client:
    """Somebody whose credential the process has met."""
    person = await company.join()
    assert (await person.get("/api/whoami")).status == 200
    return person


async def principal_of(house: Application, person: Client) -> Principal:
    database = house.services.database
    async with database.borrow() as connection:
        return await identity.identify(database, connection, (person.token or "").encode())


async def test_g8_a_connection_goes_to_the_company_that_holds_fewest(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order in which places are given: whose reply comes first is up to the server."""
    database, given = Database(database_url, pool_size=2), list[Hashable]()
    await database.open()
    take = waits_of(database).take

    async def watched(owner: Hashable, seconds: float) -> None:
        await take(owner, seconds)
        given.append(owner)

    async def ask(company: UUID) -> None:
        async with database.begin(company):
            pass

    monkeypatch.setattr(waits_of(database), "take", watched)
    async with AsyncExitStack() as held:
        for _ in range(2):
            await held.enter_async_context(database.begin(BUSY))
        asking = [asyncio.create_task(ask(company)) for company in [BUSY] * 5 + [OTHER]]
        await until_waiting(waits_of(database), 6)
    await asyncio.gather(*asking)
    await database.close()

    assert given == [BUSY, BUSY, OTHER, *[BUSY] * 5]


async def test_g8_requests_of_a_company_that_waits_do_not_delay_anothers(
    house: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, given, passed_over = house.services.database, list[Hashable](), list[int]()
    many, one = await known(await found_company(house)), await known(await found_company(house))
    shares, theirs = waits_of(database), UUID(one.org_id)
    take = shares.take

    async def watched(owner: Hashable, seconds: float) -> None:
        before = len(given)
        await take(owner, seconds)
        if owner == theirs:
            passed_over.append(len(given) - before)
        given.append(owner)

    async def ask(person: Client) -> None:
        assert (await person.get("/api/whoami")).status == 200

    monkeypatch.setattr(shares, "take", watched)
    async with AsyncExitStack() as held:
        for _ in range(CONNECTIONS):
            await held.enter_async_context(database.begin(UUID(many.org_id)))
        asking = [asyncio.create_task(ask(person)) for person in [many] * ASKED + [one]]
        await until_waiting(shares, ASKED + 1)
    await asyncio.gather(*asking)

    # In the order in which they came, a dozen would be served before.
    assert passed_over
    assert max(passed_over) <= CONNECTIONS


async def test_g8_searches_wait_for_each_other_and_nothing_else_waits_for_them(house: Application) -> None:
    database, order = house.services.database, list[Client]()
    many, one = await known(await found_company(house)), await known(await found_company(house))

    async def ask(person: Client) -> None:
        assert (await person.get("/api/search", q="berth")).status == 200
        order.append(person)

    async with database.long.hold(UUID(many.org_id), PATIENCE):
        asking = [asyncio.create_task(ask(person)) for person in [many] * ASKED + [one]]
        await until_waiting(database.long, ASKED + 1)
        assert (await many.get("/api/whoami")).status == 200
        assert (await one.get("/api/notes")).status == 200
        assert order == []
    await asyncio.gather(*asking)

    assert order[0] is one


async def test_g8_a_listing_waits_like_a_search_when_it_searches(house: Application) -> None:
    database, person = house.services.database, await known(await found_company(house))

    async with database.long.hold(OTHER, PATIENCE):
        asking = asyncio.create_task(person.get("/api/notes", q="berth"))
        await until_waiting(database.long, 1)
        assert (await person.get("/api/notes")).status == 200
        assert not asking.done()
    assert (await asking).status == 200


async def test_g8_strangers_wait_for_no_place_of_those_who_search(house: Application) -> None:
    database, stranger = house.services.database, Client(house.app)

    async with database.long.hold(OTHER, PATIENCE):
        for token in ("no token", new_token("token")):
            stranger.token = token
            assert (await stranger.get("/api/search", q="berth")).status == 401
        new = await (await found_company(house)).join()
        asking = asyncio.create_task(new.get("/api/search", q="berth"))
        await until_waiting(database.long, 1)
        # Their company is known by now, and waits as one.
        assert list(database.long._waiting) == [UUID(new.org_id)]
    assert (await asking).status == 200


async def test_g8_what_is_no_token_takes_no_connection(house: Application) -> None:
    database, stranger = house.services.database, Client(house.app)
    stranger.token = "no token"

    async with AsyncExitStack() as held:
        for _ in range(CONNECTIONS):
            await held.enter_async_context(database.begin(BUSY))
        assert (await stranger.get("/api/whoami")).status == 401


async def test_g8_what_happens_above_companies_is_on_the_account_of_whom_it_is_done_for(house: Application) -> None:
    database = house.services.database
    waits = waits_of(database)

    async def ask(owner: str) -> None:
        account.set(owner)
        async with database.begin_system():
            pass

    async with AsyncExitStack() as held:
        for _ in range(CONNECTIONS):
            await held.enter_async_context(database.begin(BUSY))
        asking = [asyncio.create_task(ask(owner)) for owner in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
        healthy = asyncio.create_task(database.is_reachable())
        await until_waiting(waits, 4)
        assert len(waits._waiting) == 3
    await asyncio.gather(*asking)
    assert await healthy


async def test_g8_a_tool_that_searches_waits_like_a_search(house: Application) -> None:
    person = await known(await found_company(house))
    op = Operation(who=await principal_of(house, person), services=house.services)

    async with house.services.database.long.hold(OTHER, PATIENCE):
        calling = asyncio.create_task(call_tool(op, "search", {"q": "berth"}))
        await until_waiting(house.services.database.long, 1)
        assert not calling.done()

    assert (await calling).name == "search"


async def test_g8_a_thread_goes_to_the_company_that_holds_fewest() -> None:
    threads, order, first = Threads(1), list[UUID](), asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(company: UUID) -> None:
        loop.call_soon_threadsafe(order.append, company)

    def wait() -> None:
        asyncio.run_coroutine_threadsafe(first.wait(), loop).result()

    held = asyncio.create_task(threads.run(BUSY, wait))
    async with asyncio.timeout(PATIENCE):
        while not threads.held_by(BUSY):
            await asyncio.sleep(0)
    asking = [asyncio.create_task(threads.run(company, work, company)) for company in (BUSY, BUSY, OTHER)]
    await until_waiting(threads._shares, 3)
    # Whoever hangs up leaves the thread at work, and it counts until it is done.
    held.cancel()
    await asyncio.wait([held])
    assert threads.held_by(BUSY) == 1
    first.set()
    await asyncio.gather(*asking)
    threads.close()

    assert order == [OTHER, BUSY, BUSY]


def test_g8_work_of_companies_is_in_no_threads_but_those_they_share() -> None:
    found = [
        str(path.relative_to(ROOT / "src/atrium"))
        for floor in ("ground", "engine", "product", "edge")
        for path in sorted((ROOT / "src/atrium" / floor).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("to_thread", "run_in_executor")
    ]

    assert [path for path in found if not path.startswith(OUTSIDE)] == []


def test_g8_what_searches_says_that_it_may_take_long() -> None:
    long = {route.handler for route in ROUTES if route.long}

    assert long == {
        "search.search",
        "knowledge.list_entities",
        "knowledge.read_entity",
        "localization.list_messages",
        "notes.list_notes",
        "repository.list_objects",
    }


@pytest.mark.parametrize("places", [8, 2000])
def test_g11_whoever_has_many_streams_leaves_room_for_who_comes_later(places: int) -> None:
    capacity = Capacity(places)

    held: dict[int, list[Permit]] = {owner: [] for owner in range(4)}
    for owner, permits in held.items():
        while (permit := capacity.take(owner)) is not None:
            permits.append(permit)

    assert len(held[0]) == places * 3 // 4
    assert len(held[1]) > 0
    for permit in held[0]:
        permit.leave()
        permit.leave()
    assert capacity.take(3) is not None
    assert (len(capacity), capacity.held_by(0)) == (sum(map(len, held.values())) - len(held[0]) + 1, 0)


def test_g11_the_only_company_of_an_instance_has_all_of_it() -> None:
    capacity = Capacity(4, shared=False)

    assert [capacity.take(BUSY) is not None for _ in range(5)] == [True] * 4 + [False]


async def test_g11_replies_that_begin_together_have_their_places_before_anything_is_waited_for(
    house: Application,
) -> None:
    turns, person = house.services.turns, await known(await found_company(house))
    op = Operation(who=await principal_of(house, person), services=house.services)
    free = turns.capacity
    turns.capacity = Capacity(4)

    try:
        async with AsyncExitStack() as held:
            for _ in range(CONNECTIONS):
                await held.enter_async_context(house.services.database.begin(OTHER))
            question = Question(prompt="How deep is the berth?")
            asking = [asyncio.create_task(ai._begin(op, question, None)) for _ in range(8)]
            await until_waiting(waits_of(house.services.database), 3)
            held_while_waiting = turns.capacity.held_by(op.who.org_id)
        begun = await asyncio.gather(*asking, return_exceptions=True)
        await turns.settled()
    finally:
        kept, turns.capacity = turns.capacity, free

    assert held_while_waiting == 3
    assert sum(isinstance(one, BaseException) for one in begun) == 5
    assert len(kept) == 0


async def test_g11_a_company_with_many_feeds_leaves_some_for_others(
    house: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub: Hub = house.services.started["changes"]
    monkeypatch.setattr(hub, "_capacity", Capacity(4))
    many, one = await found_company(house), await found_company(house)
    people = [await principal_of(house, await many.join()) for _ in range(4)]
    other = await principal_of(house, await one.join())

    for who in people[:3]:
        hub.admit(who)
    with pytest.raises(Exception, match="as many streams as it can"):
        hub.admit(people[3])
    hub.admit(other)

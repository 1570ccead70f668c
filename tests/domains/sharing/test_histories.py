"""Inside a team nobody reads along, whatever happened before: a generated state, and every reply of every row as each colleague gets it."""

import contextlib
import logging
import os
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.edge.access_log import AccessLog
from atrium.ground.audit import service as audit
from atrium.kit.telemetry.exceptions import describe, traceback_of
from tests.domains.changes.feeds import Feed, hearing, settled
from tests.domains.sharing import histories, observed
from tests.domains.sharing.histories import BEGINNINGS, Histories, Thing
from tests.domains.sharing.observed import ASKED, LEFT_OUT, ROWS, Heard, hear, words_in
from tests.domains.sharing.test_silence import OBSERVERS, World
from tests.domains.triggers.deputies import Outside, conspire
from tests.postgres import fresh_database
from tests.support.people import found_company
from tests.support.processes import PROOFS
from tests.support.servers import open_application, settings_for
from tests.table.rows import name_of, parameters_of

pytestmark = pytest.mark.finding

# One of each kind in the gate, and those whom the issue names.
FEW, SEARCHED = len(BEGINNINGS), 8
MANY = int(os.environ.get("ATRIUM_HISTORIES") or 200)
ASKING = ("viewer", "member", "admin", "company's reader", "operator")


@dataclass(slots=True)
class Told:
    """What happened, who was there, and what was written down meanwhile where no word may be."""

    histories: Histories
    lines: list[str] = field(default_factory=list)
    streams: dict[str, str] = field(default_factory=dict)

    async def everywhere(self) -> dict[str, set[str]]:
        """The words in what no reader is asked about: the log, the trail as it is kept and exported, metrics, keys and kinds."""
        told, house = self.histories, self.histories.house
        shareables = list(house.services.registry.shareables.values())
        exported = [event async for event in audit.export(house.services.database, self._slug, shareables)]
        operator = next(one for one in told.observers if one.name == "operator").client
        texts = {
            "log": " ".join(self.lines),
            "trail": " ".join(row[0] for row in await told.rows(_FACTS)),
            "export": str(exported),
            "metrics": (await operator.get("/api/metrics")).raw.decode(),
            "keys that the product chose": " ".join(row[0] for row in await told.rows(_CHOSEN)),
            "kinds and titles of jobs and runs": " ".join(str(tuple(row)) for row in await told.rows(_CALLED)),
        }
        return {place: found for place, text in texts.items() if (found := words_in(text.encode()))}

    @property
    def _slug(self) -> str:
        return self.histories.conspiracy.company.org.slug


_FACTS = "SELECT concat(kind, subject, facts) FROM audit_events WHERE org_id = $1"
_CHOSEN = "SELECT key FROM objects WHERE org_id = $1 AND key LIKE 'chats/%'"
_CALLED = """
  SELECT kind, model, pool FROM jobs WHERE org_id = $1
  UNION ALL SELECT slug, state, '' FROM runs WHERE org_id = $1
"""


@contextlib.contextmanager
def logged(house: Application, folder: Path) -> Iterator[list[str]]:
    """Every line of the server's log, of its libraries' and of the access log, at the end of the block."""
    lines, heard, path = list[str](), list[str](), folder / "access"
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(handler.format(record))  # type: ignore[method-assign]
    with path.open("wb") as file, capture_logs() as events:
        app, was = house.app, house.app._access_log
        app._access_log = AccessLog(True, False, file.fileno())
        logging.getLogger().addHandler(handler)
        try:
            yield lines
        finally:
            logging.getLogger().removeHandler(handler)
            app._access_log.flush()
            app._access_log = was
    lines += [*map(_line_of, events), *heard, *path.read_text().splitlines()]


def _line_of(event: Any) -> str:
    """An event as the server's log writes it."""
    errors = [value for value in event.values() if isinstance(value, BaseException)]
    shown = {key: describe(value) if isinstance(value, BaseException) else value for key, value in event.items()}
    return f"{shown} {' '.join(map(traceback_of, errors))}"


async def tell(house: Application, outside: Outside, seed: int, count: int, searched: int, folder: Path) -> Told:
    """A team in which so much happened, while every observer's feed was open."""
    company = await found_company(house)
    world = World(house, company, await company.join("member"))
    await world.furnish()
    told = Told(await histories.begin(await conspire(world, outside), seed, searched))
    told.histories.things += _base(world)
    with logged(house, folder) as lines:
        async with AsyncExitStack() as open_feeds:
            feeds: dict[str, Feed] = {
                one.name: await open_feeds.enter_async_context(hearing(one.client)) for one in told.histories.observers
            }
            await told.histories.play(count)
            await settled(house, company.org.id)
            told.streams = {name: str(feed.events) for name, feed in feeds.items()}
    told.lines = lines
    return told


def _base(world: World) -> list[Thing]:
    """What the private things that everything begins with are, so that their words are hidden too."""
    kinds = {"note": "note", "file": "file", "key": "file", "document": "document"}
    things = {kind: Thing(kind, world.mia, world.ids[kind]) for kind in ("note", "file", "document")}
    for of, word in world.words.items():
        things[kinds[of.partition("'")[0]]].words[word] = of
    return list(things.values())


@pytest.fixture(scope="module")
def outside() -> Outside:
    return Outside()


@pytest.fixture(scope="module")
async def telling_house(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    settings: dict[str, Any] = {"data_dir": tmp_path_factory.mktemp("histories")}
    async with (
        fresh_database() as url,
        open_application(settings_for(url, **settings), domains=(*DOMAINS, outside.domain())) as house,
    ):
        yield house


@pytest.fixture(scope="module")
async def told(telling_house: Application, outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return await tell(telling_house, outside, 29, FEW, SEARCHED, tmp_path_factory.mktemp("log"))


def test_every_get_row_can_be_asked() -> None:
    """A new row says by which ids it is asked, a new parameter whether it is asked with and what for."""
    parameters = {name for endpoint in ROWS for name in endpoint.query}

    assert sorted(parameters - set(ASKED) - LEFT_OUT) == []
    assert {one for endpoint in ROWS for one in parameters_of(endpoint.route.path)} <= set(observed.IN_PATHS)


@pytest.mark.parametrize("name", ASKING)
async def test_nobody_hears_a_word_of_what_they_cannot_read(told: Told, name: str) -> None:
    [observer] = [one for one in told.histories.observers if one.name == name]

    heard = await hear(told.histories, observer)

    assert heard.leaks == []
    assert heard.rows == {name_of(endpoint) for endpoint in ROWS}
    # What they can read they do find: the words are not hidden from this test.
    assert _readable(told.histories, name) <= heard.known
    hidden = told.histories.hidden_from(observer)
    assert words_in(told.streams[name].encode()) & hidden.keys() == set()


def _readable(histories: Histories, name: str) -> set[str]:
    """Words of names of what is shared with an observer and there."""
    [observer] = [one for one in histories.observers if one.name == name]
    return {
        word
        for thing in histories.things
        if thing.shared and thing.state == "there"
        for word in thing.called
        if thing.tells(word, observer)
    }


async def test_no_word_is_in_the_log_the_trail_the_metrics_or_a_name_that_the_product_chose(told: Told) -> None:
    assert await told.everywhere() == {}
    assert len(told.lines) > FEW


async def test_the_same_seed_tells_the_same_history(
    telling_house: Application, outside: Outside, tmp_path: Path
) -> None:
    first, second = [await tell(telling_house, outside, 5, 2, SEARCHED, tmp_path) for _ in range(2)]

    def shape(one: Told) -> list[tuple[Any, ...]]:
        return [(thing.kind, thing.state, thing.visibility, [*thing.words]) for thing in one.histories.things[3:]]

    assert shape(first) == shape(second)


@pytest.mark.proof
@pytest.mark.timeout(3600)
async def test_after_two_hundred_histories_nobody_hears_a_word_of_what_they_cannot_read(
    telling_house: Application, outside: Outside, tmp_path: Path
) -> None:
    seed = random.randrange(2**32) if PROOFS else 29
    print(f"seed {seed}, {MANY} histories")
    told = await tell(telling_house, outside, seed, MANY, 60, tmp_path)
    found: dict[str, Heard] = {}
    for observer in told.histories.observers:
        found[observer.name] = await hear(told.histories, observer)
        print(
            f"{observer.name}: {found[observer.name].replies} replies of {len(found[observer.name].rows)} rows, "
            f"{len(found[observer.name].known)} words that they can read, {len(found[observer.name].leaks)} of "
            f"{len(told.histories.hidden_from(observer))} that they cannot"
        )
    print(f"{sum(one.replies for one in found.values())} replies, {len(told.lines)} lines of the log")

    assert {name: one.leaks for name, one in found.items() if one.leaks} == {}
    assert await told.everywhere() == {}
    for observer in told.histories.observers:
        stream = words_in(told.streams[observer.name].encode())
        assert stream & told.histories.hidden_from(observer).keys() == set()
    assert {observer.name for observer in told.histories.observers} == set(OBSERVERS)

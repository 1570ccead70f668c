"""The localization manager at size: an import beside other requests, the same again, and what people and programs then read.

python -m tests.postgres python -m benchmarks.bench_localization [--strings 50000] [--locales 20] [--reading]

With `--reading` the messages are written by one statement for each locale, and only what is then read is measured.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import asyncpg

from atrium.boot.assemble import Application
from atrium.ground.tenancy import locales
from tests.domains.localization.conftest import Desk, make_desk
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.servers import open_application, settings_for

NAMES = (
    "es",
    "fr",
    "de",
    "it",
    "pt",
    "nl",
    "is",
    "sv",
    "da",
    "nb",
    "fi",
    "pl",
    "cs",
    "sk",
    "hu",
    "ro",
    "bg",
    "el",
    "tr",
    "uk",
)
PER_NAMESPACE = 1_000
FIRST = 2_000


def text_of(number: int, language: str) -> str:
    """A message as consoles have them: seven of ten are words alone."""
    match number % 10:
        case 0:
            return f"{{count, plural, one {{# {language} file {number}}} other {{# {language} files {number}}}}} in <b>{{folder}}</b>"
        case 1 | 2:
            return f"{language} {{name}} shared number {number} with {{person}}"
        case _:
            return f"{language} text number {number}, which somewhat long sentences of a console look like"


def write_strings(root: Path, locale: str, strings: int) -> None:
    """The files of one locale, a thousand messages each."""
    (root / locale).mkdir(parents=True, exist_ok=True)
    for first in range(0, strings, PER_NAMESPACE):
        numbers = range(first, min(first + PER_NAMESPACE, strings))
        texts = {f"message{number:06}": text_of(number, locale) for number in numbers}
        (root / locale / f"part{first // PER_NAMESPACE:03}.json").write_text(json.dumps(texts))


class Others:
    """Requests of other people, one after the other, and what each took."""

    def __init__(self, house: Application, token: str | None) -> None:
        self._client, self.seconds, self._ends = Client(house.app, token), list[float](), asyncio.Event()

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[list[float]]:
        """Ask for as long as the block runs."""
        self._ends.clear()
        self.seconds = []
        task = asyncio.create_task(self._ask())
        yield self.seconds
        self._ends.set()
        await task

    async def _ask(self) -> None:
        while not self._ends.is_set():
            began = time.perf_counter()
            assert (await self._client.get("/api/notes")).status == 200
            self.seconds.append(time.perf_counter() - began)
            await asyncio.sleep(0.01)


def quantile(seconds: list[float], percent: int) -> float:
    """The time within which so many of a hundred were done, in milliseconds."""
    return 1000 * statistics.quantiles(seconds, n=100)[percent - 1]


async def timed(
    client: Client, rounds: int, path: str, query: Mapping[str, object], known: str | None = None
) -> list[float]:
    """Seconds of single requests."""
    seconds, headers = list[float](), {"if-none-match": known} if known else None
    for n in range(-3, rounds):
        began = time.perf_counter()
        answer = await client.get(path, headers=headers, **query)
        assert answer.status == (304 if known else 200), answer.raw
        if n >= 0:
            seconds.append(time.perf_counter() - began)
    return seconds


QUESTIONS: Mapping[str, dict[str, object]] = {
    "page": {"limit": 50},
    "page of a namespace": {"ns": "part001"},
    "missing": {"status": "missing"},
    "q, a common word": {"q": "sentences"},
    "q, one text": {"q": "number 1777 "},
    "q, in none": {"q": "nowhere at all"},
    "q, two letters": {"q": "zq"},
    "q, a key": {"q": "MESSAGE001"},
    "q, another alphabet": {"q": "Ω"},
}


async def reading(desk: Desk, rounds: int) -> dict[str, float]:
    """p95 in milliseconds of what people ask for."""
    found = {
        name: await timed(desk.ada, rounds, "/api/l10n/messages", {"locale": "es"} | query)
        for name, query in QUESTIONS.items()
    }
    found["coverage"] = await timed(desk.ada, rounds, "/api/l10n/coverage", {})
    return {name: quantile(seconds, 95) for name, seconds in found.items()}


async def imported(desk: Desk) -> float:
    """Seconds of an import, its job included."""
    began = time.perf_counter()
    started = await desk.ada.post("/api/l10n/import", {})
    assert started.status == 202, started.raw
    # As often as the console does.
    ended = await desk.ended(started["job"], 1200, 0.5)
    assert ended["state"] == "succeeded", ended.raw
    assert ended["result"]["refused_total"] == 0, ended["result"]["refused"][:3]
    return time.perf_counter() - began


_WRITTEN = """
SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_user_tables
 WHERE relname IN ('l10n_messages', 'l10n_history', 'l10n_counts', 'l10n_locales')
"""


async def written(url: str) -> int:
    """How many rows of messages were ever written, and of what follows from them."""
    # A connection that has become idle adds its counts after ten seconds.
    await asyncio.sleep(11)
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(_WRITTEN))
    finally:
        await connection.close()


@contextmanager
def shipping(root: Path) -> Iterator[None]:
    """Serve the catalogs of this folder as those that ship."""
    with mock.patch.object(locales, "shipped_path", return_value=root):
        yield


async def processor(url: str) -> float:
    """Seconds that this process and its database's connections have worked; on a busy machine they say more than a clock."""
    connection = await asyncpg.connect(url)
    found = await connection.fetch("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
    await connection.close()
    ticks = 0
    for (pid,) in found:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


async def measure(strings: int, languages: int, rounds: int) -> dict[str, float]:
    """Every figure, in milliseconds unless it says otherwise."""
    with TemporaryDirectory(prefix="atrium-localization-") as folder:
        root = Path(folder) / "shipped"
        write_strings(root, "en", FIRST)
        settings = {"data_dir": Path(folder) / "data", "embed_worker": True}
        async with fresh_database() as url, open_application(settings_for(url, **settings)) as house:
            with shipping(root):
                desk = await make_desk(house, root)
                found, before = dict[str, float](), await alone(desk)
                await takes(found, "import of the source and one locale", desk, url, [root, "en", "es"], strings)
                one = await reading(desk, rounds)
                async with Others(house, desk.ada.token).asking() as during:
                    more = NAMES[1:languages]
                    await takes(found, f"import of {len(more)} more", desk, url, [root, *more], strings)
                for percent in (50, 99):
                    found[f"other requests p{percent}, alone"] = quantile(before, percent)
                    found[f"other requests p{percent}, beside it"] = quantile(during, percent)
                rows = await written(url)
                await takes(found, "the same again", desk, url, [root], strings)
                found["rows it wrote"] = await written(url) - rows
                many = await reading(desk, rounds)
                for name in one:
                    found[f"{name}, p95 with 1 locale"] = one[name]
                    found[f"{name}, p95 with {languages}"] = many[name]
                return found | await catalogs(house, rounds)


async def alone(desk: Desk) -> list[float]:
    """What other requests take while nothing else happens."""
    await desk.ada.get("/api/l10n/coverage")
    async with Others(desk.house, desk.ada.token).asking() as seconds:
        await asyncio.sleep(10)
    return seconds


async def takes(
    found: dict[str, float], name: str, desk: Desk, url: str, files: Sequence[Path | str], strings: int
) -> None:
    """Write these locales' files, import, and say what that took."""
    root, *names = files
    for locale in names:
        await asyncio.to_thread(write_strings, Path(root), str(locale), strings)
    worked = await processor(url)
    found[f"{name}, s"] = await imported(desk)
    found[f"{name}, s of the processor"] = await processor(url) - worked
    await analyzed(url)


async def analyzed(url: str) -> None:
    """As the database's own housekeeping would."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE l10n_messages")
    await connection.close()


_FILLED = """
INSERT INTO l10n_messages (id, org_id, locale, ns, key, source, text, status, text_source, text_at, disk_text)
SELECT gen_random_uuid(), $1, $2, split_part(key, '.', 1), key, source, replaced, 'approved', source, now(), replaced
  FROM (SELECT key, source, 'other ' || source AS replaced FROM l10n_messages WHERE org_id = $1 AND locale = $3) AS given
"""


async def measure_reading(strings: int, languages: int, rounds: int) -> dict[str, float]:
    """What is read with one locale and with many, and how much of it PostgreSQL and this process work."""
    with TemporaryDirectory(prefix="atrium-localization-") as folder:
        root = Path(folder) / "shipped"
        settings = {"data_dir": Path(folder) / "data", "embed_worker": True}
        async with fresh_database() as url, open_application(settings_for(url, **settings)) as house:
            with shipping(root):
                desk, found = await make_desk(house, root), dict[str, float]()
                await takes({}, "", desk, url, [root, "en", "es"], strings)
                for count in (1, languages):
                    await filled(url, desk, NAMES[1:count])
                    worked = await processor(url)
                    read = await reading(desk, rounds)
                    asked = (rounds + 3) * len(read)
                    found |= {f"{name}, p95 with {count}": value for name, value in read.items()}
                    found[f"processor for each, with {count}"] = 1000 * (await processor(url) - worked) / asked
                return found | await catalogs(house, rounds)


async def filled(url: str, desk: Desk, names: Sequence[str]) -> None:
    """Further locales as an import would leave them."""
    connection = await asyncpg.connect(url)
    for name in names:
        await connection.execute(_FILLED, desk.company.org.id, name, "es")
    await connection.close()
    await analyzed(url)


async def catalogs(house: Application, rounds: int) -> dict[str, float]:
    """What programs that show the console ask for."""
    anyone = Client(house.app)
    began = time.perf_counter()
    first = await anyone.get("/api/i18n/catalog", locale="es")
    fresh = time.perf_counter() - began
    return {
        "catalog read anew": 1000 * fresh,
        "catalog from memory p50": quantile(await timed(anyone, rounds, "/api/i18n/catalog", {"locale": "es"}), 50),
        "catalog of two namespaces p50": quantile(
            await timed(anyone, rounds, "/api/i18n/catalog", {"locale": "es", "namespaces": "part001,part002"}), 50
        ),
        "catalog that is known (304) p50": quantile(
            await timed(anyone, rounds, "/api/i18n/catalog", {"locale": "es"}, known=first.headers["etag"]), 50
        ),
        "config p50, beside it": quantile(await timed(anyone, rounds, "/api/config", {}), 50),
        "work for a catalog that is known, mean": await work(anyone, 10 * rounds, first.headers["etag"]),
    }


async def work(client: Client, rounds: int, known: str) -> float:
    """Milliseconds of the processor that this process takes for one reader who has the catalog."""
    began = time.process_time()
    await timed(client, rounds, "/api/i18n/catalog", {"locale": "es"}, known)
    return 1000 * (time.process_time() - began) / (rounds + 3)


def main() -> int:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("strings", 50_000), ("locales", 20), ("rounds", 40)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--reading", action="store_true")
    chosen = parser.parse_args()
    chosen_measure = measure_reading if chosen.reading else measure
    for name, value in asyncio.run(chosen_measure(chosen.strings, chosen.locales, chosen.rounds)).items():
        print(f"{name:50} {value:10.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

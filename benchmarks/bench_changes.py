"""What the change feed costs: idle listeners, a save that many hear, from the commit to the event, and a note with and without it.

Listeners and servers share this process and speak ASGI: the figures hold the whole path but the sockets.

python -m benchmarks.bench_changes [--listeners 1000] [--saves 100] [--idle 20]
"""

import argparse
import asyncio
import gc
import resource
import statistics
import time
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from atrium.boot.assemble import Application
from tests.domains.changes.feeds import Feed, hearing, hub_of
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

TABLES = ("notes", "note_grants")


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def listeners(company: Company, count: int) -> list[Feed]:
    """So many open feeds of one team, five for each person."""
    feeds: list[Feed] = []
    while len(feeds) < count:
        person = await company.join()
        feeds += [await Feed(person).open() for _ in range(min(5, count - len(feeds)))]
    return feeds


async def idle(company: Company, count: int, seconds: float) -> list[Feed]:
    """Memory and processor of listeners that hear nothing."""
    gc.collect()
    empty = processor()
    await asyncio.sleep(seconds)
    alone = processor() - empty
    before = resident()
    feeds = await listeners(company, count)
    gc.collect()
    taken = (resident() - before) / count / 1024
    began = processor()
    await asyncio.sleep(seconds)
    busy = max(0.0, processor() - began - alone) / seconds * 1000 / count
    print(f"{count} idle listeners: {taken:.1f} KiB each (both ends), {busy:.2%} of a core per thousand")
    return feeds


async def heard_by_all(company: Company, writer: Client, feeds: list[Feed]) -> None:
    """One save that all of a team hear."""
    spent, reads = [], []
    for _ in range(5):
        known, before = [len(feed.changes) for feed in feeds], hub_of(company.house).count_reads(company.org.id)
        await writer.post("/api/notes", {"title": "heard", "visibility": "team"})
        began = time.perf_counter()
        while any(len(feed.changes) == count for feed, count in zip(feeds, known, strict=True)):
            await asyncio.sleep(0.002)
        spent.append((time.perf_counter() - began) * 1000)
        reads.append(hub_of(company.house).count_reads(company.org.id) - before)
    print(
        f"a save heard by {len(feeds)}: last after {statistics.median(spent):.0f} ms (most {max(spent):.0f}), reads {reads}"
    )


async def from_commit(writer: Client, feed: Feed, saves: int, where: str) -> None:
    """From the reply of a save to its event."""
    spent = []
    for _ in range(saves):
        known = len(feed.changes)
        await writer.post("/api/notes", {"title": "timed", "visibility": "team"})
        began = time.perf_counter()
        await feed.until(lambda known=known: len(feed.changes) > known)
        spent.append((time.perf_counter() - began) * 1000)
    print(
        f"commit to event, {where}: p50 {statistics.median(spent):.0f} ms, p95 {statistics.quantiles(spent, n=20)[-1]:.0f} ms"
    )


async def writing(company: Company, saves: int) -> None:
    """A note written with and without the feed, in turns, by the processor-independent median of each."""
    writer, url = await company.join(), company.house.services.settings.database_url
    times: dict[tuple[str, bool], list[float]] = {}
    hub = hub_of(company.house)
    committed = hub.committed
    for turn in range(6):
        told = turn % 2 == 1
        hub.committed = committed if told else lambda org_id: None  # type: ignore[method-assign]
        for table in TABLES:
            await run_as_owner(url, f"ALTER TABLE {table} {'ENABLE' if told else 'DISABLE'} TRIGGER USER")
        for _ in range(saves):
            began = time.perf_counter()
            note = await writer.post("/api/notes", {"title": "x", "body": "y" * 2000, "visibility": "team"})
            made = time.perf_counter()
            await writer.put(f"/api/notes/{note['id']}", {"body": "z" * 2000})
            times.setdefault(("POST", told), []).append(made - began)
            times.setdefault(("PUT", told), []).append(time.perf_counter() - made)
    for method in ("POST", "PUT"):
        with_feed, without = (statistics.median(times[method, told]) * 1000 for told in (True, False))
        print(
            f"{method} of a note: {without:.2f} ms without, {with_feed:.2f} ms with the feed: {with_feed / without:.2f}x"
        )


async def second_process(house: Application, company: Company, writer: Client, saves: int) -> None:
    """The same with a second server on the same database."""
    settings = house.services.settings
    async with AsyncExitStack() as stack:
        other = await stack.enter_async_context(open_application(settings))
        reader = await company.join()
        reader.app = other.app
        feed = await stack.enter_async_context(hearing(reader))
        await from_commit(writer, feed, saves, "across two servers")


async def main(count: int, saves: int, seconds: float) -> None:
    """Everything, on a database of its own."""
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            async with open_application(settings_for(url, data_dir=Path(folder))) as house:
                company = await found_company(house)
                writer = await company.join()
                await writing(company, saves)
                async with hearing(await company.join()) as feed:
                    await from_commit(writer, feed, saves, "one server")
                await second_process(house, company, writer, saves)
                feeds = await idle(company, count, seconds)
                await heard_by_all(company, writer, feeds)
                await asyncio.gather(*(feed.close() for feed in feeds))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--listeners", type=int, default=1000)
    options.add_argument("--saves", type=int, default=100)
    options.add_argument("--idle", type=float, default=20)
    chosen = options.parse_args()
    asyncio.run(main(chosen.listeners, chosen.saves, chosen.idle))

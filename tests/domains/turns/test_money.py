"""Books of turns against llama.cpp's own count: stopped, abandoned, cut by the model's death, and under a limit."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.engine.executors import turns
from atrium.engine.inference.estimates import estimate_turn
from atrium.kit.work.compute import run_small
from atrium.seams.models import Message, Turn
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.counting_line import CountingLine, counting
from tests.support.llama import KEY, NAME, Llama
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.processes import rounds
from tests.support.reader import Reader
from tests.support.servers import open_application, settings_for
from tests.support.spoken_house import reserved, used

pytestmark = pytest.mark.timeout(3600)
CLIENTS = 50
RIVERS = "Say something about the rivers of the north, about the boats on them and about the people in the boats. " * 3
# Noise of this length, or the tiny model would say next to nothing.
LONG = {
    "type": "json_schema",
    "json_schema": {"name": "n", "schema": {"type": "string", "minLength": 60, "maxLength": 90}},
}


@dataclass(slots=True)
class Bench:
    """A house whose model is llama.cpp behind a line that counts, and somebody who asks."""

    house: Application
    line: CountingLine
    alice: Client

    @property
    def url(self) -> str:
        return self.house.services.settings.database_url


@asynccontextmanager
async def bench_on(llama: Llama, folder: Path, *, tells: bool) -> AsyncIterator[Bench]:
    async with fresh_database() as url, counting(llama.port, tells=tells) as line:
        settings = settings_for(
            url, data_dir=folder, local_model_url=line.url, local_model_key=KEY, local_model=NAME,
            local_model_usage_pieces=tells,
        )  # fmt: skip
        async with open_application(settings) as house:
            company = await found_company(house)
            yield Bench(house, line, await company.join())


async def ask(bench: Bench, number: int, moments: random.Random) -> tuple[int, str]:
    """One turn, of nine three that do not come to their end; its number and its id."""
    way = {0: "stop", 1: "leave", 2: "cut"}.get(number % 9, "read")
    words = f"{number} {'slow' if way != 'read' else ''} {f'cut {moments.randrange(1, 40)}' if way == 'cut' else ''}"
    ask = {"prompt": f"{words} {RIVERS}", "max_tokens": 400, "response_format": LONG}
    reader = await Reader(bench.alice, ask).open()
    assert reader.status == 200, reader.raw
    if way in ("stop", "leave"):
        enough = moments.randrange(1, 30)
        last = ("done", "error")
        await reader._until(
            lambda: len(reader.text) >= enough or (reader.events[-1:] and reader.events[-1].name in last), 60
        )
        if way == "leave":
            reader.leave()
        else:
            await bench.alice.post("/api/ai/chat/stream", {"stop": reader.turn})
    await reader.ended(60)
    return number, reader.turn


async def ask_all(bench: Bench, count: int) -> dict[str, int]:
    """Fifty at a time; the numbers of the turns by their ids."""
    moments, numbers = random.Random(11), iter(range(count))
    found = dict[str, int]()

    async def one_client() -> None:
        for number in numbers:
            _, turn = await ask(bench, number, moments)
            found[turn] = number

    await asyncio.gather(*(one_client() for _ in range(CLIENTS)))
    async with asyncio.timeout(PATIENCE):
        while await run_as_owner(bench.url, "SELECT FROM turns WHERE state = 'running'"):
            await asyncio.sleep(0.1)
    return found


@dataclass(frozen=True, slots=True)
class Line:
    """One turn in our books, and what the model's server says about it."""

    state: str
    text: str
    exact: bool
    paid: tuple[int, int]
    counts: set[int]
    prompt: int


async def books(bench: Bench, numbers: dict[str, int]) -> list[Line]:
    rows = await run_as_owner(
        bench.url,
        """
        SELECT t.id, t.state, (ending->'usage'->>'exact')::boolean AS exact, (ending->'usage'->>'prompt_tokens')::int AS prompt,
               (ending->'usage'->>'completion_tokens')::int AS reply, coalesce(string_agg(p.body, '' ORDER BY p.at), '') AS text
          FROM turns t LEFT JOIN turn_pieces p ON p.turn_id = t.id GROUP BY t.id
        """,
    )
    found = []
    for row in rows:
        told = bench.line.told[numbers[str(row["id"])]]
        paid = (row["prompt"], row["reply"])
        found.append(Line(row["state"], row["text"], row["exact"], paid, told.count_at(row["text"]), told.prompt))
    return found


async def test_books_equal_the_models_own_count_where_it_tells_it(llama: Llama, tmp_path: Path) -> None:
    """ATRIUM_FULL: 10,000 turns, a third of them stopped, abandoned or cut."""
    async with bench_on(llama, tmp_path, tells=True) as bench:
        numbers = await ask_all(bench, len(rounds(36, 10_000)))
        lines = await books(bench, numbers)
        spent = await used(bench.alice)
        left = await reserved(bench.alice)

    states = {state: sum(line.state == state for line in lines) for state in ("finished", "stopped", "failed")}
    print(f"{len(lines)} turns {states}, {spent['ai.tokens.total']} tokens")
    assert sum(states.values()) == len(lines) == len(numbers)
    assert min(states.values()) > 0
    said = [line for line in lines if line.text]
    assert [line for line in said if line.paid[1] not in line.counts or line.paid[0] != line.prompt] == []
    assert [line for line in said if sum(line.paid) == 0] == []
    assert spent["ai.tokens.total"] == sum(sum(line.paid) for line in lines)
    assert left == 0


async def test_books_are_at_most_a_tenth_above_where_it_does_not(llama: Llama, tmp_path: Path) -> None:
    """ATRIUM_FULL: 2,000 turns."""
    async with bench_on(llama, tmp_path, tells=False) as bench:
        # What a machine's tokens are like is learned from replies that came to their end, with a report.
        learned = [await ask(bench, number, random.Random(1)) for number in range(1_000_004, 1_000_009)]
        numbers = {turn: number for number, turn in learned} | await ask_all(bench, len(rounds(60, 2_000)))
        lines = await books(bench, numbers)
        left = await reserved(bench.alice)

    cut = [line for line in lines if line.text and not line.exact]
    replies, counted = sum(line.paid[1] for line in cut), sum(min(line.counts) for line in cut)
    prompts, wanted = sum(line.paid[0] for line in cut), sum(line.prompt for line in cut)
    print(
        f"{len(cut)} of {len(lines)} without a report: replies {replies} for {counted}, questions {prompts} for {wanted}"
    )
    assert len(cut) > len(lines) / 9
    assert counted <= replies <= 1.1 * counted
    assert wanted <= prompts <= 1.1 * wanted
    assert [line for line in cut if not all(line.paid)] == []
    assert left == 0


async def test_fifty_clients_never_pass_a_limit_and_none_is_refused_while_there_is_room(
    llama: Llama, tmp_path: Path
) -> None:
    """ATRIUM_FULL: until 100,000 tokens are used."""
    limit = len(rounds(2_000, 100_000))
    async with bench_on(llama, tmp_path, tells=True) as bench:
        company = await found_company(bench.house)
        operator, alice = await company.join("owner", operator=True), await company.join()
        limited = {"dimension": "ai.tokens.total", "limit": limit, "window": "day"}
        assert (await operator.post("/api/quota", limited)).status == 200
        ask = {"prompt": "1 hi", "max_tokens": 100, "response_format": LONG}
        asked = Turn([Message("user", "1 hi")], max_tokens=100)
        need = turns.reserved_for(asked, run_small(estimate_turn, asked))["ai.tokens.total"]
        most, unjust, admitted, refused = 0, list[int](), 0, 0

        async def one_client() -> None:
            nonlocal admitted, refused
            while True:
                reply = await alice.post("/api/ai/chat", ask)
                if reply.status == 200:
                    admitted += 1
                    continue
                assert (reply.status, reply.code) == (429, "quotas.exceeded"), reply.body
                refused += 1
                if reply["remaining"] >= need:
                    unjust.append(reply["remaining"])
                if not await reserved(alice):
                    return
                await asyncio.sleep(0.05)

        async def watch() -> None:
            nonlocal most
            while True:
                lines = [
                    line
                    for line in (await alice.get("/api/usage"))["items"]
                    if line["dimension"] == limited["dimension"]
                ]
                most = max(most, *(line["used"] + line["reserved"] for line in lines))
                await asyncio.sleep(0.01)

        watching = asyncio.ensure_future(watch())
        await asyncio.gather(*(one_client() for _ in range(CLIENTS)))
        watching.cancel()
        spent = (await used(alice))["ai.tokens.total"]
        left = await reserved(alice)

    print(f"{admitted} admitted, {refused} refused, {spent} of {limit} used, at most {most} used and reserved at once")
    assert unjust == []
    assert most <= limit
    assert limit - need < spent <= limit
    assert left == 0

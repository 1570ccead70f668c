"""Every row with every field at its limit: nobody else waits for what one of them takes."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import RawBody
from tests.domains.edge.hostile_sizes import Case, cases_of
from tests.domains.edge.watched import WATCHED
from tests.postgres import fresh_database
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.processes import Process, serving
from tests.support.servers import open_application, settings_for
from tests.table.rows import ENDPOINTS, name_of, speaks_ours
from tests.table.specimens import SPECIMENS, Ask, Unregistered
from tests.table.stage import Stage, set_stage

pytestmark = pytest.mark.finding

AT_ONCE = 16
# A map over many items, of which each is given many values by default.
WIDE_MAP = {
    "slug": "wide", "title": "Wide", "version": 1, "start": "each", "max_steps": 1000,
    "inputs": {"absent": {"type": "string", "optional": True}},
    "steps": [{"name": "each", "kind": "map", "over": list(range(900)), "tool": "notes_read",
               "with": {"id": [{"$": "input.absent", "default": number} for number in range(6_000)]}}],
}  # fmt: skip
# Of processor time: the longest stall of the event loop, and the longest wait for the thread of signing in.
MOST_STALLED, MOST_WAITED = 0.05, 0.2
# What no JSON is sent to: bytes of files, pictures and sealed messages, which have tests of their own.
PROBED = [one for one in ENDPOINTS if speaks_ours(one) and (one.query or one.reads_json) and one.body is not RawBody]


@pytest.mark.parametrize("endpoint", PROBED, ids=name_of)
def test_every_row_is_in_the_table_of_hostile_sizes(endpoint: Endpoint) -> None:
    cases = list(cases_of(endpoint))

    assert len(cases) >= 4 * (len(endpoint.query) + endpoint.reads_json)
    # Each changes the request it is made from.
    ask = Ask("POST", "/", {})
    assert all(case.change(ask) != ask for case in cases)


def test_the_table_of_hostile_sizes_is_large() -> None:
    assert sum(1 for endpoint in PROBED for _ in cases_of(endpoint)) > 3_000


@dataclass(slots=True)
class Attack:
    """A server of its own, and people of its companies made beside it."""

    server: Process
    stage: Stage

    async def stalled_by(self, endpoint: Endpoint, cases: list[Case]) -> tuple[float, float]:
        """The longest stall and the longest wait for the thread of signing in while these arrive."""
        place = await self.stage.place(endpoint)
        asks = iter([await self.stage.specimens.ask(endpoint, place) for _ in cases[:1]] * len(cases))
        headers = {"authorization": f"Bearer {place.caller.token}"}
        async with httpx.AsyncClient(base_url=self.server.address, headers=headers, timeout=PATIENCE) as client:
            await self._longest(client)
            waiting = iter(list(zip(cases, asks, strict=True)))
            await asyncio.gather(*(self._send(client, waiting) for _ in range(AT_ONCE)))
            return await self._longest(client)

    async def stalled_by_a_parser_on_the_loop(self, seconds: float) -> float:
        """What is found when one is planted."""
        async with httpx.AsyncClient(base_url=self.server.address, timeout=PATIENCE) as client:
            await self._longest(client)
            await client.post("/api/watch/slow", json={"seconds": seconds})
            return (await self._longest(client))[0]

    async def _send(self, client: httpx.AsyncClient, waiting: "Iterator[tuple[Case, Ask]]") -> None:
        for case, ask in waiting:
            sent = case.change(ask)
            answer = await client.request(
                sent.method, sent.path, params={name: str(value) for name, value in sent.query.items()}, json=sent.body
            )
            assert answer.status_code != 500, (case.row, case.field, case.shape, answer.text[:300])

    async def _longest(self, client: httpx.AsyncClient) -> tuple[float, float]:
        found = (await client.get("/api/watch")).json()
        return float(found["seconds"]), float(found["waited"])


@pytest.fixture(scope="module")
async def attack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Attack]:
    folder = tmp_path_factory.mktemp("data")
    async with (
        fresh_database() as url,
        serving(url, module=WATCHED, data_dir=folder, embed_worker=1) as [server],
        open_application(settings_for(url, data_dir=folder)) as house,
    ):
        yield Attack(server, await set_stage(house, SPECIMENS))


@pytest.mark.proof
async def test_g3_g4_g5_no_field_of_any_row_keeps_the_loop_or_signing_in(attack: Attack) -> None:
    found: dict[str, tuple[float, float]] = {}
    sent = 0
    for endpoint in PROBED:
        cases = list(cases_of(endpoint))
        try:
            found[name_of(endpoint)] = await attack.stalled_by(endpoint, cases)
        except Unregistered:
            continue
        sent += len(cases)
    planted = await attack.stalled_by_a_parser_on_the_loop(4 * MOST_STALLED)
    worst = sorted(found.items(), key=lambda one: one[1][0], reverse=True)
    print(f"{sent} requests of {len(found)} rows")
    for row, (stalled, waited) in itertools.islice(worst, 10):
        print(f"{row}: stalled {stalled * 1000:.0f} ms, signing in waited {waited * 1000:.0f} ms")

    assert planted > MOST_STALLED
    assert [row for row, (stalled, _) in worst if stalled > MOST_STALLED] == []
    assert max(waited for _, waited in found.values()) <= MOST_WAITED


@pytest.mark.proof
async def test_g4_a_process_ends_within_ten_seconds_whatever_is_asked_of_it(tmp_path: Path) -> None:
    """Sixteen of each of the third review's hostile requests are under way when it is told to end."""
    async with (
        fresh_database() as url,
        serving(url, data_dir=tmp_path, embed_worker=1) as [server],
        open_application(settings_for(url, data_dir=tmp_path)) as house,
    ):
        member = await (await found_company(house)).join("admin")
        for number in range(50):
            await member.post("/api/notes", {"title": f"Anchor {number}", "body": f"{'語' * 60_000} anchor"})
        assert (await member.post("/api/workflows", WIDE_MAP)).status in (200, 201)
        hostile: list[tuple[str, str, Any]] = [
            ("GET", "/api/search?q=anchor", None),
            ("POST", "/api/translate", {"text": "[" * 200_000, "target": "de", "format": "markdown"}),
            ("POST", "/api/ai/chat", {"prompt": "word " * 1_400_000}),
            ("POST", "/api/workflows/wide/run", {}),
        ]
        async with server.client(member.token, limits=httpx.Limits(max_connections=100)) as client:
            asked = [
                asyncio.ensure_future(client.request(method, path, json=body))
                for method, path, body in hostile
                for _ in range(AT_ONCE)
            ]
            await asyncio.wait(asked, timeout=3)
            under_way = sum(not one.done() for one in asked)
            began = time.monotonic()
            assert await server.stop() == 0
            took = time.monotonic() - began
            answers = await asyncio.gather(*asked, return_exceptions=True)
        print(f"{under_way} of {len(asked)} were under way; ended after {took:.1f} s")
        print(Counter(one.status_code if isinstance(one, httpx.Response) else type(one).__name__ for one in answers))

        assert took <= 10

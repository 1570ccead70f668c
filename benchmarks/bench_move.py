"""Companies moved between two instances while people write: what differs afterwards, and how long each was read-only.

`python -m tests.postgres python -m benchmarks.bench_move --companies 200 --large 20` writes docs/figures/move.json.
"""

import argparse
import asyncio
import json
import math
import os
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from tests.domains.moving.sides import Side, at, two_sides
from tests.postgres import run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company

FIGURES = Path(__file__).parent.parent / "docs/figures/move.json"
NOTES, FILES, SIZE = 1_000, 10, 10_000_000


@dataclass(slots=True)
class Moved:
    """One company, a person in it, what was acknowledged to them, and what was found."""

    company: Company
    person: Client
    large: bool
    acknowledged: list[str] = field(default_factory=list)
    read_only: float = 0.0
    differs: int = 0


async def _fill(side: Side, large: bool) -> Moved:
    company = await found_company(side.house)
    person, other = await company.join("owner"), await company.join()
    note = await person.post("/api/notes", {"title": "first", "visibility": "team"})
    await person.post(f"/api/notes/{note['id']}/share", {"user_id": other.user_id, "permission": "notes:read"})
    for n in range(FILES if large else 1):
        body = random.randbytes(SIZE if large else 2_000)
        assert (await person.put(f"/api/repo/{n}.bin", body)).status == 201
    if large:
        await run_as_owner(
            side.url,
            "INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)"
            " SELECT gen_random_uuid(), $1, $2, $3, 'a note', repeat('what it says ', 30), 'team' FROM generate_series(1, $4)",
            company.org.id, company.team.id, UUID(person.user_id), NOTES,
        )  # fmt: skip
    return Moved(company, person, large)


async def _write(clients: list[tuple[Moved, list[Client]]], stop: asyncio.Event) -> None:
    """A person writes to wherever their company may be; what was acknowledged must be there at the end."""
    while not stop.is_set():
        moved, places = random.choice(clients)
        for place in places:
            answer = await place.post("/api/notes", {"title": "under load"})
            if answer.status == 201:
                moved.acknowledged.append(answer["id"])
        await asyncio.sleep(0.05)


async def _move(a: Side, b: Side, one: Moved, folder: Path) -> None:
    org, place = one.company.org.id, folder / one.company.org.slug
    await a.export(org, place)
    before, kept = await a.rows(org), await a.bytes_of(org)
    [row] = await run_as_owner(a.url, "SELECT moving_at FROM orgs WHERE id = $1", org)
    began = time.monotonic()
    looked = (datetime.now(UTC) - row[0]).total_seconds()
    receipt = await b.bring_in(place)
    # Without the time that this benchmark took to look at the rows in between.
    one.read_only = (receipt.imported_at - row[0]).total_seconds() + (time.monotonic() - began) - looked
    place.unlink()
    await a.release(org, receipt)
    there, bytes_there = await b.rows(org), await b.bytes_of(org)
    written = {str(id) for id in one.acknowledged}
    one.differs = sum(_differs(name, before[name], there[name], written) for name in before) + (kept != bytes_there)
    one.differs += sum(map(len, (await a.rows(org)).values()))


def _differs(
    name: str, before: list[dict[str, str | None]], there: list[dict[str, str | None]], written: set[str]
) -> int:
    """Rows that did not arrive as they were; people write on the other side already, which adds some."""
    found = {json.dumps(row, sort_keys=True) for row in there}
    return sum(json.dumps(row, sort_keys=True) not in found for row in before)


async def main(companies: int, large: int, seconds: float) -> None:
    """Move them all, one after another, under load."""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"atrium-bench-move-{os.getpid()}"
    folder.mkdir()
    async with two_sides() as (a, b):
        made = [await _fill(a, n < large) for n in range(companies)]
        bystander = await _fill(a, False)
        still = await a.rows(bystander.company.org.id)
        stop, began = asyncio.Event(), time.monotonic()
        load = [(one, [one.person, at(b, one.person)]) for one in made]
        writers = [asyncio.create_task(_write(load, stop)) for _ in range(2)]
        done = []
        random.shuffle(made)
        for one in made:
            if time.monotonic() - began > seconds:
                break
            await _move(a, b, one, folder)
            done.append(one)
        stop.set()
        await asyncio.gather(*writers)
        lost = 0
        for one in done:
            rows = await run_as_owner(b.url, "SELECT id::text FROM notes WHERE org_id = $1", one.company.org.id)
            lost += len({*one.acknowledged} - {row[0] for row in rows})
        [strangers] = await run_as_owner(
            b.url, "SELECT count(*) FROM orgs WHERE id <> ALL ($1)", [one.company.org.id for one in done]
        )
        figures = {
            "companies": len(done),
            "large": sum(one.large for one in done),
            "notes_of_large": NOTES,
            "bytes_of_large": FILES * SIZE,
            "acknowledged": sum(len(one.acknowledged) for one in done),
            "lost": lost,
            "differing": sum(one.differs for one in done),
            "of_others": strangers[0] + (await a.rows(bystander.company.org.id) != still),
            "read_only_p95_large": _p95([one.read_only for one in done if one.large]),
            "read_only_p95": _p95([one.read_only for one in done]),
            "seconds": round(time.monotonic() - began, 1),
            "load": round(os.getloadavg()[0], 1),
        }
    folder.rmdir()
    print(json.dumps(figures, indent=1))
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")


def _p95(values: list[float]) -> float | None:
    return round(sorted(values)[math.ceil(len(values) * 0.95) - 1], 2) if values else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--companies", type=int, default=200)
    parser.add_argument("--large", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no further move after so long")
    given = parser.parse_args()
    asyncio.run(main(given.companies, given.large, given.seconds))

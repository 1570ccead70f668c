"""One company's documents do not wait for another's: texts of honest ones are ready in time whatever a hostile one uploads."""

import asyncio
import os
import time
from itertools import cycle, islice
from pathlib import Path

import pytest

from atrium.boot.assemble import Application
from atrium.engine.extraction.jobs import AT_ONCE
from tests.domains.extraction import hostile
from tests.postgres import fresh_database, run_as_owner
from tests.support import honest
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

FULL = bool(os.environ.get("ATRIUM_FULL"))
# Companies besides the hostile one, documents of each, documents of the hostile one, and seconds that one of its documents takes.
COMPANIES, DOCUMENTS, HOSTILE, SECONDS = (19, 50, 50, 20) if FULL else (5, 4, 12, 6)
# A moment that a small run may lose to whatever else the machine does.
SLACK = 0 if FULL else 3
UNREAD = "SELECT count(*) FROM object_texts WHERE state IN ('waiting', 'running') AND org_id = ANY($1)"


async def upload(client: Client, name: str, content_type: str, body: bytes) -> None:
    answer = await client.put(f"/api/repo/{name}", body, headers={"content-type": content_type})
    assert answer.status == 201, answer.raw


async def upload_honest(client: Client, round: str) -> None:
    for number, (name, (content_type, make)) in enumerate(islice(cycle(honest.SAMPLES.items()), DOCUMENTS)):
        await upload(client, f"{round}/{number}-{name}", content_type, make())


async def until_read(url: str, companies: list[str]) -> None:
    while (await run_as_owner(url, UNREAD, companies))[0][0]:
        await asyncio.sleep(0.1)


async def seconds_to_read(house: Application, people: list[tuple[str, Client]], round: str) -> float:
    """From the first upload to the last text of these people's documents."""
    started = time.monotonic()
    await asyncio.gather(*(upload_honest(client, round) for _, client in people))
    await until_read(house.services.settings.database_url, [company for company, _ in people])
    return time.monotonic() - started


async def joined(house: Application) -> tuple[str, Client]:
    company = await found_company(house)
    return str(company.org.id), await company.join()


@pytest.mark.proof
@pytest.mark.timeout(3600 if FULL else 300)
async def test_texts_are_ready_within_twice_the_time_whatever_one_company_uploads(tmp_path: Path) -> None:
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path, extraction_seconds=SECONDS)
        async with open_application(settings) as house:
            people = [await joined(house) for _ in range(COMPANIES)]
            enemy_id, enemy = await joined(house)
            alone = await seconds_to_read(house, people, "alone")
            for number in range(HOSTILE):
                await upload(enemy, f"{number}.pdf", "application/pdf", hostile.pdf_many_pages())

            beside = await seconds_to_read(house, people, "beside")

            left = (await run_as_owner(url, UNREAD, [enemy_id]))[0][0]
    documents = COMPANIES * DOCUMENTS
    print(f"{documents} texts of {COMPANIES} companies: {alone:.1f} s alone, {beside:.1f} s beside a hostile one")
    assert left, "the hostile company had run out of documents"
    assert beside <= 2 * alone + SLACK


async def test_a_team_that_has_the_other_places_leaves_the_last_to_others(tmp_path: Path) -> None:
    async with (
        fresh_database() as url,
        open_application(settings_for(url, data_dir=tmp_path, extraction_seconds=round(PATIENCE))) as house,
    ):
        (one_id, one), (other_id, other) = await joined(house), await joined(house)
        for number in range(6):
            await upload(one, f"{number}.pdf", "application/pdf", hostile.pdf_many_pages())
        await asyncio.sleep(2)

        await upload(other, "a.json", "application/json", b'"quick"')
        await until_read(url, [other_id])

        left = (await run_as_owner(url, UNREAD, [one_id]))[0][0]
    # With every place the team would have ended three by the time that the other's turn came.
    assert left > 6 - AT_ONCE

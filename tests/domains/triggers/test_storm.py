"""Many clients at once, over HTTP and over S3: as many versions as fires as runs, and none twice."""

import asyncio
import os
import time
from collections import Counter
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.domains.s3.clients import Person, Place
from tests.domains.triggers.test_ways import armed
from tests.postgres import run_as_owner
from tests.support.sizes import FULL

UPLOADS = int(os.environ.get("ATRIUM_UPLOADS") or (10_000 if FULL else 1_000))
CLIENTS = 8
pytestmark = pytest.mark.timeout(3600)


async def _over_http(place: Place, person: Person, keys: list[str]) -> None:
    async with place.server.client(person.token) as client:
        for key in keys:
            await _put(client, f"/api/repo/{key}")


async def _put(client: httpx.AsyncClient, path: str) -> None:
    sent = await client.put(path, content=b"x", headers={"content-type": "text/plain"})
    assert sent.status_code in (200, 201), sent.text


async def _over_s3(person: Person, keys: list[str]) -> None:
    client = person.s3()

    def put_all() -> None:
        for key in keys:
            client.put_object(Bucket=person.bucket, Key=key, Body=b"x", ContentType="text/plain")

    await asyncio.to_thread(put_all)


@pytest.mark.parametrize("uploads", [48, pytest.param(UPLOADS, marks=pytest.mark.proof)])
async def test_a_storm_of_uploads_starts_each_run_once(place: Place, uploads: int) -> None:
    ada = await place.found()
    triggers = [await armed(place, ada), await armed(place, ada, match_types=["text/*"])]
    people = [ada, *[await place.join(ada) for _ in range(CLIENTS - 1)]]
    # One key for three uploads of the same person, so that versions follow each other, too.
    keys = [[f"in/{n}/{place_of // 3}.txt" for place_of in range(uploads // CLIENTS)] for n in range(CLIENTS)]

    began = time.monotonic()
    await asyncio.gather(
        *(
            _over_s3(person, wanted) if n % 2 else _over_http(place, person, wanted)
            for n, (person, wanted) in enumerate(zip(people, keys, strict=True))
        )
    )

    took = time.monotonic() - began
    print(f"{uploads:,} uploads, two runs each: {took:.0f} s, {uploads / took:.1f} uploads a second")
    counted = await _counted(place, [trigger["id"] for trigger in triggers])
    assert counted == {
        "versions": uploads,
        "fires": 2 * uploads,
        "fired versions": uploads,
        "runs": 2 * uploads,
        "fired runs": 2 * uploads,
        "writers": 2 * uploads,
    }
    assert await _newcomer(place) in await _claimed(place, 2)


async def _newcomer(place: Place) -> UUID:
    """The company of one who uploads a single file while all that waits."""
    eve = await place.found()
    trigger = await armed(place, eve)
    async with place.server.client(eve.token) as client:
        await _put(client, "/api/repo/in/only.txt")
    [(company,)] = await run_as_owner(place.url, "SELECT org_id FROM runs WHERE trigger_id = $1", UUID(trigger["id"]))
    return UUID(str(company))


async def _claimed(place: Place, times: int) -> set[UUID]:
    """Whose jobs a worker with eight free places gets in so many claims."""
    claim = "SELECT org_id FROM claim_jobs(ARRAY['workflows.step'], gen_random_uuid(), 8, NULL)"
    return {UUID(str(row[0])) for _ in range(times) for row in await run_as_owner(place.url, claim)}


async def _counted(place: Place, triggers: list[Any]) -> Counter[str]:
    [row] = await run_as_owner(
        place.url,
        """
        SELECT (SELECT count(*) FROM object_versions v JOIN objects o ON o.id = v.object_id WHERE o.key LIKE 'in/%'
                   AND o.team_id IN (SELECT team_id FROM doc_triggers WHERE id = ANY ($1::uuid[]))) AS "versions",
               (SELECT count(*) FROM trigger_fires WHERE trigger_id = ANY ($1::uuid[])) AS "fires",
               (SELECT count(DISTINCT version_id) FROM trigger_fires WHERE trigger_id = ANY ($1::uuid[]) AND reason IS NULL)
                 AS "fired versions",
               (SELECT count(*) FROM runs WHERE trigger_id = ANY ($1::uuid[])) AS "runs",
               (SELECT count(DISTINCT run_id) FROM trigger_fires f JOIN runs r ON r.id = f.run_id AND r.trigger_id = f.trigger_id
                 WHERE f.trigger_id = ANY ($1::uuid[])) AS "fired runs",
               (SELECT count(*) FROM trigger_fires f JOIN runs r ON r.id = f.run_id JOIN object_versions v ON v.id = f.version_id
                 WHERE f.trigger_id = ANY ($1::uuid[]) AND r.user_id = v.created_by AND f.user_id = v.created_by) AS "writers"
        """,
        triggers,
    )
    return Counter(dict(row))

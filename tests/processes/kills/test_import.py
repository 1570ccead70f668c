"""Servers are killed and PostgreSQL crashes while catalogs come in: approved text stays, and the next import ends what was begun."""

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from atrium.kit.files.paths import shipped_path
from atrium.kit.postgres.migrate import migrate
from atrium.product.localization import checks
from tests.domains.localization.conftest import Desk, make_desk, write_catalogs
from tests.postgres import run_as_owner
from tests.support.patience import PATIENCE
from tests.support.processes import PrivatePostgres, Process, private_postgres, rounds, serving
from tests.support.servers import open_application, settings_for

STRINGS = 1_500
KEYS = [f"m{n:04}" for n in range(STRINGS)]
# As if the time of a lease had passed: the server that held it is gone.
LAPSE = "UPDATE jobs SET lease_until = now() - interval '1 second' WHERE state = 'running'"
MISCOUNTED = """
SELECT c.locale, c.ns FROM l10n_counts c LEFT JOIN (
  SELECT locale, ns, count(*) FILTER (WHERE status = 'approved') AS approved, count(*) FILTER (WHERE status = 'stale') AS stale,
         count(*) FILTER (WHERE status = 'missing') AS missing, count(pending_text) AS pending
    FROM l10n_messages WHERE retired_at IS NULL GROUP BY locale, ns
) m USING (locale, ns)
 WHERE (c.approved, c.stale, c.missing, c.pending)
       <> (coalesce(m.approved, 0), coalesce(m.stale, 0), coalesce(m.missing, 0), coalesce(m.pending, 0))
"""


def _write(own: Path, turn: int) -> None:
    """Every third source is new, and every other text; some sources take another argument than the time before."""
    english = {
        key: f"Text {n} of {turn if n % 3 == 0 else 0} {{a{turn % 2 if n % 5 == 0 else 0}}}"
        for n, key in enumerate(KEYS)
    }
    spanish = {
        key: text.replace("Text", f"Texto {turn if n % 2 else 0}") for n, (key, text) in enumerate(english.items())
    }
    write_catalogs(own, en={"crash": english}, es={"crash": spanish})


async def _approve_some(desk: Desk, chance: random.Random, approved: set[tuple[str, str]]) -> None:
    for name in chance.sample(KEYS, 4):
        found = await desk.message(f"crash.{name}")
        text = f"De una persona {chance.random()} {' '.join(f'{{{one}}}' for one in found['arguments'])}"
        await desk.approve(f"crash.{name}", text)
        approved.add((f"crash.{name}", text))


async def _lost(url: str, approved: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """What a person approved that is neither live nor in the history with who replaced it."""
    found = await run_as_owner(
        url,
        """
        SELECT key, text, text_by FROM l10n_messages WHERE locale = 'es' AND text IS NOT NULL
         UNION SELECT key, text, replaced_by FROM l10n_history WHERE locale = 'es'
        """,
    )
    return approved - {(key, text) for key, text, by in found if by is not None}


async def _misfits(desk: Desk, url: str) -> list[str]:
    """Keys whose text does not fit the source it was imported for; English stands in where a translation does not."""
    served = await desk.served()
    sources = await run_as_owner(
        url,
        """
        SELECT m.key, m.source, e.text FROM l10n_messages m JOIN l10n_messages e ON e.locale = 'en' AND e.key = m.key
         WHERE m.locale = 'es' AND m.retired_at IS NULL
        """,
    )
    return [
        key
        for key, source, english in sources
        if served[key] != english and not checks.has_same_promises(source, served[key])
    ]


async def _import_ends(desk: Desk, url: str) -> dict[str, Any]:
    """The report of an import that nothing cuts off; what a dead server held is free again."""
    async with asyncio.timeout(2 * PATIENCE):
        while (started := await desk.ada.post("/api/l10n/import", {})).status != 202:
            await run_as_owner(url, LAPSE)
            await asyncio.sleep(0.2)
    return dict((await desk.ended(started["job"], 2 * PATIENCE))["result"])


async def _cut_off(desk: Desk, postgres: PrivatePostgres, server: Process, chance: random.Random) -> None:
    """End the server or the database while an import is under way."""
    assert (await desk.ada.post("/api/l10n/import", {})).status in (202, 409)
    await asyncio.sleep(chance.uniform(0.05, 1.5))
    if chance.random() < 0.5:
        await postgres.crash()
        await postgres.recover()
    assert await server.stop(signal.SIGKILL) == -signal.SIGKILL


@pytest.mark.proof
@pytest.mark.timeout(3600)
async def test_kills_and_crashes_in_the_middle_of_imports_lose_nothing(tmp_path: Path) -> None:
    chance, approved = random.Random(23), set[tuple[str, str]]()
    options: dict[str, Any] = {"data_dir": tmp_path, "embed_worker": 1}
    with private_postgres() as postgres:
        await migrate(postgres.url)
        async with open_application(settings_for(postgres.url, data_dir=tmp_path)) as house:
            desk = await make_desk(house, shipped_path("locales"))
            _write(desk.own, 0)
            for turn in rounds(2, 30):
                async with serving(postgres.url, **options):
                    await _import_ends(desk, postgres.url)
                    again = (await _import_ends(desk, postgres.url))["locales"]["es"]
                await _approve_some(desk, chance, approved)
                _write(desk.own, turn + 1)
                async with serving(postgres.url, **options) as [server]:
                    await _cut_off(desk, postgres, server, chance)

                assert {again[name] for name in ("added", "changed", "stale", "retired", "kept")} == {0}
                assert await _lost(postgres.url, approved) == set()
                assert await _misfits(desk, postgres.url) == []
                assert await run_as_owner(postgres.url, MISCOUNTED) == []
    print(f"{turn + 1} servers killed in the middle of an import; {len(approved)} approved texts, none lost")


@pytest.mark.timeout(600)
async def test_an_import_of_a_killed_server_goes_on_in_another_one(tmp_path: Path) -> None:
    many = {f"m{n:05}": f"Text {n}" for n in range(20_000)}
    options: dict[str, Any] = {"data_dir": tmp_path, "embed_worker": 1}
    with private_postgres() as postgres:
        await migrate(postgres.url)
        async with open_application(settings_for(postgres.url, data_dir=tmp_path)) as house:
            desk = await make_desk(house, shipped_path("locales"))
            await desk.coverage()
            write_catalogs(desk.own, en={"crash": many}, es={"crash": many})
            async with serving(postgres.url, **options) as [server]:
                job = (await desk.ada.post("/api/l10n/import", {}))["job"]
                async with asyncio.timeout(PATIENCE):
                    while not (await desk.ada.get("/api/l10n/coverage"))["importing"]["done"]:
                        await asyncio.sleep(0.02)
                assert await server.stop(signal.SIGKILL) == -signal.SIGKILL
            before = (await desk.coverage())["approved"]
            await run_as_owner(postgres.url, LAPSE)

            async with serving(postgres.url, **options):
                ended = await desk.ended(job, 3 * PATIENCE)
            after = (await desk.coverage())["approved"]

    assert before < 20_000 <= after
    assert (ended["state"], ended["result"]["refused_total"]) == ("succeeded", 0)

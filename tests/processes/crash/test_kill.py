"""kill -9 in the middle of writing: what was acknowledged is there afterwards, with its trace."""

import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.postgres import fresh_database, run_as_owner
from tests.processes.crash.servers import EAGER, HASTY, SPLIT
from tests.support.load import Promises, broken_promises, kill_under_load, seal_all
from tests.support.processes import rounds, run_atrium
from tests.support.servers import SECRET

pytestmark = pytest.mark.timeout(1800)


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A database after many kills, sealed to the end, and what was promised before each kill."""

    url: str
    promises: Promises
    heads: str


@pytest.fixture(scope="module")
async def aftermath() -> AsyncIterator[Aftermath]:
    with tempfile.TemporaryDirectory(prefix="atrium-test-") as folder:
        async with fresh_database() as url:
            promises = await kill_under_load(url, Path(folder), EAGER, rounds(1, 30))
            yield Aftermath(url, promises, await seal_all(url))


@pytest.fixture
async def copy(aftermath: Aftermath) -> AsyncIterator[str]:
    """A copy of that database to tamper with."""
    async with fresh_database(template=aftermath.url.rpartition("/")[2]) as url:
        yield url


async def test_every_acknowledged_note_survives_with_its_event_and_none_is_without(aftermath: Aftermath) -> None:
    assert len(aftermath.promises.notes) >= 25
    assert set(aftermath.promises.statuses) == {201}
    assert await broken_promises(aftermath.url, aftermath.promises) == []


async def test_the_audit_chains_hold_after_kills(aftermath: Aftermath, tmp_path: Path) -> None:
    (tmp_path / "heads").write_text(aftermath.heads)

    plain = await run_atrium("audit", "verify", database_url=aftermath.url, secret_key=SECRET)
    with_heads = await run_atrium(
        "audit", "verify", "--heads", str(tmp_path / "heads"), database_url=aftermath.url, secret_key=SECRET
    )

    assert (plain.code, with_heads.code) == (0, 0), plain.output + with_heads.output
    assert "1 chains" in plain.output
    assert "0 broken" in plain.output


TAMPERING = {
    "a changed event": ("UPDATE audit_events SET facts = '{}' WHERE seq = 3", "event 3 (notes.created) was changed"),
    "an event moved in time": (
        "UPDATE audit_events SET at = at - interval '1 second' WHERE seq = 3",
        "event 3 (notes.created) was changed",
    ),
    "a deleted event": ("DELETE FROM audit_events WHERE seq = 3", "event 3 is missing"),
    "two events that changed places": (
        "UPDATE audit_events SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END WHERE seq IN (3, 4);"
        "UPDATE audit_events SET seq = -seq WHERE seq < 0",
        "event 3 (notes.created) was changed",
    ),
    "an event put in between": (
        "UPDATE audit_events SET seq = -seq - 1 WHERE seq > 3; UPDATE audit_events SET seq = -seq WHERE seq < 0;"
        "INSERT INTO audit_events SELECT org_id, gen_random_uuid(), team_id, actor_id, kind, subject, facts, at, xid, 4, hash"
        " FROM audit_events WHERE seq = 3",
        "event 4 (notes.created) was changed",
    ),
    "a cut tail": (
        "DELETE FROM audit_events WHERE seq > (SELECT seq - 2 FROM audit_heads)",
        "events were cut off",
    ),
}


@pytest.mark.parametrize(("tampering", "finding"), TAMPERING.values(), ids=TAMPERING)
async def test_tampering_with_the_trail_is_found_and_placed(copy: str, tampering: str, finding: str) -> None:
    for statement in tampering.split(";"):
        await run_as_owner(copy, statement)

    verdict = await run_atrium("audit", "verify", database_url=copy, secret_key=SECRET)

    assert verdict.code == 1, verdict.output
    assert finding in verdict.output


async def test_a_tail_cut_together_with_its_head_is_found_by_the_heads_signature(copy: str) -> None:
    await run_as_owner(copy, "DELETE FROM audit_events WHERE seq > (SELECT seq - 2 FROM audit_heads)")
    await run_as_owner(
        copy,
        "UPDATE audit_heads SET (seq, hash) = (SELECT seq, hash FROM audit_events ORDER BY seq DESC NULLS LAST LIMIT 1)",
    )

    verdict = await run_atrium("audit", "verify", database_url=copy, secret_key=SECRET)

    assert verdict.code == 1, verdict.output
    assert "did not sign that end" in verdict.output


async def test_a_trail_taken_away_whole_is_found_by_the_heads_kept_outside(
    aftermath: Aftermath, copy: str, tmp_path: Path
) -> None:
    (tmp_path / "heads").write_text(aftermath.heads)
    await run_as_owner(copy, "DELETE FROM audit_events")
    await run_as_owner(copy, "DELETE FROM audit_heads")

    alone = await run_atrium("audit", "verify", database_url=copy, secret_key=SECRET)
    with_heads = await run_atrium(
        "audit", "verify", "--heads", str(tmp_path / "heads"), database_url=copy, secret_key=SECRET
    )

    assert (alone.code, with_heads.code) == (0, 1), alone.output + with_heads.output
    assert "kept outside" in with_heads.output


@pytest.mark.proof
@pytest.mark.parametrize(
    ("module", "symptom"), [(HASTY, "lost: "), (SPLIT, "no event: ")], ids=["reply-before-commit", "event-apart"]
)
async def test_these_checks_catch_a_server_that_breaks_its_promise(
    tmp_path: Path, module: tuple[str, ...], symptom: str
) -> None:
    async with fresh_database() as url:
        promises = await kill_under_load(url, tmp_path, module, range(2))

        found = await broken_promises(url, promises)

    assert [text for text in found if text.startswith(symptom)]

"""Silence: a reply says nothing about who is known, in its bytes, its headers or its time; and no log names who signed up."""

import asyncio
import json
import math
import os
import random
import statistics
import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.kit.postgres.database import Transaction
from atrium.product.onboarding import prospect_rows
from atrium.product.onboarding.prospect_rows import NewProspect
from tests.domains.onboarding.conftest import ANSWERS, make_first, proof_for, prospects, publish, sign_up
from tests.postgres import fresh_database
from tests.support.client import Answer, Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

KINDS = ("new", "known", "member", "suspected", "declined")
EACH, MOST = (500, 1000) if os.environ.get("ATRIUM_FULL") else (100, 600)
# Whom a sign-up finds there already.
KNOWN = {("new", kind) for kind in ("known", "member", "declined")}
# A busy machine only ever adds time: the fastest of a few tells more, to a test as to an attacker.
TRIES = 5
# Ten comparisons of kinds that do not differ come below this once in a thousand runs.
UNLIKELY = 0.0001


@pytest.fixture(scope="module")
async def quiet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server whose jobs wait: what a judge does afterwards would disturb the times of others."""
    async with fresh_database() as url:
        settings = settings_for(
            url, data_dir=tmp_path_factory.mktemp("silence"), plugins_dir="", beta_proof_cost=1, beta_proof_tries=2,
            rate_challenges=1_000_000, embed_worker=False,
        )  # fmt: skip
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def team(quiet: Application) -> Client:
    """The owner of a funnel with a judge, who knows a member and a person who was declined."""
    company = await found_company(quiet)
    await make_first(company)
    owner = await company.join("owner", org_role="org_owner", operator=True)
    await publish(owner, judge_prompt="People who bake.")
    decided: dict[str, dict[str, Any]] = {
        "member": {"decision": "accept", "invite": {"org": "Theirs"}},
        "declined": {"decision": "decline"},
    }
    for name in ("known", *decided):
        await sign_up(Client(quiet.app), f"{name}-{owner.org_id}@example.com")
    for name, body in decided.items():
        [found] = await prospects(owner, q=f"{name}-")
        assert (await owner.post(f"/api/beta/prospects/{found['id']}/decide", body)).status == 200
    return owner


def stranger(house: Application, dice: random.Random) -> Client:
    """Somebody in a network of their own."""
    return Client(house.app, address=f"10.{dice.randrange(256)}.{dice.randrange(256)}.{dice.randrange(1, 255)}")


def sent_by(kind: str, org: str, number: int) -> dict[str, Any]:
    email = f"{kind}-{org}@example.com"
    if kind == "new":
        email = f"new-{number:04}-{org}@example.com"
    if kind == "suspected":
        return {"email": f"sus-{number:04}-{org}@yopmail.com", "hp": "x", "elapsed_ms": 10}
    return {"email": email, "hp": "", "elapsed_ms": 9000}


async def observed(house: Application, owner: Client, each: int, first: int) -> dict[str, list[tuple[float, Answer]]]:
    """Seconds and replies of so many sign-ups of each kind, one after the other in a random order; `first` numbers those who are new."""
    dice = random.Random(first)
    turns = [(kind, number) for kind in KINDS for number in range(first, first + each)]
    found: dict[str, list[tuple[float, Answer]]] = {kind: [] for kind in KINDS}
    for kind, number in dice.sample(turns, len(turns)):
        visitor = stranger(house, dice)
        given = sent_by(kind, owner.org_id, number)
        fields = {**ANSWERS, "email": given.pop("email")}
        body = json.dumps({"fields": fields, "proof": await proof_for(visitor), **given}).encode()
        began = time.perf_counter()
        reply = await visitor.post("/api/beta/signup", body)
        found[kind].append((time.perf_counter() - began, reply))
    return found


def unlikeliness(one: list[float], other: list[float]) -> float:
    """How likely two samples of one distribution differ by this much in their ranks (Mann and Whitney, two-sided)."""
    ranked = sorted([(value, 0) for value in one] + [(value, 1) for value in other])
    ranks = sum(rank for rank, (_, whose) in enumerate(ranked, 1) if whose == 0)
    many, few = len(one), len(other)
    spread = math.sqrt(many * few * (many + few + 1) / 12)
    return math.erfc(abs(ranks - many * (many + few + 1) / 2) / spread / math.sqrt(2))


def fastest(seconds: list[float]) -> list[float]:
    """The least of each few."""
    return [min(seconds[start : start + TRIES]) for start in range(0, len(seconds), TRIES)]


def differing(found: dict[str, list[tuple[float, Answer]]]) -> dict[tuple[str, str], float]:
    """The pairs of kinds whose times tell them apart."""
    times = {kind: fastest([seconds for seconds, _ in replies]) for kind, replies in found.items()}
    print({kind: f"{statistics.median(seconds) * 1000:.2f} ms" for kind, seconds in times.items()})
    pairs = [(one, other) for number, one in enumerate(KINDS) for other in KINDS[number + 1 :]]
    return {pair: p for pair in pairs if (p := unlikeliness(times[pair[0]], times[pair[1]])) < UNLIKELY}


async def times_that_tell(
    house: Application, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, dict[tuple[str, str], float]]:
    """How many of each kind it takes until two milliseconds more for known people are found, and what then tells them apart."""
    keep = prospect_rows.keep_prospect

    async def keep_slowly(db: Transaction, org_id: UUID, new: NewProspect) -> UUID | None:
        kept = await keep(db, org_id, new)
        if kept != new.id:
            await asyncio.sleep(0.002)
        return kept

    found: dict[str, list[tuple[float, Answer]]] = {kind: [] for kind in KINDS}
    apart: dict[tuple[str, str], float] = {}
    with monkeypatch.context() as patch:
        patch.setattr(prospect_rows, "keep_prospect", keep_slowly)
        while not apart.keys() >= KNOWN and len(found["new"]) < MOST:
            for kind, replies in (await observed(house, owner, EACH, len(found["new"]))).items():
                found[kind] += replies
            apart = differing(found)
    return len(found["new"]), apart


async def test_no_reply_tells_who_is_known(quiet: Application, team: Client) -> None:
    require_alike(await observed(quiet, team, 3, 0))


def require_alike(found: dict[str, list[tuple[float, Answer]]]) -> None:
    """The same bytes and headers, whoever signs up."""
    replies = [reply for kind in KINDS for _, reply in found[kind]]
    assert len({(reply.status, reply.raw) for reply in replies}) == 1
    assert replies[0].status == 202
    assert len({tuple(reply.headers) for reply in replies}) == 1


@pytest.mark.proof
@pytest.mark.timeout(900)
async def test_where_two_milliseconds_would_be_found_nothing_tells_who_is_known(
    quiet: Application, team: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How many that takes depends on how busy the machine is.
    enough, apart = await times_that_tell(quiet, team, monkeypatch)
    assert apart.keys() >= KNOWN
    assert ("new", "suspected") not in apart

    found = await observed(quiet, team, enough, MOST)

    require_alike(found)
    assert differing(found) == {}


async def test_neither_logs_metrics_nor_errors_name_who_signed_up(
    quiet: Application, team: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, canary = Client(quiet.app, address="203.0.113.77"), "canary-ada@example.com"
    shown = await proof_for(visitor)

    replies = [
        await sign_up(visitor, canary, proof=shown, fields={"why": "canary-why"}),
        await sign_up(visitor, canary, proof=shown),
        await sign_up(visitor, canary, proof="canary-proof"),
        await sign_up(visitor, "canary-no-address"),
        await sign_up(visitor, canary, fields={canary: "x"}),
        await visitor.send(
            "POST", "/api/beta/signup", b'{"fields": {"email": "canary-\\ud800@example.com"}, "proof": ""}'
        ),
        await visitor.send("POST", f"/api/beta/signup?email={canary}", b'{"fields": {"email": "canary-cut@'),
        await visitor.send("POST", "/api/beta/signup", {"fields": {}, "proof": "", "canary": "x"}),
    ]

    async def fail(db: Transaction, org_id: UUID, new: NewProspect) -> UUID | None:
        raise RuntimeError("no such column")

    monkeypatch.setattr(prospect_rows, "keep_prospect", fail)
    replies.append(await sign_up(visitor, canary))
    metrics = await team.get("/api/metrics")

    said = capsys.readouterr()
    assert [reply.status for reply in replies] == [202, 409, 400, 400, 400, 400, 400, 400, 500]
    assert "no such column" in said.out
    assert not any("canary" in text for text in (said.out, said.err, metrics.raw.decode()))
    # Only what a sender named themselves comes back to them.
    assert [b"canary" in reply.raw for reply in replies] == [*[False] * 4, True, False, False, True, False]


def test_the_comparison_of_times_is_itself_right() -> None:
    dice = random.Random(5)
    one, other = ([dice.gauss(0, 1) for _ in range(300)] for _ in range(2))

    assert unlikeliness(one, other) > 0.01
    assert unlikeliness(one, [value + 0.6 for value in other]) < UNLIKELY
    assert unlikeliness([1, 2, 3], [4, 5, 6]) == pytest.approx(0.0495, abs=0.001)

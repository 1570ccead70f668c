"""Sign-ups per second beside one bare insert on the same server path, and what a challenge and its check cost.

python -m benchmarks.bench_onboarding [--rounds 30] [--each 50]

The bare insert is answered by the same row of the table: the edge, the rate limit, the body and the transaction are the same, and the
handler's work is one INSERT. The two take turns in short rounds in one process, so that whatever else the machine does falls on both.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import msgspec

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.onboarding import proof, signup
from atrium.product.onboarding.funnel import Funnel
from atrium.product.onboarding.signup import SentAnswers
from atrium.seams.context import Operation
from tests.domains.onboarding.conftest import ANSWERS, make_first, proof_for, publish, solved
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

LEAST = 0.8
AT_ONCE = 8
SECRET = b"s" * 32
_BARE = """
INSERT INTO prospects (id, org_id, address, version, fields, words, locale, signals, gate)
VALUES (:id, :org_id, :address, 1, :fields, '', '', '[]', 'pass')
"""


class Keep(Protocol):
    """What a sign-up does."""

    def __call__(self, op: Operation, funnel: Funnel, sent: SentAnswers) -> Coroutine[Any, Any, None]: ...


_keep: Keep = signup._keep


async def keep_barely(op: Operation, funnel: Funnel, sent: SentAnswers) -> None:
    """One row, and nothing looked at."""
    owner = await funnel.owner(op)
    async with op.services.database.begin(owner.org_id) as db:
        await db.run(_BARE, id=(id := new_id()), org_id=owner.org_id, address=id.bytes, fields=sent.fields)


async def per_second(visitor: Client, keep: Keep, bodies: list[object]) -> float:
    """How many of these sign-ups are received a second, a few at a time."""
    signup._keep = keep
    waiting, began = iter(bodies), time.perf_counter()

    async def send() -> None:
        for body in waiting:
            reply = await visitor.post("/api/beta/signup", body)
            assert reply.status == 202, reply.raw

    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    return len(bodies) / (time.perf_counter() - began)


async def bodies_of(visitor: Client, count: int) -> list[object]:
    """Sign-ups of new people, each with a proof of its own."""
    proofs = [await proof_for(visitor) for _ in range(count)]
    return [{"fields": {**ANSWERS, "email": f"{new_id()}@example.com"}, "proof": shown} for shown in proofs]


async def compare(house: Application, rounds: int, each: int, judge: str) -> tuple[float, float, float]:
    """Medians: the ratio within a round, sign-ups a second, bare inserts a second."""
    company = await found_company(house)
    await make_first(company)
    await publish(await company.join("owner", org_role="org_owner", operator=True), judge_prompt=judge)
    visitor, found = Client(house.app), []
    for number in range(-1, rounds):
        runs: dict[Keep, float] = {}
        for keep in random.sample([_keep, keep_barely], 2):
            runs[keep] = await per_second(visitor, keep, await bodies_of(visitor, each))
        if number >= 0:
            found.append((runs[_keep] / runs[keep_barely], runs[_keep], runs[keep_barely]))
    ratio, ours, bare = (statistics.median(column) for column in zip(*found, strict=True))
    return ratio, ours, bare


async def processor_times(cost: int, count: int = 200) -> tuple[float, float]:
    """Milliseconds of processor time for issuing a challenge and for checking a proof."""
    began = time.process_time()
    for _ in range(count):
        await proof.issue(SECRET, 1, cost, 1000)
    issuing = time.process_time() - began
    shown = solved(msgspec.to_builtins(await proof.issue(SECRET, 1, 1, 1)))
    began = time.process_time()
    for _ in range(count):
        proof.require_sound(SECRET, proof.find_payload(shown))
    return issuing / count * 1000, (time.process_time() - began) / count * 1000


async def measure(rounds: int, each: int) -> float:
    """Print what was found; the ratio without a judge."""
    with TemporaryDirectory(prefix="atrium-onboarding-") as folder:
        async with fresh_database() as url:
            settings = settings_for(
                url, data_dir=Path(folder), plugins_dir="", beta_proof_cost=1, beta_proof_tries=2,
                rate_challenges=1_000_000, embed_worker=False,
            )  # fmt: skip
            async with open_application(settings) as house:
                ratio, ours, bare = await compare(house, rounds, each, "")
                judged, *_ = await compare(house, rounds, each, "People who bake.")
            issuing, checking = await processor_times(1000)
    print(f"sign-ups                 {ours:6.0f}/s  {ratio:.2f} of a bare insert ({bare:.0f}/s; at least {LEAST})")
    print(f"with a job for the judge {judged:8.2f} of a bare insert")
    print(f"issuing a challenge      {issuing:8.3f} ms of processor time, checking a proof {checking:.3f} ms")
    return ratio


def main() -> int:
    """Fail when a sign-up is slower than it may be beside a bare insert."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--each", type=int, default=50)
    given = parser.parse_args()
    return 0 if asyncio.run(measure(given.rounds, given.each)) >= LEAST else 1


if __name__ == "__main__":
    raise SystemExit(main())

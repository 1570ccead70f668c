"""Strangers who all sign up at once with too few proofs, at two servers that are killed on a PostgreSQL that crashes."""

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from tests.domains.onboarding.conftest import ANSWERS, EXPERIENCE, GOOD, Model, solved
from tests.postgres import run_as_owner
from tests.processes.crash.campaign import Seat
from tests.support.processes import ATRIUM, PrivatePostgres, Process, bootstrap, free_port, start_server
from tests.support.speaker import Speaker, speaking

CONNECTIONS = 64
# Every verdict leaves a line in the transaction that writes it.
LEDGER = (
    "CREATE TABLE verdicts (prospect uuid NOT NULL)",
    """
    CREATE FUNCTION note_verdict() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO verdicts VALUES (NEW.id); RETURN NULL; END $$
    """,
    """
    CREATE TRIGGER note_verdict AFTER UPDATE ON prospects FOR EACH ROW
      WHEN (NEW.judgement IS DISTINCT FROM OLD.judgement) EXECUTE FUNCTION note_verdict()
    """,
)
# Statements that find rows where the books do not agree.
BOOKS = {
    "prospects without the job that judges them, or with two": """
        SELECT p.id FROM prospects p WHERE 1 <> (SELECT count(*) FROM jobs j WHERE j.input->>'prospect' = p.id::text
                                                    AND NOT (j.input->>'again')::bool)""",
    "judged twice": "SELECT prospect FROM verdicts GROUP BY prospect HAVING count(*) > 1",
    "neither judged nor about to be": """
        SELECT p.id FROM prospects p WHERE p.judgement IS NULL AND NOT EXISTS (
          SELECT FROM jobs j WHERE j.input->>'prospect' = p.id::text AND j.finished_at IS NULL)""",
}


@dataclass(frozen=True, slots=True)
class Size:
    """How many sign-ups, with how many proofs, of how many people."""

    signups: int
    proofs: int
    people: int


@dataclass(slots=True)
class Storm:
    """The servers, the proofs, what was acknowledged, and what was seen that must not be."""

    postgres: PrivatePostgres
    url: str
    size: Size
    seats: list[Seat]
    moments: random.Random
    proofs: list[str] = field(default_factory=list)
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def person_of(self, proof: int) -> str:
        """Who has this proof; beyond the first of each person, together with all others."""
        return f"p{proof % self.size.people}@example.com"

    async def solve(self) -> None:
        """Fetch the challenges, by both servers, and solve them with ALTCHA's own client."""
        for start in range(0, self.size.proofs, CONNECTIONS):
            batch = range(start, min(start + CONNECTIONS, self.size.proofs))
            self.proofs += await asyncio.gather(*(self._solved(number) for number in batch))

    async def _solved(self, number: int) -> str:
        async with self.seats[number % len(self.seats)].process.client() as client:
            answer = await client.get("/api/beta/challenge")
        assert answer.status_code == 200, answer.text
        return solved(answer.json())

    async def send(self, client: httpx.AsyncClient, seat: Seat, proof: int, email: str) -> int:
        """The status of a sign-up; 0 when its connection broke, so that neither side knows."""
        body = {"fields": {**ANSWERS, "email": email}, "proof": self.proofs[proof]}
        try:
            answer = await client.post(f"{seat.process.address}/api/beta/signup", json=body)
        except httpx.TransportError:
            return 0
        self.statuses[answer.status_code] += 1
        if answer.status_code == 202:
            self.acknowledged.append((proof, email))
        return answer.status_code

    async def press(self, work: "asyncio.Queue[tuple[int, str]]") -> None:
        """One connection that takes one sign-up after the other; what a crash refused is sent once more, at the other server."""
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            while not work.empty():
                proof, email = work.get_nowait()
                for seat in self.moments.sample(self.seats, len(self.seats)):
                    if await self.send(client, seat, proof, email) not in (0, 503):
                        break
                    await asyncio.sleep(0.05)

    async def strike(self, number: int) -> None:
        """Kill a server; every other time PostgreSQL crashes as well."""
        victim = self.moments.choice(self.seats)
        victim.kill()
        if number % 2 == 0:
            await self.postgres.crash()
            await asyncio.sleep(self.moments.uniform(0, 0.5))
            await self.postgres.recover()
        victim.replace()
        await asyncio.gather(*(_until_ready(seat) for seat in self.seats))

    async def finish(self) -> None:
        """Every proof is sent once more by the one who has it, so that each was spent and each person came."""
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            for proof in range(self.size.proofs):
                status = await self.send(client, self.seats[proof % 2], proof, self.person_of(proof))
                if status not in (202, 409):
                    self.wrong.append(f"proof {proof} was answered with {status} after all was quiet")

    async def check(self) -> None:
        """Each acknowledged sign-up was kept, each proof was spent on exactly one, each person is there once."""
        rows = await run_as_owner(self.url, "SELECT fields->>'email' AS email, submissions FROM prospects")
        [[spent]] = await run_as_owner(self.url, "SELECT count(*) FROM onboarding_proofs")
        kept = Counter({row["email"]: row["submissions"] for row in rows})
        promised = Counter(email for _, email in self.acknowledged)
        self.wrong += [
            f"lost: {email} was promised {many}, kept {kept[email]}"
            for email, many in promised.items()
            if kept[email] < many
        ]
        twice = [proof for proof, many in Counter(proof for proof, _ in self.acknowledged).items() if many > 1]
        self.wrong += [f"proof {proof} was accepted twice" for proof in twice]
        if kept.total() != spent or spent != self.size.proofs:
            self.wrong.append(f"{kept.total()} sign-ups were kept for {spent} of {self.size.proofs} proofs")
        if len(rows) != self.size.people or len(kept) != self.size.people:
            self.wrong.append(f"{len(rows)} prospects for {self.size.people} people")
        for what, books in BOOKS.items():
            if found := await run_as_owner(self.url, books):
                self.wrong.append(f"{len(found)} {what}")


async def _until_ready(seat: Seat) -> None:
    """A server that found no PostgreSQL while it started may have refused to, and is started again."""
    async with asyncio.timeout(60):
        while True:
            if seat.has_ended:
                seat.replace()
            with contextlib.suppress(httpx.TransportError):
                async with seat.process.client() as client:
                    if (await client.get("/ready")).status_code == 200:
                        return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def storming(
    postgres: PrivatePostgres, folder: Path, size: Size, moments: random.Random, module: Sequence[str] = ATRIUM
) -> AsyncIterator[Storm]:
    """Two servers that judge what comes in, with a published form and all proofs solved."""
    await run_as_owner(postgres.url, "CREATE DATABASE storm")
    url = urlunsplit(urlsplit(postgres.url)._replace(path="/storm"))
    async with speaking() as speaker:
        settings = _settings(speaker)

        def server(port: int) -> Callable[[], Process]:
            return lambda: start_server(url, folder, port, module=module, **settings)

        begin = [server(free_port()), server(free_port())]
        first = begin[0]()
        seats = [Seat(begin[0], first, "serve.listening")]
        answering = asyncio.ensure_future(Model(lambda messages: json.dumps(GOOD)).answer(speaker))
        try:
            await first.until_ready()
            await _publish(first)
            for statement in LEDGER:
                await run_as_owner(url, statement)
            seats.append(Seat(begin[1], begin[1](), "serve.listening"))
            await _until_ready(seats[1])
            storm = Storm(postgres, url, size, seats, moments)
            await storm.solve()
            yield storm
        finally:
            answering.cancel()
            for seat in seats:
                seat.process.clean_up()


async def rage(storm: Storm, strikes: range) -> None:
    """Send everything from all sides, in a random order, and strike in between, at equal distances."""
    size, work = storm.size, asyncio.Queue[tuple[int, str]]()
    for number in storm.moments.sample(range(size.signups), size.signups):
        proof = number % size.proofs
        # Everybody has one proof of their own; the others are shared by all.
        whose = proof if proof < size.people else storm.moments.randrange(size.people)
        work.put_nowait((proof, storm.person_of(whose)))
    pressing = [asyncio.create_task(storm.press(work)) for _ in range(CONNECTIONS)]
    for number in strikes:
        while work.qsize() > size.signups * (len(strikes) - number) / (len(strikes) + 1):
            await asyncio.sleep(0.01)
        await storm.strike(number)
    await asyncio.gather(*pressing)
    await storm.finish()
    await storm.check()


def _settings(speaker: Speaker) -> dict[str, Any]:
    return {
        "local_model_url": speaker.url, "beta_proof_cost": 1, "beta_proof_tries": 2, "rate_challenges": 1_000_000, "embed_worker": 1,
        "plugins_dir": "",
    }  # fmt: skip


async def _publish(server: Process) -> None:
    async with server.client(await bootstrap(server)) as operator:
        for method, path, body in (
            ("PUT", "/api/beta/experience", {"experience": EXPERIENCE | {"judge_prompt": "People who bake."}}),
            ("POST", "/api/beta/experience/publish", {}),
        ):
            answer = await operator.request(method, path, json=body)
            assert answer.status_code == 200, answer.text

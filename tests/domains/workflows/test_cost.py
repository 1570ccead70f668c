"""What a step costs: round trips to PostgreSQL, which are what a run of short steps waits for."""

from collections.abc import Callable, Hashable

import pytest

from atrium.kit.postgres.database import Database
from atrium.kit.postgres.pool import Connection
from tests.domains.workflows.engine import Engine, Starter, spec_of, tool
from tests.domains.workflows.hand import Hand

STEPS = 6


@pytest.fixture
def sent(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Everything that is sent to PostgreSQL, each a round trip, by transaction."""
    seen: list[list[str]] = []
    notes: dict[Connection, Callable[[object], None]] = {}

    async def take(database: Database, owner: Hashable) -> Connection:
        connection = await taken(database, owner)
        transaction: list[str] = []
        seen.append(transaction)

        def note(record: object) -> None:
            transaction.append(" ".join(str(getattr(record, "query", "")).split())[:90])

        notes[connection] = note
        connection.add_query_logger(note)
        return connection

    async def give_back(database: Database, connection: Connection, *, clean: bool) -> None:
        if note := notes.pop(connection, None):
            connection.remove_query_logger(note)
        await given_back(database, connection, clean=clean)

    taken, given_back = Database.take, Database.give_back
    monkeypatch.setattr(Database, "take", take)
    monkeypatch.setattr(Database, "give_back", give_back)
    return seen


async def statements_of_a_step(engine: Engine, starter: Starter, sent: list[list[str]], name: str) -> list[str]:
    """What is sent between the beginning of a handed on step and that of the next, when everything is warm.

    Of the step's own company alone: what the server does meanwhile for all of them is not waited for.
    """
    await starter.publish(spec_of(*(tool(f"s{n}", name, {"value": "x"}) for n in range(STEPS))))
    await starter.start("probe")
    hand = Hand(engine)
    [following] = await hand.claim()
    warm: list[list[str]] = []
    for _ in range(STEPS - 1):
        sent.clear()
        _, handed = await hand.do(following, take=True)
        assert handed is not None
        following = handed
        warm.append([text for one in sent if one and str(starter.company.org.id) in one[0] for text in one])
    return min(warm[2:], key=len)


async def test_a_step_that_reads_takes_nine_round_trips(
    engine: Engine, starter: Starter, sent: list[list[str]]
) -> None:
    """Three for the tool: begin, its switch, commit. Six to go on: begin, settle, lock, write, queue and hand on, commit."""
    found = await statements_of_a_step(engine, starter, sent, "echo")

    assert len(found) == 9, found


async def test_a_step_that_writes_takes_eight_more(engine: Engine, starter: Starter, sent: list[list[str]]) -> None:
    """Its effect (whether it fits, a note, its words for search, an audit event), the call's audit event, what it touched, the receipt."""
    found = await statements_of_a_step(engine, starter, sent, "write")

    assert len(found) == 17, found

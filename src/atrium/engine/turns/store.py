"""SQL of turns: turns, the pieces of their replies, and the processes that ask for them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.turns.model import LostTurn, NewPiece, NewTurn, StoredPiece, StoredTurn, TurnState
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.presence import SPACE
from atrium.seams.context import Principal

_TURN = "id, process_id, state, executor, model, simulated, conversation_id, ending, request"


async def insert_turn(db: Transaction, who: Principal, new: NewTurn) -> bool:
    """False when another turn has its key, or its conversation is busy."""
    return bool(
        await db.run(
            """
        INSERT INTO turns (id, org_id, team_id, user_id, process_id, executor, model, simulated, conversation_id, admission_id,
                           reserved_tokens, prompt_tokens, key, request)
        VALUES (:id, :org_id, :team_id, :user_id, :process_id, :executor, :model, :simulated, :conversation_id, :admission_id,
                :reserved_tokens, :prompt_tokens, :key, :request)
        ON CONFLICT DO NOTHING
        """,
            org_id=who.org_id,
            team_id=who.team_id,
            user_id=who.user_id,
            **msgspec.structs.asdict(new),
        )
    )


async def find_turn(db: Transaction, who: Principal, id: UUID) -> StoredTurn | None:
    return await db.one(
        StoredTurn,
        f"SELECT {_TURN} FROM turns WHERE org_id = :org_id AND user_id = :user_id AND id = :id",
        org_id=who.org_id,
        user_id=who.user_id,
        id=id,
    )


async def find_turn_by_key(db: Transaction, who: Principal, key: str) -> StoredTurn | None:
    return await db.one(
        StoredTurn,
        f"SELECT {_TURN} FROM turns WHERE org_id = :org_id AND user_id = :user_id AND key = :key",
        org_id=who.org_id,
        user_id=who.user_id,
        key=key,
    )


async def find_running(db: Transaction, who: Principal, conversation_id: UUID) -> UUID | None:
    """The person's turn that runs in a conversation."""
    rows = await db.rows(
        """
        SELECT id FROM turns
         WHERE org_id = :org_id AND user_id = :user_id AND conversation_id = :conversation_id AND state = 'running'
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        conversation_id=conversation_id,
    )
    return rows[0][0] if rows else None


async def list_pieces(db: Transaction, org_id: UUID, id: UUID, after: int = -1) -> list[StoredPiece]:
    """What of a turn was said after a position, beginning with the piece that holds it."""
    return await db.all(
        StoredPiece,
        """
        SELECT at, coalesce(event, CASE WHEN thinking THEN 'thinking' ELSE 'text' END) AS kind, body, pieces, prompt_told, reply_told
          FROM turn_pieces
         WHERE org_id = :org_id AND turn_id = :id AND at + length(body) > :after ORDER BY at
        """,
        org_id=org_id,
        id=id,
        after=after,
    )


_INSERT_PIECES = """
    INSERT INTO turn_pieces (org_id, turn_id, at, thinking, event, body, pieces, prompt_told, reply_told)
    SELECT org_id, turn_id, at, kind = 'thinking', CASE WHEN kind NOT IN ('text', 'thinking') THEN kind END, body, pieces, prompt_told,
           reply_told
      FROM jsonb_to_recordset(:pieces) AS p (org_id uuid, turn_id uuid, at int, kind text, body text, pieces int,
                                             prompt_told bigint, reply_told bigint)
    ON CONFLICT DO NOTHING
"""


async def insert_pieces(db: Transaction, pieces: list[NewPiece]) -> None:
    """Store pieces; one that is there already stays as it is. As JSON, which costs the process a tenth of arrays."""
    await db.run(_INSERT_PIECES, pieces=pieces)


async def end_turn(
    db: Transaction,
    org_id: UUID,
    id: UUID,
    admission_id: UUID,
    state: TurnState,
    ending: object,
    pieces: list[NewPiece],
) -> bool:
    """Store the last pieces and how it ended; whether it ran under this admission until now.

    Of several who end a turn only one is told so, and one that was taken over is ended by its new process alone.
    """
    rows = await db.rows(
        f"""
        WITH kept AS ({_INSERT_PIECES})
        UPDATE turns SET state = :state, ending = :ending, ended_at = now()
         WHERE org_id = :org_id AND id = :id AND admission_id = :admission_id AND state = 'running' RETURNING stop_asked
        """,
        org_id=org_id,
        id=id,
        admission_id=admission_id,
        state=state,
        ending=ending,
        pieces=pieces,
    )
    if rows and rows[0][0]:
        # Another process waits for the end that it asked for; all others look by themselves.
        await db.run("SELECT pg_notify('atrium_jobs', :topic)", topic=topic_of_end(id))
    return bool(rows)


async def lock_turn(db: Transaction, who: Principal, id: UUID) -> None:
    """Before its run, in the order in which everything locks the two."""
    await db.run(
        "SELECT FROM turns WHERE org_id = :org_id AND user_id = :user_id AND id = :id FOR UPDATE",
        org_id=who.org_id,
        user_id=who.user_id,
        id=id,
    )


async def hold_turn(db: Transaction, org_id: UUID, id: UUID, admission_id: UUID) -> bool:
    """Whether a turn still runs under this admission, and keep it so until the commit."""
    return bool(
        await db.rows(
            """
        SELECT 1 FROM turns WHERE org_id = :org_id AND id = :id AND admission_id = :admission_id AND state = 'running'
           FOR SHARE
        """,
            org_id=org_id,
            id=id,
            admission_id=admission_id,
        )
    )


async def reopen_turn(db: Transaction, who: Principal, id: UUID, process_id: UUID, admission_id: UUID) -> bool:
    """Let a turn run again, in this process; False while it runs, or while its conversation is busy with another."""
    return bool(
        await db.run(
            """
        UPDATE turns t SET state = 'running', ended_at = NULL, ending = NULL, stop_asked = false, process_id = :process_id,
               admission_id = :admission_id
         WHERE t.org_id = :org_id AND t.user_id = :user_id AND t.id = :id AND t.state <> 'running'
           AND NOT EXISTS (SELECT FROM turns o WHERE o.org_id = t.org_id AND o.conversation_id = t.conversation_id
                              AND o.state = 'running')
        """,
            org_id=who.org_id,
            user_id=who.user_id,
            id=id,
            process_id=process_id,
            admission_id=admission_id,
        )
    )


async def ask_to_stop(db: Transaction, who: Principal, id: UUID, process_id: UUID) -> None:
    """Note that a turn is to stop, and wake its process."""
    await db.run(
        "UPDATE turns SET stop_asked = true WHERE org_id = :org_id AND user_id = :user_id AND id = :id",
        org_id=who.org_id,
        user_id=who.user_id,
        id=id,
    )
    await notify_process(db, process_id)


async def ask_to_stop_all(db: Transaction, org_id: UUID, user_id: UUID) -> None:
    """Note that every turn of a person is to stop, and wake their processes."""
    rows = await db.rows(
        """
        UPDATE turns SET stop_asked = true WHERE org_id = :org_id AND user_id = :user_id AND state = 'running'
        RETURNING process_id
        """,
        org_id=org_id,
        user_id=user_id,
    )
    for process_id in {found for (found,) in rows}:
        await notify_process(db, process_id)


def topic_of(process_id: UUID) -> str:
    """What wakes a process to look which of its turns are to stop."""
    return f"turns {process_id}"


def topic_of_end(id: UUID) -> str:
    """What wakes those who wait for a turn's end."""
    return f"turn {id}"


async def notify_process(db: Transaction, process_id: UUID) -> None:
    await db.run("SELECT pg_notify('atrium_jobs', :topic)", topic=topic_of(process_id))


async def list_to_stop(db: Transaction, process_id: UUID) -> list[UUID]:
    rows = await db.rows(
        "SELECT id FROM turns WHERE process_id = :process_id AND state = 'running' AND stop_asked",
        process_id=process_id,
    )
    return [id for (id,) in rows]


# Seconds a process may be silent before its turns are taken from it. A process that was itself cut off from PostgreSQL takes none
# before it has been steady for as long.
SILENCE = 10.0
# Whether a process lives is told by its lock (`kit/postgres/presence`), however busy it is; but not for longer than this without a word.
_LONGEST_SILENCE = 600.0
# What a process says where a lock says nothing.
BEAT = "UPDATE turn_processes SET seen_at = clock_timestamp() WHERE id = $1"


async def note_alive(db: Transaction, process_id: UUID) -> None:
    """Say that this process is there, and since when without a gap."""
    await db.run(
        """
        INSERT INTO turn_processes AS p (id) VALUES (:process_id)
        ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp(),
          steady_since = CASE WHEN p.seen_at < clock_timestamp() - make_interval(secs => :silence / 2) THEN clock_timestamp()
                              ELSE p.steady_since END
        """,
        process_id=process_id,
        silence=SILENCE,
    )


async def list_lost(db: Transaction, process_id: UUID, most: int) -> list[tuple[UUID, UUID]]:
    """Running turns (company, id) of processes that fell silent, as far as this process can tell."""
    rows = await db.rows(
        """
        SELECT t.org_id, t.id FROM turns t
         WHERE t.state = 'running'
           AND EXISTS (SELECT FROM turn_processes me WHERE me.id = :process_id
                          AND me.steady_since < clock_timestamp() - make_interval(secs => :silence))
           AND t.process_id NOT IN (SELECT p.id FROM turn_processes p
                                     WHERE p.seen_at > clock_timestamp() - make_interval(secs => CASE WHEN EXISTS (
                                             SELECT FROM pg_locks l
                                              WHERE l.locktype = 'advisory' AND l.classid = :space::bigint::oid AND l.objsubid = 2
                                                AND l.objid = ('x' || right(p.id::text, 8))::bit(32)::bigint::oid AND l.granted
                                                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                                           THEN :longest ELSE :silence END))
         LIMIT :most
        """,
        process_id=process_id,
        silence=SILENCE,
        longest=_LONGEST_SILENCE,
        space=SPACE,
        most=most,
    )
    return [(org_id, id) for org_id, id in rows]


async def find_lost(db: Transaction, org_id: UUID, id: UUID) -> LostTurn | None:
    """What it takes to settle a turn that still counts as running; locked."""
    return await db.one(
        LostTurn,
        """
        SELECT id, team_id, admission_id, reserved_tokens, prompt_tokens
          FROM turns WHERE org_id = :org_id AND id = :id AND state = 'running' FOR UPDATE
        """,
        org_id=org_id,
        id=id,
    )


async def forget_turns(db: Transaction, age: timedelta, most: int) -> int:
    """Delete turns that ended long ago, with what they said; how many."""
    rows = await db.rows(
        """
        WITH old AS (SELECT id FROM turns WHERE ended_at < now() - :age::interval ORDER BY ended_at LIMIT :most)
        DELETE FROM turns t USING old WHERE t.id = old.id RETURNING t.id
        """,
        age=age,
        most=most,
    )
    ids: list[Any] = [id for (id,) in rows]
    await delete_pieces(db, ids)
    return len(ids)


async def delete_pieces(db: Transaction, ids: Sequence[UUID]) -> None:
    await db.run("DELETE FROM turn_pieces WHERE turn_id = ANY(:ids)", ids=list(ids))


async def forget_processes(db: Transaction, age: timedelta, most: int) -> int:
    """Delete processes that are gone and have no turns left to settle."""
    return await db.run(
        """
        DELETE FROM turn_processes WHERE id IN (
          SELECT p.id FROM turn_processes p WHERE p.seen_at < now() - :age::interval
             AND NOT EXISTS (SELECT FROM turns t WHERE t.process_id = p.id AND t.state = 'running') LIMIT :most)
        """,
        age=age,
        most=most,
    )

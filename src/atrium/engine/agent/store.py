"""SQL of the agent: runs, and the calls in them."""

from uuid import UUID

import msgspec

from atrium.engine.agent.model import AgentCall, CallStatus, RunRequest, RunState, StepQuestion, StoredRun, Taint
from atrium.engine.chat.model import OpenTurn
from atrium.kit.postgres.database import Transaction
from atrium.seams.context import Principal
from atrium.seams.models import Message, TokenUsage

_RUN = "id, state, question, opening, tools, taint, steps, prompt_tokens, reply_tokens, exact, created_at"
_CALL = "number, step, name, arguments, effect, digest, said, status, result, artifact"


async def insert_run(
    db: Transaction,
    who: Principal,
    id: UUID,
    asked: RunRequest,
    opening: list[Message],
    tools: list[str],
    taint: list[Taint],
) -> None:
    await db.run(
        """
        INSERT INTO agent_runs (id, org_id, user_id, question, opening, tools, taint)
        VALUES (:id, :org_id, :user_id, :question, :opening, :tools, :taint)
        """,
        id=id,
        org_id=who.org_id,
        user_id=who.user_id,
        question=asked,
        opening=opening,
        tools=tools,
        taint=taint,
    )


async def find_run(db: Transaction, who: Principal, id: UUID, *, lock: bool = False) -> StoredRun | None:
    return await db.one(
        StoredRun,
        f"""
        SELECT {_RUN} FROM agent_runs WHERE org_id = :org_id AND user_id = :user_id AND id = :id
        {"FOR UPDATE" if lock else ""}
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        id=id,
    )


async def list_calls(db: Transaction, org_id: UUID, id: UUID) -> list[AgentCall]:
    return await db.all(
        AgentCall,
        f"SELECT {_CALL} FROM agent_calls WHERE org_id = :org_id AND run_id = :id ORDER BY number",
        org_id=org_id,
        id=id,
    )


async def find_open_run(db: Transaction, who: Principal, conversation_id: UUID) -> OpenTurn | None:
    """The person's run that works in a conversation, else one that waits there, else the latest turn when it is a run that broke off."""
    return await db.one(
        OpenTurn,
        """
        SELECT t.id, CASE WHEN t.state = 'running' THEN 'running' WHEN r.state = 'waiting' THEN 'waiting' ELSE 'interrupted' END AS state,
               true AS agent, r.question -> 'prompt' AS question
          FROM turns t JOIN agent_runs r ON r.org_id = t.org_id AND r.id = t.id
         WHERE t.org_id = :org_id AND t.user_id = :user_id AND t.conversation_id = :conversation_id
           AND (t.state = 'running' OR r.state = 'waiting' OR r.state = 'running' AND NOT EXISTS (
                 SELECT FROM turns l WHERE l.org_id = t.org_id AND l.conversation_id = t.conversation_id AND l.started_at > t.started_at))
         ORDER BY t.state = 'running' DESC, r.state = 'waiting' DESC NULLS LAST, t.started_at DESC LIMIT 1
        """,
        org_id=who.org_id,
        user_id=who.user_id,
        conversation_id=conversation_id,
    )


async def find_step(db: Transaction, org_id: UUID, id: UUID) -> StepQuestion | None:
    """The question of a run that was being answered, if any; None of a turn that is no run."""
    return await db.one(
        StepQuestion,
        """
        SELECT step_admission_id AS admission_id, step_reserved AS reserved, step_prompt AS prompt, step_at AS at
          FROM agent_runs WHERE org_id = :org_id AND id = :id
        """,
        org_id=org_id,
        id=id,
    )


async def begin_step(
    db: Transaction, org_id: UUID, id: UUID, admission_id: UUID, reserved: int, prompt: int, at: int
) -> None:
    """Note what is asked of a model now, so that it is paid also when this process dies."""
    await db.run(
        """
        UPDATE agent_runs SET step_admission_id = :admission_id, step_reserved = :reserved, step_prompt = :prompt, step_at = :at
         WHERE org_id = :org_id AND id = :id
        """,
        org_id=org_id,
        id=id,
        admission_id=admission_id,
        reserved=reserved,
        prompt=prompt,
        at=at,
    )


async def end_step(db: Transaction, org_id: UUID, id: UUID, admission_id: UUID, usage: TokenUsage) -> bool:
    """Count a model's answer; False when that was done already."""
    return bool(
        await db.run(
            """
        UPDATE agent_runs SET step_admission_id = NULL, steps = steps + 1, prompt_tokens = prompt_tokens + :prompt,
               reply_tokens = reply_tokens + :reply, exact = exact AND :exact
         WHERE org_id = :org_id AND id = :id AND step_admission_id = :admission_id
        """,
            org_id=org_id,
            id=id,
            admission_id=admission_id,
            prompt=usage.prompt_tokens,
            reply=usage.completion_tokens,
            exact=usage.exact,
        )
    )


async def insert_calls(db: Transaction, org_id: UUID, id: UUID, calls: list[AgentCall]) -> None:
    """Write calls down before they run."""
    rows = [msgspec.structs.asdict(call) | {"digest": call.digest.hex()} for call in calls]
    await db.run(
        """
        INSERT INTO agent_calls (run_id, number, org_id, step, said, name, arguments, effect, digest, status, result)
        SELECT :id, number, :org_id, step, said, name, arguments, effect, decode(digest, 'hex'), status, result
          FROM jsonb_to_recordset(:rows) AS c (number int, step int, said text, name text, arguments jsonb, effect text,
                                               digest text, status text, result text)
        """,
        id=id,
        org_id=org_id,
        rows=rows,
    )


async def begin_call(db: Transaction, org_id: UUID, id: UUID, number: int) -> bool:
    """Note that a call has begun whose end will be seen in another transaction, if at all; False when it has begun before."""
    return bool(
        await db.run(
            """
        UPDATE agent_calls SET status = 'running'
         WHERE org_id = :org_id AND run_id = :id AND number = :number AND status IN ('pending', 'approved')
        """,
            org_id=org_id,
            id=id,
            number=number,
        )
    )


async def end_call(db: Transaction, org_id: UUID, id: UUID, call: AgentCall) -> bool:
    """Keep what came of a call; False when that is known already."""
    return bool(
        await db.run(
            """
        UPDATE agent_calls SET status = :status, result = :result, artifact = :artifact
         WHERE org_id = :org_id AND run_id = :id AND number = :number AND status IN ('pending', 'approved', 'running')
        """,
            org_id=org_id,
            id=id,
            number=call.number,
            status=call.status,
            result=call.result,
            artifact=call.artifact,
        )
    )


async def give_up_calls(db: Transaction, org_id: UUID, id: UUID) -> None:
    """End what was asked for and not done when the run was stopped: it is not done any more."""
    await db.run(
        """
        UPDATE agent_calls SET status = CASE status WHEN 'running' THEN 'unknown' ELSE 'error' END,
               result = CASE status WHEN 'running' THEN 'the run was stopped during this call'
                                    ELSE 'the run was stopped before this call' END
         WHERE org_id = :org_id AND run_id = :id AND status IN ('pending', 'approved', 'running')
        """,
        org_id=org_id,
        id=id,
    )


async def decide_call(db: Transaction, org_id: UUID, id: UUID, number: int, status: CallStatus, result: str) -> None:
    """What the person decided about a call that waits."""
    await db.run(
        """
        UPDATE agent_calls SET status = :status, result = :result
         WHERE org_id = :org_id AND run_id = :id AND number = :number AND status = 'needs_approval'
        """,
        org_id=org_id,
        id=id,
        number=number,
        status=status,
        result=result,
    )


async def set_state(db: Transaction, org_id: UUID, id: UUID, state: RunState) -> None:
    await db.run(
        "UPDATE agent_runs SET state = :state WHERE org_id = :org_id AND id = :id", org_id=org_id, id=id, state=state
    )


async def set_taint(db: Transaction, org_id: UUID, id: UUID, taint: list[Taint]) -> None:
    await db.run(
        "UPDATE agent_runs SET taint = :taint WHERE org_id = :org_id AND id = :id",
        org_id=org_id,
        id=id,
        taint=msgspec.to_builtins(taint),
    )

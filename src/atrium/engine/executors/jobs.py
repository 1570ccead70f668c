"""The job kind `ai.turn`: one turn of a model, run here or by a worker that claims it."""

from typing import Any

import msgspec

from atrium.engine.executors.turns import (
    TURN_KIND,
    checked_reply,
    paid_for,
    place_turn,
    reserved_for,
    run_turn,
    spent_by,
)
from atrium.engine.inference.estimates import estimate_turn
from atrium.seams.context import Operation
from atrium.seams.jobs import Amounts, Assignment, JobKind
from atrium.seams.models import ModelRefused, ModelReply, Turn


async def _run(op: Operation, job: Assignment) -> ModelReply:
    reply = await run_turn(op, job.model, job.arguments)
    # PostgreSQL stores no NUL in text; dropping it loses nothing.
    return msgspec.structs.replace(reply, text=reply.text.replace("\0", ""), thinking=reply.thinking.replace("\0", ""))


def _problem_with(result: Any) -> str | None:
    try:
        reply = msgspec.convert(result, ModelReply)
        for call in reply.calls:
            msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.ValidationError as error:
        return str(error)
    except msgspec.DecodeError as error:
        return f"the arguments of a call are not a JSON object: {error}"
    return None


def _problem_between(turn: Turn, result: Any) -> str | None:
    try:
        checked_reply(turn, msgspec.convert(result, ModelReply))
    except ModelRefused as refusal:
        return refusal.message
    return None


def _reserves(turn: Turn) -> Amounts:
    return reserved_for(turn, estimate_turn(turn))


def _used(turn: Turn, result: Any) -> Amounts:
    return paid_for(msgspec.convert(result, ModelReply).usage)


KINDS = (
    JobKind(
        name=TURN_KIND,
        description="One turn of a model, on the machine that was chosen for it.",
        arguments=Turn,
        run=_run,
        problem_with=_problem_with,
        problem_between=_problem_between,
        place=place_turn,
        reserves=_reserves,
        used=_used,
        spent=spent_by,
        lease=60,
    ),
)

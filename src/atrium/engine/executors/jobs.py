"""The job kind `ai.turn`: one turn of a model, here or at whoever claims it."""

from typing import Any

import msgspec

from atrium.engine.executors.estimating import estimate_turn
from atrium.engine.executors.turns import TURN_KIND, checked_reply, place_turn, run_turn
from atrium.seams.context import Operation
from atrium.seams.jobs import Amounts, Assignment, JobKind
from atrium.seams.models import ModelFailure, ModelRefused, Reply, Turn

# An estimate without the model's own tokenizer may be short.
_MARGIN = 1.25


async def _run(op: Operation, job: Assignment) -> Reply:
    reply = await run_turn(op, job.model, job.arguments, job.cancel)
    # PostgreSQL keeps no NUL in a text, and nobody misses one.
    return msgspec.structs.replace(reply, text=reply.text.replace("\0", ""), thinking=reply.thinking.replace("\0", ""))


def _problem_with(result: Any) -> str | None:
    try:
        reply = msgspec.convert(result, Reply)
        for call in reply.calls:
            msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.ValidationError as error:
        return str(error)
    except msgspec.DecodeError as error:
        return f"the arguments of a call are not a JSON object: {error}"
    return None


def _problem_between(turn: Turn, result: Any) -> str | None:
    try:
        checked_reply(turn, msgspec.convert(result, Reply))
    except ModelRefused as refusal:
        return refusal.message
    return None


def _reserves(turn: Turn) -> Amounts:
    tokens = int(estimate_turn(turn) * _MARGIN) + turn.max_tokens
    return {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1}


def _used(turn: Turn, result: Any) -> Amounts:
    return {"ai.requests": 1, "ai.tokens.total": msgspec.convert(result, Reply).usage.total}


def _spent(error: Exception) -> Amounts | None:
    """A turn that never reached a model costs nothing; one that broke off costs what it had said."""
    if not isinstance(error, ModelFailure):
        return {}
    return {"ai.requests": 1, "ai.tokens.total": error.usage.total} if error.usage.total else {}


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
        spent=_spent,
        lease=60,
    ),
)

"""The verbs of AI: admit, run, settle."""

from atrium.engine.ai.model import Echo, Spent
from atrium.engine.executors import turns
from atrium.engine.executors.model import WrongExecutor
from atrium.ground.access import service as access
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Operation
from atrium.seams.models import ModelReply, Turn

# A reservation outlives the longest turn, so that none is freed while its model still talks.
_LEASE = turns.LONGEST_TURN + 30


async def echo(op: Operation, text: str) -> Echo:
    """Say it back, metered like a model's turn: one request, and a token for every word in and out."""
    tokens = 2 * len(text.split())
    admission = await quotas.admit(op, {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1})
    await quotas.settle(op, admission, {"ai.requests": 1, "ai.tokens.total": tokens})
    return Echo(text, Spent(1, tokens))


async def run_turn(op: Operation, turn: Turn) -> ModelReply:
    """One turn on the executor that the caller's team uses, reserved before and paid after, however it ends."""
    access.require(op, "chat:use")
    async with op.begin() as ctx:
        place = await turns.place_turn(ctx, None)
    if place.worker is not None:
        raise WrongExecutor(f"{place.model} asks for work itself; queue a job of kind {turns.TURN_KIND} for it")
    most = turns.reserved_for(turn)
    admission = await quotas.admit(op, most, lease=_LEASE)
    try:
        reply = await turns.run_turn(op, place.model, turn)
    except BaseException as error:
        spent = turns.spent_by(error)
        if spent is None:
            # Cut off from outside: how much the model had said is unknown.
            spent = {dimension: amount for dimension, amount in most.items() if dimension != "ai.concurrency"}
        await quotas.settle(op, admission, spent)
        raise
    await quotas.settle(op, admission, turns.paid_for(reply.usage))
    return reply

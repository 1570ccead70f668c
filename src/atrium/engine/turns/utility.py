"""Turns that are asked and paid and not kept: translation and other work of a model behind the scenes."""

from collections.abc import Callable

import msgspec

from atrium.engine.executors import turns
from atrium.engine.executors.model import LOCAL
from atrium.engine.inference.estimates import SHORT, Estimator, length_of
from atrium.engine.jobs import child_jobs as job_parts
from atrium.engine.turns.service import SHORT_LEASE
from atrium.ground.access import service as access
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from atrium.seams.context import Operation
from atrium.seams.models import ModelReply, Turn

# A reservation outlives the longest turn, so that none is freed while its model still talks.
LEASE = turns.LONGEST_TURN + 30


class UtilityModel(msgspec.Struct, frozen=True):
    """The model that a team uses for translation and other work behind the scenes, ready to be asked."""

    executor: str
    opened: turns.OpenedModel
    # Whether a worker asks for its turns itself.
    pulled: bool = False

    @property
    def simulated(self) -> bool:
        """Whether no model is configured."""
        return self.opened.simulated


async def run_turn(op: Operation, turn: Turn) -> ModelReply:
    """One turn on the executor that the caller's team uses, reserved before and paid after, however it ends."""
    return await run_turn_on(op, await open_utility(op), turn)


async def open_utility(op: Operation) -> UtilityModel:
    """The model of the role `utility` for the caller's team."""
    access.require(op, "chat:use")
    async with op.begin() as ctx:
        place = await turns.place_turn(ctx, None)
    executor, pulled = place.model or LOCAL, place.worker is not None
    return UtilityModel(executor, await turns.open_model(op, executor, new_id() if pulled else None), pulled)


async def run_turn_on(
    op: Operation,
    model: UtilityModel,
    turn: Turn,
    *,
    seconds: float = turns.LONGEST_TURN,
    simulation: Callable[[], str] | None = None,
) -> ModelReply:
    """One turn of an opened model, reserved before and paid after, however it ends; `simulation` is what a simulated one says."""
    # A job of a pull executor is part of one turn alone.
    whole = new_id() if model.pulled else None
    opened = model.opened if whole is None else await turns.open_model(op, model.executor, whole)
    most, _ = await estimate_costs(op, turn)
    admission = await quotas.admit(op, most, lease=LEASE)
    try:
        if model.simulated and simulation is not None:
            reply = await _simulated(op, turn, simulation)
        else:
            reply = await turns.ask(op, opened.port, turn, seconds)
    except BaseException as error:
        spent = turns.spent_by(error)
        if spent is None:
            # Cut off from outside: how much the model had said is unknown.
            spent = {dimension: amount for dimension, amount in most.items() if dimension != "ai.concurrency"}
        await quotas.settle(op, admission, spent)
        raise
    finally:
        if whole is not None:
            async with op.begin(held=False) as ctx:
                await job_parts.end(ctx, whole)
    await quotas.settle(op, admission, turns.paid_for(reply.usage))
    return reply


async def _simulated(op: Operation, turn: Turn, simulation: Callable[[], str]) -> ModelReply:
    said = await op.services.threads.run(op.who.org_id, simulation)
    return ModelReply(said, "stop", await Estimator.of(op).reply(turn, said))


async def estimate_costs(op: Operation, turn: Turn) -> tuple[dict[str, int], int]:
    """The most a turn may cost, and what its question alone is estimated to cost."""
    if length_of(turn) > SHORT:
        # What is refused however little the question costs is refused before it is read.
        await quotas.settle(op, await quotas.admit(op, turns.reserved_for(turn, 0), lease=SHORT_LEASE), {})
    prompt = await Estimator.of(op).turn(turn)
    return turns.reserved_for(turn, prompt), prompt

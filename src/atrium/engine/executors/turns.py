"""One turn of a model: which machine it goes to, and the turn itself on those that this server calls."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from atrium.engine.executors import store
from atrium.engine.executors.estimating import estimate_reply
from atrium.engine.executors.model import LOCAL, Door, ExecutorMissing, Serving, WrongExecutor
from atrium.engine.executors.simulated import SimulatedModel
from atrium.engine.executors.wire import OpenAIWire
from atrium.ground.access import service as access
from atrium.kit.replies import ReplyRefused, judge_json
from atrium.kit.settings import PushExecutor
from atrium.seams.context import Context, Operation, Services
from atrium.seams.jobs import Place
from atrium.seams.models import (
    Event,
    ModelPort,
    ModelRefused,
    ModelUnavailable,
    Reply,
    Text,
    Thinking,
    Turn,
    complete,
)

TURN_KIND = "ai.turn"
# However long a model may be silent or talk, a turn is over after this.
LONGEST_TURN = 900


class _Overheard:
    """A port that remembers what was said, so that a turn nobody waits for any more still has its price."""

    def __init__(self, port: ModelPort) -> None:
        self._port = port
        self.said: list[str] = []

    async def stream(self, turn: Turn) -> AsyncGenerator[Event, None]:
        async with aclosing(self._port.stream(turn)) as events:
            async for event in events:
                if isinstance(event, Text | Thinking):
                    self.said.append(event.text)
                yield event


async def place_turn(ctx: Context, name: str | None) -> Place:
    """Where a turn goes: to the machine that was named, the one the team chose, the instance's default, or this server."""
    usual = await _usual_name(ctx)
    wanted = name or usual
    if wanted.lower() == LOCAL:
        _require_choice(ctx, wanted, usual)
        return Place(LOCAL)
    found, configured = await store.find_serving(ctx.db, wanted), ctx.services.settings.push_executors.find(wanted)
    if configured is not None and not (found and found.own):
        _require_choice(ctx, wanted, usual)
        return Place(configured.name)
    if found is None:
        raise ExecutorMissing(f"there is no executor {wanted} for your company", name=wanted)
    if not found.own:
        _require_choice(ctx, wanted, usual)
    if found.capabilities and TURN_KIND not in found.capabilities:
        raise WrongExecutor(f"{found.name} does not run {TURN_KIND}", name=found.name)
    return Place(found.name, _worker_of(found))


async def run_turn(op: Operation, name: str | None, turn: Turn, cancel: asyncio.Event) -> Reply:
    """The reply of a machine that this server calls; hangs up when it is no longer wanted."""
    port = _Overheard(await open_port(op, name or LOCAL))
    running, cancelled = asyncio.ensure_future(complete(port, turn)), asyncio.ensure_future(cancel.wait())
    try:
        await asyncio.wait({running, cancelled}, timeout=LONGEST_TURN, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return checked_reply(turn, running.result())
        reason = "cancelled" if cancel.is_set() else f"the model took more than {LONGEST_TURN} seconds"
        raise ModelUnavailable(reason, estimate_reply(turn, "".join(port.said)))
    finally:
        running.cancel()
        cancelled.cancel()
        await asyncio.gather(running, cancelled, return_exceptions=True)


async def open_port(op: Operation, name: str) -> ModelPort:
    """The model of this server, or of a push executor that serves the caller's company; its own comes before one of the settings."""
    settings, outbound = op.services.settings, op.services.outbound
    if name.lower() == LOCAL:
        if not settings.local_model_url:
            return SimulatedModel()
        return OpenAIWire(
            outbound.anywhere, LOCAL, settings.local_model_url, settings.local_model_key or None, settings.local_model
        )
    async with op.begin_system() as ctx:
        door = await store.find_door(ctx.db, op.who.org_id, name)
    configured = settings.push_executors.find(name)
    if configured is not None and not (door and door.own):
        return configured_port(op.services, configured)
    if door is None:
        raise ExecutorMissing(f"{name} is no longer in service for your company", name=name)
    if door.url is None:
        raise WrongExecutor(f"{name} is not called, it asks for work", name=name)
    return OpenAIWire(outbound.public, door.name, door.url, key_of(op.services, door), door.model)


def configured_port(services: Services, one: PushExecutor) -> OpenAIWire:
    """A machine out of the operator's own settings, which may be anywhere."""
    return OpenAIWire(services.outbound.anywhere, one.name, one.url, one.key or None, one.model or None)


def place_of(id: UUID) -> str:
    """What binds a sealed key to its executor."""
    return f"executors|{id}|key"


def key_of(services: Services, door: Door) -> str | None:
    """The opened key of a push executor; None when it has none."""
    return services.keys.open(door.key_sealed, place_of(door.id)).decode() if door.key_sealed else None


async def _usual_name(ctx: Context) -> str:
    chosen = await store.list_roles(ctx.db, ctx.who.org_id, ctx.who.team_id)
    return chosen.get("utility") or ctx.services.settings.utility_executor or LOCAL


def _require_choice(ctx: Context, wanted: str, usual: str) -> None:
    """Everybody's machines are chosen by whoever runs the instance, or by the team for its role."""
    if wanted.lower() != usual.lower():
        access.require(ctx, "instance:manage")


def _worker_of(found: Serving) -> UUID | None:
    return found.id if found.mode == "pull" else None


def checked_reply(turn: Turn, reply: Reply) -> Reply:
    """The reply, unless JSON was wanted and is not what came; servers drop a format they do not know without a word."""
    wanted = turn.response_format
    if wanted is None or wanted.type == "text" or reply.calls:
        return reply
    try:
        found = judge_json(reply.text, wanted.compiled())
    except ReplyRefused as error:
        cut = " (it was cut off)" if reply.finish == "length" else ""
        raise ModelRefused(f"the model's reply is not what was asked for{cut}: {error}", reply.usage) from error
    if wanted.type == "json_object" and not isinstance(found, dict):
        raise ModelRefused("the model's reply is not a JSON object", reply.usage)
    return reply

"""One turn of a model: which machine it goes to, and the turn itself on those that this server calls."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

import msgspec

from atrium.engine.executors import store
from atrium.engine.executors.model import (
    LOCAL,
    SIMULATED,
    ExecutorChoice,
    ExecutorMissing,
    PushEndpoint,
    WrongExecutor,
)
from atrium.engine.executors.pulled import WorkerPort
from atrium.engine.inference.estimates import SHORT, Estimator
from atrium.engine.inference.simulated import SimulatedModel
from atrium.engine.inference.traced import TracedPort
from atrium.engine.inference.wire import Machine, OpenAIWire
from atrium.ground.access import service as access
from atrium.kit.ids import NIL
from atrium.kit.schemas.parse import ReplyRefused, judge_json
from atrium.kit.telemetry import trace_context
from atrium.kit.work.compute import heavy
from atrium.seams.context import Context, Operation, Services
from atrium.seams.jobs import Amounts, JobPlacement
from atrium.seams.models import (
    ModelEvent,
    ModelFailure,
    ModelPort,
    ModelReply,
    ModelUnavailable,
    ReplyUnfit,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    Turn,
    complete,
)
from atrium.seams.setting_values import PushExecutor

TURN_KIND = "ai.turn"
# The capability of a machine that tells its tokens with every piece when asked to.
USAGE_PIECES = "usage.pieces"
# However long a model may be silent or talk, a turn is over after this.
LONGEST_TURN = 900
# An estimate without the model's own tokenizer may be short.
_MARGIN = 1.25


class _RecordingPort:
    """A port that records what was sent and received, so that an abandoned turn is still billed."""

    def __init__(self, port: ModelPort) -> None:
        self._port = port
        self.said: list[str] = []

    async def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        async with aclosing(self._port.stream(turn)) as arriving:
            async for events in arriving:
                self.said += [event.text for event in events if isinstance(event, TextPiece | ThinkingPiece)]
                yield events


class OpenedModel(msgspec.Struct, frozen=True):
    """A model ready to be asked; `model` is its name where that is known."""

    port: ModelPort
    model: str | None
    simulated: bool = False
    # Of a pull executor: what its job is part of, to be ended with the turn.
    whole: UUID | None = None


async def place_turn(ctx: Context, name: str | None) -> JobPlacement:
    """Where a turn goes: to the machine that was named, the one the team chose, the instance's default, or this server."""
    return await _place(ctx, name, await _usual_name(ctx))


async def place_chat(ctx: Context, name: str | None) -> JobPlacement:
    """Where a turn of a chat goes: to the machine that was named, the instance's choice for chats, or this server."""
    return await _place(ctx, name, ctx.services.settings.chat_executor or LOCAL)


async def _place(ctx: Context, name: str | None, usual: str) -> JobPlacement:
    wanted = name or usual
    if wanted.lower() == LOCAL:
        _require_choice(ctx, wanted, usual)
        return JobPlacement(LOCAL)
    found, configured = await store.find_choice(ctx.db, wanted), ctx.services.settings.push_executors.find(wanted)
    if configured is not None and not (found and found.own):
        _require_choice(ctx, wanted, usual)
        return JobPlacement(configured.name)
    if found is None:
        raise ExecutorMissing(f"there is no executor {wanted} for your company", name=wanted)
    if not found.own:
        _require_choice(ctx, wanted, usual)
    kinds = [capability for capability in found.capabilities if capability != USAGE_PIECES]
    if kinds and TURN_KIND not in kinds:
        raise WrongExecutor(f"{found.name} does not run {TURN_KIND}", name=found.name)
    return JobPlacement(found.name, _worker_of(found))


async def run_turn(op: Operation, name: str | None, turn: Turn, seconds: float = LONGEST_TURN) -> ModelReply:
    """The reply of a machine that this server calls; one that takes too long is hung up on, and pays what was said."""
    return await ask(op, (await open_model(op, name or LOCAL)).port, turn, seconds)


async def ask(op: Operation, opened: ModelPort, turn: Turn, seconds: float = LONGEST_TURN) -> ModelReply:
    """The reply of an opened model; one that takes too long is hung up on, and pays what was said."""
    port = _RecordingPort(opened)
    try:
        async with asyncio.timeout(seconds):
            reply = await complete(port, turn)
    except TimeoutError as error:
        reason = f"the model took more than {seconds:g} seconds"
        spent = await Estimator.of(op).reply(turn, "".join(port.said))
        raise ModelUnavailable(reason, spent) from error
    return await op.services.compute.run(op.who.org_id, len(reply.text), checked_reply, turn, reply, small=SHORT)


def reserved_for(turn: Turn, prompt: int) -> Amounts:
    """The most a turn may cost, counted before it runs; `prompt` is what its question was estimated to cost."""
    tokens = int(prompt * _MARGIN) + turn.max_tokens
    return {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1}


def paid_for(usage: TokenUsage) -> Amounts:
    """What a turn cost that came to its end."""
    return {"ai.requests": 1, "ai.tokens.total": usage.total}


def spent_by(error: BaseException) -> Amounts | None:
    """What a failed turn cost: nothing when it never reached a model, otherwise what it had said; None when that is unknown."""
    if isinstance(error, ModelFailure):
        return paid_for(error.usage) if error.usage.total else {}
    return {} if isinstance(error, Exception) else None


async def open_model(op: Operation, name: str, whole: UUID | None = None) -> OpenedModel:
    """The model of this server, or of an executor that serves the caller's company; its own comes before one of the settings.

    A pull executor is asked by a job, which is part of `whole`.
    """
    opened = await _open_model(op, name, whole)
    if trace_context.recorded_span() is None:
        return opened
    return msgspec.structs.replace(opened, port=TracedPort(opened.port, name, opened.model))


async def _open_model(op: Operation, name: str, whole: UUID | None) -> OpenedModel:
    settings = op.services.settings
    if name.lower() == LOCAL:
        if not settings.local_model_url:
            return OpenedModel(
                SimulatedModel(op.services.threads, op.services.compute, op.who.org_id), SIMULATED, simulated=True
            )
        return OpenedModel(local_port(op.services, op.who.org_id), settings.local_model or None)
    async with op.begin_system() as ctx:
        endpoint = await store.find_endpoint(ctx.db, op.who.org_id, name)
    configured = settings.push_executors.find(name)
    if configured is not None and not (endpoint and endpoint.own):
        return OpenedModel(configured_port(op.services, configured, op.who.org_id), configured.model or None)
    if endpoint is None:
        raise ExecutorMissing(f"{name} is no longer in service for your company", name=name)
    if endpoint.url is None and whole is not None:
        place = JobPlacement(endpoint.name, endpoint.id)
        return OpenedModel(WorkerPort(op, TURN_KIND, place, whole), endpoint.model, whole=whole)
    if endpoint.url is None:
        raise WrongExecutor(f"{name} is a pull executor; it has no URL to call", name=name)
    return OpenedModel(endpoint_port(op.services, endpoint, endpoint.url, op.who.org_id), endpoint.model)


def local_port(services: Services, org_id: UUID = NIL) -> OpenAIWire:
    """This server's own model, which may be anywhere."""
    settings = services.settings
    machine = Machine(
        LOCAL,
        settings.local_model_url,
        settings.local_model_key or None,
        settings.local_model or None,
        settings.local_model_usage_pieces,
    )
    return OpenAIWire(services.outbound.anywhere, machine, Estimator(services.compute, org_id))


def endpoint_port(services: Services, endpoint: PushEndpoint, url: str, org_id: UUID = NIL) -> OpenAIWire:
    """A push executor, which has to be on the public internet or on a trusted host."""
    tells = USAGE_PIECES in endpoint.capabilities
    machine = Machine(endpoint.name, url, key_of(services, endpoint), endpoint.model, tells)
    return OpenAIWire(services.outbound.public, machine, Estimator(services.compute, org_id))


def configured_port(services: Services, one: PushExecutor, org_id: UUID = NIL) -> OpenAIWire:
    """A machine out of the operator's own settings, which may be anywhere."""
    machine = Machine(one.name, one.url, one.key or None, one.model or None, USAGE_PIECES in one.capabilities)
    return OpenAIWire(services.outbound.anywhere, machine, Estimator(services.compute, org_id))


def key_binding(id: UUID) -> str:
    """What binds a sealed key to its executor."""
    return f"executors|{id}|key"


def key_of(services: Services, endpoint: PushEndpoint) -> str | None:
    """The opened key of a push executor; None when it has none."""
    return services.keys.open(endpoint.key_sealed, key_binding(endpoint.id)).decode() if endpoint.key_sealed else None


async def list_chosen(ctx: Context) -> dict[str, str]:
    """The executors that the caller's team chose for roles, without those that have left service."""
    chosen = await store.list_roles(ctx.db, ctx.who.org_id, ctx.who.team_id)
    return {role: name for role, name in chosen.items() if await _is_in_service(ctx, name)}


async def default_name(ctx: Context) -> str:
    """The executor of teams that chose none: the instance's, or this server where that has left service."""
    name = ctx.services.settings.utility_executor
    return name if name and await _is_in_service(ctx, name) else LOCAL


async def _is_in_service(ctx: Context, name: str) -> bool:
    if name.lower() == LOCAL or ctx.services.settings.push_executors.find(name) is not None:
        return True
    return await store.find_choice(ctx.db, name) is not None


async def _usual_name(ctx: Context) -> str:
    return (await list_chosen(ctx)).get("utility") or await default_name(ctx)


def _require_choice(ctx: Context, wanted: str, usual: str) -> None:
    """Shared executors are chosen by the operator, or by the team for its role."""
    if wanted.lower() != usual.lower():
        access.require(ctx, "instance:manage")


def _worker_of(found: ExecutorChoice) -> UUID | None:
    return found.id if found.mode == "pull" else None


@heavy
def checked_reply(turn: Turn, reply: ModelReply) -> ModelReply:
    """The reply, unless JSON was wanted and is not what came; servers drop a format they do not know without a word."""
    wanted = turn.response_format
    # A call of a tool that was not offered is no answer, and what is said beside it is judged like any other.
    if wanted is None or wanted.type == "text" or (reply.calls and turn.tools):
        return reply
    try:
        found = judge_json(reply.text, wanted.compiled())
    except ReplyRefused as error:
        cut = " (it was cut off)" if reply.finish == "length" else ""
        problem = f"the model's reply is not what was asked for{cut}: {error}"
        raise ReplyUnfit(problem, reply.usage, reply.text) from error
    if wanted.type == "json_object" and not isinstance(found, dict):
        raise ReplyUnfit("the model's reply is not a JSON object", reply.usage, reply.text)
    return reply

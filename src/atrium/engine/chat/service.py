"""The verbs of the chat: one question, told as it is said or whole."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.chat import conversations, message_parts
from atrium.engine.chat.chat_turn import ChatTurn
from atrium.engine.chat.model import ChatMessage, ChatModel, ChatReply, Echo, OpenTurn, Question, Spent
from atrium.engine.executors import service as executors
from atrium.engine.executors.model import LOCAL
from atrium.engine.executors.turns import open_model, place_chat
from atrium.engine.turns import replay
from atrium.engine.turns import service as turns
from atrium.engine.turns.model import FormatRefused, NewTurn, ShownUsage, StoredTurn, TurnEnd, TurnFailed
from atrium.engine.turns.service import TurnDraft
from atrium.engine.turns.transcripts import reply_in
from atrium.engine.turns.utility import LEASE, estimate_costs
from atrium.ground.access import service as access
from atrium.ground.quotas import service as quotas
from atrium.kit.errors import Invalid
from atrium.kit.ids import new_id
from atrium.kit.web.sse import sse_frame
from atrium.kit.work.shares import Permit
from atrium.seams.context import Context, Operation
from atrium.seams.models import Message, Turn

MOST_MESSAGES = 998
# Which of several open turns is shown.
_OPEN = ("running", "waiting", "interrupted")


async def echo(op: Operation, text: str) -> Echo:
    """Say it back, metered like a model's turn: one request, and a token for every word in and out."""
    tokens = 2 * len(text.split())
    admission = await quotas.admit(op, {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1})
    await quotas.settle(op, admission, {"ai.requests": 1, "ai.tokens.total": tokens})
    return Echo(text, Spent(1, tokens))


async def chat(op: Operation, question: Question, key: str | None) -> ChatReply:
    """One turn, whole. One that was asked with a key goes on when the caller is cut off, and the same request gets its answer later."""
    # It has no reader of its events: what happens when the caller leaves is decided below.
    begun = await _begin(op, msgspec.structs.replace(question, on_disconnect="finish"), key)
    if isinstance(begun, ChatTurn):
        turn, ending = await turns.until_ended(op, begun, stop=key is None)
        text, thinking = begun.transcript.said(), begun.transcript.said(thinking=True)
    else:
        turn, ending = await replay.wait_for_end(op, begun.id)
        pieces = await replay.read_pieces(op, begun.id)
        text, thinking = reply_in(pieces), reply_in(pieces, thinking=True)
    return _reply(turn, ending, text, thinking)


async def stream(op: Operation, question: Question, key: str | None) -> AsyncGenerator[bytes, None]:
    """The events of a turn; the same key and question join the turn that runs already."""
    begun = await _begin(op, question, key)
    if isinstance(begun, ChatTurn):
        return begun.transcript.follow(-1, sse_frame(f"{begun.new.id}.0", "start", begun.new.started()))
    return turns.replay_events(op, begun, -1)


async def read_model(op: Operation, conversation_id: UUID | None = None) -> ChatModel:
    """What a chat would use now, and which turn of the caller's is open in this conversation."""
    found = await executors.find_chat_executor(op)
    simulated = found.name == LOCAL and not op.services.settings.local_model_url
    turn = None if conversation_id is None else await _find_open(op, conversation_id)
    return ChatModel(found.name, found.mode, found.model, simulated, found.healthy, found.last_seen_at, turn)


async def _find_open(op: Operation, conversation_id: UUID) -> OpenTurn | None:
    """The caller's turn that runs in a conversation, else the one that waits there, else one that broke off."""
    access.require(op, "chat:use")
    async with op.begin(held=False) as ctx:
        offered = [await kind.offers(ctx, conversation_id) for kind in reversed(op.services.registry.turn_kinds)]
    found: list[OpenTurn] = [one for one in offered if one is not None]
    return min(found, key=lambda one: _OPEN.index(one.state), default=None)


async def _begin(op: Operation, question: Question, key: str | None) -> ChatTurn | StoredTurn:
    """A new turn under way, or the one that was begun with this key."""
    begin = partial(_begin_new, op, question, key)
    return await turns.begin_or_join(op, key, (msgspec.json.encode(question),), begin)


async def _begin_new(
    op: Operation, question: Question, key: str | None, digest: bytes | None, permit: Permit
) -> ChatTurn | StoredTurn:
    executor, conversation_id, earlier = LOCAL, conversation_id_of(question.conversation), list[ChatMessage]()
    if question.executor or op.services.settings.chat_executor or conversation_id:
        async with op.begin() as ctx:
            place = await place_chat(ctx, question.executor)
            executor = place.model or LOCAL
            if conversation_id is not None:
                earlier, _ = await conversations.read(ctx, conversation_id)
    turn, id = await _turn_of(op, question, earlier), new_id()
    model = await open_model(op, executor, id)
    most, prompt = await estimate_costs(op, turn)
    draft = TurnDraft(
        id=id,
        executor=executor,
        model=model,
        prompt_tokens=prompt,
        reserves=(most,),
        lease=LEASE,
        key=key,
        request=digest,
        conversation_id=conversation_id,
        begin_conversation=new_conversation_of(question),
    )
    begun = await turns.begin_turn(op, draft)
    if isinstance(begun, StoredTurn):
        return begun
    running = ChatTurn(op, begun.turn, turn, model, begun.admissions[0])
    if begun.turn.conversation_id is not None:
        running.also = partial(_remember, begun.turn.conversation_id, question, datetime.now(UTC), id)
    if question.on_disconnect == "stop":
        running.stop_unless_read()
    running.start(permit)
    return running


def new_conversation_of(question: Question) -> Callable[[Context], Awaitable[UUID]] | None:
    """Makes the conversation that a question is the first of; None for any other question."""
    if question.conversation != "new":
        return None
    return lambda ctx: conversations.begin(ctx, question.prompt)


async def _remember(
    conversation_id: UUID,
    question: Question,
    asked: datetime,
    turn_id: UUID,
    ctx: Context,
    text: str,
    usage: ShownUsage,
) -> None:
    said = conversations.exchange(question.prompt, asked, turn_id, text, usage)
    await conversations.add(ctx, conversation_id, said)


async def _turn_of(op: Operation, question: Question, earlier: list[ChatMessage]) -> Turn:
    return Turn(
        messages=await messages_of(op, question, earlier),
        max_tokens=question.max_tokens,
        response_format=question.response_format,
    )


async def messages_of(op: Operation, question: Question, earlier: list[ChatMessage]) -> list[Message]:
    """What is said to the model: what the conversation holds, what came along, and the question."""
    earlier = earlier[len(question.messages) + 1 - MOST_MESSAGES :]
    said = [*earlier, *question.messages, ChatMessage("user", question.prompt)]
    return await message_parts.messages_of(op, said, len(earlier))


def conversation_id_of(asked: str | None) -> UUID | None:
    """The conversation that is named; None for a new one and for none."""
    if asked is None or asked == "new":
        return None
    try:
        return msgspec.convert(asked, UUID)
    except msgspec.ValidationError as error:
        message = "`new`, or the id of a conversation"
        raise Invalid(f"conversation: {message}", errors=[{"path": "conversation", "message": message}]) from error


def _reply(turn: StoredTurn | NewTurn, ending: TurnEnd, text: str, thinking: str) -> ChatReply:
    if ending.code:
        raise TurnFailed(ending, turns.kind_of(ending), text)
    fault = ending.schema_error
    if fault is not None:
        message = f"the model's reply is not what was asked for: {fault.message}"
        raise FormatRefused(message, text=text, errors=[fault], usage=ending.usage)
    more: dict[str, Any] = {} if ending.parsed is msgspec.UNSET else {"parsed": ending.parsed}
    return ChatReply(
        id=turn.id,
        text=text,
        finish=ending.finish or "stop",
        usage=ending.usage,
        executor=turn.executor,
        model=turn.model,
        simulated=turn.simulated,
        thinking=thinking,
        conversation=turn.conversation_id,
        **more,
    )

"""The OpenAI-compatible wire: one model behind a URL."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from atrium.engine.inference.estimates import Estimator
from atrium.kit.web.addresses import NotPublic
from atrium.kit.web.outbound import Answer, CallFailed, Client, NotConnected
from atrium.seams.models import (
    Call,
    Done,
    Finish,
    ModelEvent,
    ModelFailure,
    ModelRefused,
    ModelUnavailable,
    TextPiece,
    ThinkingPiece,
    TokenUsage,
    Turn,
    UsageSoFar,
)

# Before anything was said a turn may be asked for again; these are the pauses in between.
PAUSES = (0.2, 1.0)
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
AT_ONCE_AGAIN = frozenset({429, 502, 503, 504})
PROBE_SECONDS = 5.0
LONGEST_LINE = 1 << 20
LONGEST_REPLY = 1 << 22
LONGEST_DETAIL = 300


class _CalledFunction(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _CalledFunction = msgspec.field(default_factory=_CalledFunction)

    @property
    def begins(self) -> bool:
        """Whether it can be the first piece of a call."""
        return bool(self.id or self.function.name)


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None
    timings: Any = None


_decode = msgspec.json.Decoder(_Chunk).decode


class Machine(msgspec.Struct, frozen=True):
    """Where a model is; `name` is what failures call it. One that `tells_usage` reports its tokens with every piece when asked to."""

    name: str
    url: str
    key: str | None = None
    model: str | None = None
    tells_usage: bool = False


class OpenAIWire:
    """A model behind an OpenAI-compatible URL."""

    def __init__(self, client: Client, machine: Machine, estimator: Estimator) -> None:
        url = machine.url
        self._estimator = estimator
        self._client, self._name, self._key, self._model = client, machine.name, machine.key, machine.model
        self._tells_usage = machine.tells_usage
        self._url, self._models_url = f"{_base_of(url)}/chat/completions", f"{_base_of(url)}/models"

    async def is_up(self) -> bool:
        """Whether it answers and takes our key; one that has no list of its models counts as answering."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                answer = await self._client.send("GET", self._models_url, self._credentials())
        except (NotPublic, CallFailed, TimeoutError):
            return False
        answer.close()
        return answer.status in (200, 404, 405)

    async def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        """What the model says as it says it; closing the stream hangs up, which stops the model."""
        said = _Said(turn, self._estimator)
        answer = await self._ask(turn)
        try:
            async for events in _arriving(answer, said):
                yield events
            last = said.ending()
        except CallFailed as error:
            raise ModelUnavailable(f"{self._name} broke off: {error}", await said.usage()) from error
        except ModelFailure as failure:
            failure.usage = await said.usage()
            raise
        finally:
            answer.close()
        yield [*last, Done(said.finish, await said.usage())]

    async def _ask(self, turn: Turn) -> Answer:
        """The beginning of an answer; asked for again only while nothing of one has come."""
        for pause in PAUSES:
            try:
                return await self._ask_once(turn)
            except _Again as again:
                await asyncio.sleep(pause if again.after is None else again.after)
        try:
            return await self._ask_once(turn)
        except _Again as again:
            raise again.failure from again

    async def _ask_once(self, turn: Turn) -> Answer:
        content = msgspec.json.encode(self._body(turn))
        headers = {**self._credentials(), "content-type": "application/json", "accept": "text/event-stream"}
        try:
            answer = await self._client.send("POST", self._url, headers, content)
        except NotPublic as error:
            raise ModelRefused(f"{self._name} may not be called: {error}") from error
        except NotConnected as error:
            raise _Again(ModelUnavailable(f"{self._name} cannot be reached")) from error
        except CallFailed as error:
            raise ModelUnavailable(f"{self._name} did not answer: {error}") from error
        if answer.status != 200:
            raise await self._refusal(answer)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            answer.close()
            raise ModelRefused(f"{self._name} does not stream its answers")
        return answer

    def _body(self, turn: Turn) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": turn.messages,
            "max_tokens": turn.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self._tells_usage:
            # vLLM and SGLang know the first, llama.cpp the second; each ignores the other's.
            body["stream_options"]["continuous_usage_stats"] = True
            body["timings_per_token"] = True
        if model := turn.model or self._model:
            body["model"] = model
        if turn.tools:
            body["tools"] = turn.tools
        if turn.response_format and turn.response_format.type != "text":
            body["response_format"] = turn.response_format
        return body

    def _credentials(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._key}"} if self._key else {}

    async def _refusal(self, answer: Answer) -> Exception:
        status, detail = answer.status, await self._detail(answer)
        message = f"{self._name} answered {status}: {detail}"
        # llama.cpp says of a picture that its model cannot see: 500, "image input is not supported".
        if status not in PASSING or (status == 500 and "not supported" in detail):
            return ModelRefused(message)
        failure = ModelUnavailable(message)
        return _Again(failure, _seconds(answer)) if status in AT_ONCE_AGAIN else failure

    async def _detail(self, answer: Answer) -> str:
        """What the other side says about it, cut short, without our key should it repeat that."""
        raw = b""
        try:
            while len(raw) <= LONGEST_LINE and (piece := await answer.read()):
                raw += piece
        except CallFailed:
            pass
        finally:
            answer.close()
        text = _message_in(raw)
        return (text.replace(self._key, "…") if self._key else text)[:LONGEST_DETAIL]


class _Again(Exception):
    """Nothing was said yet and it may work in a moment."""

    def __init__(self, failure: ModelFailure, after: float | None = None) -> None:
        super().__init__(failure.message)
        self.failure, self.after = failure, after


class _Said:
    """What a stream has said so far, and what that adds up to."""

    def __init__(self, turn: Turn, estimator: Estimator) -> None:
        self._turn, self._estimator = turn, estimator
        self._calls: dict[int, _CallPiece] = {}
        self._reported: TokenUsage | None = None
        self._finish: str | None = None
        self._text: list[str] = []
        self._length = 0
        self.closed = False

    async def usage(self) -> TokenUsage:
        """As reported, in whichever chunk; otherwise estimated, beside the event loop because it may be megabytes."""
        if self._reported is not None:
            return self._reported
        arguments = [piece.function.arguments or "" for piece in self._calls.values()]
        return await self._estimator.reply(self._turn, "".join([*self._text, *arguments]))

    def take(self, line: bytes, events: list[ModelEvent]) -> None:
        """Add the events in one line of the stream."""
        if self.closed or line == b"[DONE]":
            self.closed = True
            return
        try:
            chunk = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ModelRefused(f"the model's side sent something that is not the protocol: {error}") from error
        if chunk.error:
            raise ModelUnavailable(f"the model failed: {_told(chunk.error)}")
        told = _usage_in(chunk.usage) or _usage_in_timings(chunk.timings)
        if told is not None:
            self._reported = told
            events.append(UsageSoFar(told))
        for choice in chunk.choices or []:
            self._finish = choice.finish_reason or self._finish
            if choice.delta is not None:
                self._hear(choice.delta, events)

    def ending(self) -> list[Call]:
        """The calls, now that they are whole."""
        if self._finish is None and not self.closed:
            raise ModelUnavailable("the model's answer broke off before its end")
        return [self._whole(self._calls[index]) for index in sorted(self._calls)]

    def _hear(self, delta: _Delta, events: list[ModelEvent]) -> None:
        thought = delta.reasoning_content or delta.reasoning
        if isinstance(thought, str) and thought:
            self._count(thought)
            events.append(ThinkingPiece(thought))
        if delta.content:
            self._count(delta.content)
            events.append(TextPiece(delta.content))
        for piece in delta.tool_calls or []:
            self._join(piece)

    def _count(self, text: str) -> None:
        self._text.append(text)
        self._grow(len(text))

    def _grow(self, length: int) -> None:
        self._length += length
        if self._length > LONGEST_REPLY:
            raise ModelRefused("the model's answer is longer than anything useful")

    def _join(self, piece: _CallPiece) -> None:
        index = self._index_of(piece)
        call = self._calls.setdefault(index, _CallPiece(index))
        call.id = call.id or piece.id
        call.function.name = call.function.name or piece.function.name
        more = piece.function.arguments or ""
        self._grow(len(more))
        call.function.arguments = (call.function.arguments or "") + more

    def _index_of(self, piece: _CallPiece) -> int:
        """Some servers do not number calls: each that is named is then a new one, and the rest belongs to the last."""
        if piece.index is not None:
            return piece.index
        return len(self._calls) if piece.begins or not self._calls else len(self._calls) - 1

    def _whole(self, piece: _CallPiece) -> Call:
        name = piece.function.name
        if not name:
            raise ModelRefused("the model called a tool without naming it")
        return Call(piece.id or f"call_{piece.index}", name, piece.function.arguments or "{}")

    @property
    def finish(self) -> Finish:
        """Why it stopped, in the words of the port."""
        match self._finish:
            case "length" | "content_filter" as finish:
                return finish
            case _:
                return "tool_calls" if self._calls else "stop"


def _usage_in(reported: Any) -> TokenUsage | None:
    """What a chunk says about usage, if it says all of it; some servers send the word and nothing to it."""
    if reported is None:
        return None
    try:
        return msgspec.convert(reported, TokenUsage)
    except msgspec.ValidationError:
        return None


def _usage_in_timings(timings: Any) -> TokenUsage | None:
    """The same in llama.cpp's words, which count what it still knew of the question apart."""
    if not isinstance(timings, dict):
        return None
    counts = [timings.get(name, 0) for name in ("prompt_n", "cache_n", "predicted_n")]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    return _usage_in({"prompt_tokens": counts[0] + counts[1], "completion_tokens": counts[2]})


async def _arriving(answer: Answer, said: _Said) -> AsyncIterator[list[ModelEvent]]:
    """What each read says. Split at LF and nowhere else: JSON may hold what text calls a line end."""
    rest = b""
    while not said.closed and (piece := await answer.read()):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise ModelRefused("the model's side sent a line without an end")
        events: list[ModelEvent] = []
        for line in lines:
            if line.startswith(b"data:"):
                said.take(line[5:].strip(), events)
        if events:
            yield events


def _base_of(url: str) -> str:
    """A URL without a path means the usual one."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path="/v1") if parts.path in ("", "/") else parts).rstrip("/")


def _seconds(answer: Answer) -> float | None:
    text = answer.headers.get("retry-after", "")
    return min(float(text), 5.0) if text.isdecimal() else None


def _message_in(raw: bytes) -> str:
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return raw.decode("utf-8", "replace")
    return _told(found.get("error", found) if isinstance(found, dict) else found)


def _told(error: Any) -> str:
    message = error.get("message", error) if isinstance(error, dict) else error
    return str(message)[:LONGEST_DETAIL]

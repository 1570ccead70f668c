"""The OpenAI-compatible wire: one model behind a URL, whoever serves it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from atrium.engine.executors.estimating import estimate_reply
from atrium.kit.addresses import NotPublic
from atrium.seams.models import (
    Call,
    Done,
    Event,
    Finish,
    ModelFailure,
    ModelRefused,
    ModelUnavailable,
    Text,
    Thinking,
    Turn,
    Usage,
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


class OpenAIWire:
    """A model behind an OpenAI-compatible URL; `name` is what failures call it."""

    def __init__(self, client: httpx.AsyncClient, name: str, url: str, key: str | None, model: str | None) -> None:
        self._client, self._name, self._key, self._model = client, name, key, model
        self._url, self._models_url = f"{_base_of(url)}/chat/completions", f"{_base_of(url)}/models"

    async def is_up(self) -> bool:
        """Whether it answers and takes our key; one that has no list of its models counts as answering."""
        request = self._client.build_request(
            "GET", self._models_url, headers=self._credentials(), timeout=PROBE_SECONDS
        )
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                response = await self._client.send(request, stream=True)
                await response.aclose()
        except (NotPublic, httpx.HTTPError, TimeoutError):
            return False
        return response.status_code in (200, 404, 405)

    async def stream(self, turn: Turn) -> AsyncGenerator[Event, None]:
        """What the model says as it says it; closing the stream hangs up, which stops the model."""
        said = _Said(turn)
        async with self._answer(turn) as response:
            try:
                async for line in _lines_of(response):
                    if line == b"[DONE]":
                        said.closed = True
                        break
                    for event in said.take(line):
                        yield event
            except httpx.HTTPError as error:
                raise ModelUnavailable(f"{self._name} broke off ({type(error).__name__})", said.usage) from error
        for event in said.ending():
            yield event

    @asynccontextmanager
    async def _answer(self, turn: Turn) -> AsyncIterator[httpx.Response]:
        response = await self._ask(turn)
        try:
            yield response
        finally:
            await response.aclose()

    async def _ask(self, turn: Turn) -> httpx.Response:
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

    async def _ask_once(self, turn: Turn) -> httpx.Response:
        headers = self._credentials()
        content = msgspec.json.encode(_body(turn, turn.model or self._model))
        headers["content-type"] = "application/json"
        request = self._client.build_request("POST", self._url, content=content, headers=headers)
        try:
            response = await self._client.send(request, stream=True)
        except NotPublic as error:
            raise ModelRefused(f"{self._name} may not be called: {error}") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _Again(ModelUnavailable(f"{self._name} cannot be reached")) from error
        except httpx.HTTPError as error:
            raise ModelUnavailable(f"{self._name} did not answer ({type(error).__name__})") from error
        if response.status_code != 200:
            raise await self._refusal(response)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            await response.aclose()
            raise ModelRefused(f"{self._name} does not stream its answers")
        return response

    def _credentials(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._key}"} if self._key else {}

    async def _refusal(self, response: httpx.Response) -> Exception:
        status = response.status_code
        message = f"{self._name} answered {status}: {await self._detail(response)}"
        if status not in PASSING:
            return ModelRefused(message)
        failure = ModelUnavailable(message)
        return _Again(failure, _seconds(response)) if status in AT_ONCE_AGAIN else failure

    async def _detail(self, response: httpx.Response) -> str:
        """What the other side says about it, cut short, without our key should it repeat that."""
        raw = b""
        try:
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > LONGEST_LINE:
                    break
        except httpx.HTTPError:
            pass
        finally:
            await response.aclose()
        text = _message_in(raw)
        return (text.replace(self._key, "…") if self._key else text)[:LONGEST_DETAIL]


class _Again(Exception):
    """Nothing was said yet and it may work in a moment."""

    def __init__(self, failure: ModelFailure, after: float | None = None) -> None:
        super().__init__(failure.message)
        self.failure, self.after = failure, after


class _Said:
    """What a stream has said so far, and what that adds up to."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._calls: dict[int, _CallPiece] = {}
        self._reported: Usage | None = None
        self._finish: str | None = None
        self._text: list[str] = []
        self._length = 0
        self.closed = False

    @property
    def usage(self) -> Usage:
        """As reported, in whichever chunk; otherwise estimated."""
        arguments = [piece.function.arguments or "" for piece in self._calls.values()]
        return self._reported or estimate_reply(self._turn, "".join([*self._text, *arguments]))

    def take(self, line: bytes) -> Iterator[Event]:
        """The events in one line of the stream."""
        try:
            chunk = msgspec.json.decode(line, type=_Chunk)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ModelRefused(
                f"the model's side sent something that is not the protocol: {error}", self.usage
            ) from error
        if chunk.error:
            raise ModelUnavailable(f"the model failed: {_told(chunk.error)}", self.usage)
        self._reported = _usage_in(chunk.usage) or self._reported
        for choice in chunk.choices or []:
            self._finish = choice.finish_reason or self._finish
            yield from self._heard(choice.delta or _Delta())

    def ending(self) -> Iterator[Event]:
        """The calls, now that they are whole, and the end."""
        if self._finish is None and not self.closed:
            raise ModelUnavailable("the model's answer broke off before its end", self.usage)
        for index in sorted(self._calls):
            yield self._whole(self._calls[index])
        yield Done(self._ended(), self.usage)

    def _heard(self, delta: _Delta) -> Iterator[Event]:
        thought = delta.reasoning_content or delta.reasoning
        if isinstance(thought, str) and thought:
            self._count(thought)
            yield Thinking(thought)
        if delta.content:
            self._count(delta.content)
            yield Text(delta.content)
        for piece in delta.tool_calls or []:
            self._join(piece)

    def _count(self, text: str) -> None:
        self._text.append(text)
        self._grow(len(text))

    def _grow(self, length: int) -> None:
        self._length += length
        if self._length > LONGEST_REPLY:
            raise ModelRefused("the model's answer is longer than anything useful", self.usage)

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
        name, arguments = piece.function.name, piece.function.arguments or "{}"
        try:
            msgspec.json.decode(arguments, type=dict[str, Any])
        except msgspec.DecodeError as error:
            cut = " (it was cut off)" if self._finish == "length" else ""
            raise ModelRefused(
                f"the model called {name} with arguments that cannot be read{cut}", self.usage
            ) from error
        if not name:
            raise ModelRefused("the model called a tool without naming it", self.usage)
        return Call(piece.id or f"call_{piece.index}", name, arguments)

    def _ended(self) -> Finish:
        match self._finish:
            case "length" | "content_filter" as finish:
                return finish
            case _:
                return "tool_calls" if self._calls else "stop"


def _usage_in(reported: Any) -> Usage | None:
    """What a chunk says about usage, if it says all of it; some servers send the word and nothing to it."""
    try:
        return msgspec.convert(reported, Usage)
    except msgspec.ValidationError:
        return None


async def _lines_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """The data lines of an event stream. Split at LF and nowhere else: JSON may hold what text calls a line end."""
    rest = b""
    async for piece in response.aiter_bytes():
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise ModelRefused("the model's side sent a line without an end")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()


def _body(turn: Turn, model: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": turn.messages,
        "max_tokens": turn.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if model:
        body["model"] = model
    if turn.tools:
        body["tools"] = turn.tools
    if turn.response_format and turn.response_format.type != "text":
        body["response_format"] = turn.response_format
    return body


def _base_of(url: str) -> str:
    """A URL without a path means the usual one."""
    plain = httpx.URL(url)
    return str(plain.copy_with(path="/v1") if plain.path in ("", "/") else plain).rstrip("/")


def _seconds(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
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

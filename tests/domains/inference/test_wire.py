"""The port against servers that say odd things: what is read, what is asked for again, and what is refused."""

import asyncio

import pytest

from atrium.engine.inference import wire
from atrium.engine.inference.estimates import Estimator
from atrium.engine.inference.wire import Machine, OpenAIWire
from atrium.kit.ids import NIL
from atrium.kit.web.outbound import Outbound
from atrium.kit.work.compute import ComputePool
from atrium.seams.models import (
    Message,
    ModelFailure,
    ModelRefused,
    ModelReply,
    ModelUnavailable,
    TokenUsage,
    Turn,
    complete,
)
from tests.support.patience import PATIENCE
from tests.support.scripted import Answer, Scripted, chunk, events, scripted

ESTIMATOR = Estimator(ComputePool(1), NIL)

TURN = Turn([Message("user", "What is this?")])
FINE = Answer(events(chunk("fine"), chunk(finish="stop")))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PAUSES", (0.0, 0.0))


async def ask(server: Scripted, turn: Turn = TURN, key: str | None = "sk-secret") -> ModelReply:
    outbound = Outbound()
    try:
        return await complete(OpenAIWire(outbound.anywhere, Machine("odd", server.url, key, "m"), ESTIMATOR), turn)
    finally:
        outbound.close()


async def told(*answers: Answer) -> ModelReply:
    async with scripted(*answers) as server:
        return await ask(server)


async def test_the_question_is_sent_as_the_wire_has_it() -> None:
    async with scripted(FINE) as server:
        await ask(server)
        await ask(server, Turn(TURN.messages, 7, model="other"), key=None)

    (first, asked), (second, other) = server.asked
    assert first["authorization"] == "Bearer sk-secret"
    assert asked["messages"] == [{"role": "user", "content": "What is this?"}]
    assert (asked["model"], asked["stream"], asked["stream_options"]) == ("m", True, {"include_usage": True})
    assert "authorization" not in second
    assert (other["model"], other["max_tokens"]) == ("other", 7)


async def test_a_line_ends_at_lf_and_nowhere_else() -> None:
    odd = "a\u2028b\u0085c\u000bd"

    assert (await told(Answer(events(chunk(odd), chunk(finish="stop"))))).text == odd


async def test_comments_crlf_and_both_names_of_thinking_are_read() -> None:
    said = events(chunk(reasoning="hm "), chunk(reasoning_content="yes"), chunk("ok"), chunk(finish="stop"))

    reply = await told(Answer(b": keep-alive\r\n\r\nevent: x\r\n" + said.replace(b"\n", b"\r\n")))

    assert (reply.thinking, reply.text) == ("hm yes", "ok")


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_usage_counts_wherever_it_stands(place: int) -> None:
    chunks = [chunk("fine"), chunk(finish="stop"), {"choices": []}]
    chunks[place] |= {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}

    assert (await told(Answer(events(*chunks)))).usage == TokenUsage(5, 2)


@pytest.mark.parametrize(
    "reported", [{}, {"usage": None}, {"usage": {}}, {"usage": {"prompt_tokens": None}}, {"usage": 7}]
)
async def test_usage_that_nobody_reports_is_estimated(reported: dict[str, object]) -> None:
    usage = (await told(Answer(events(chunk("four words were said") | reported, chunk(finish="stop"))))).usage

    assert usage.prompt_tokens >= 7
    assert 4 <= usage.completion_tokens <= 8


async def test_calls_are_joined_from_their_pieces() -> None:
    def piece(index: int, **function: str) -> dict[str, object]:
        return {"index": index, "function": function}

    said = [
        chunk(tool_calls=[{"id": "c1", **piece(0, name="look", arguments='{"at"')}]),
        chunk(tool_calls=[piece(1, name="count", arguments=""), piece(0, arguments=': "x"}')]),
        chunk(finish="tool_calls"),
    ]

    reply = await told(Answer(events(*said)))

    assert [(call.id, call.name, call.arguments) for call in reply.calls] == [
        ("c1", "look", '{"at": "x"}'), ("call_1", "count", "{}"),
    ]  # fmt: skip
    assert reply.finish == "tool_calls"


async def test_calls_that_are_not_numbered_are_told_apart_by_their_names() -> None:
    said = [
        chunk(tool_calls=[{"id": "a", "function": {"name": "look", "arguments": '{"at":'}}]),
        chunk(tool_calls=[{"function": {"arguments": " 1}"}}]),
        chunk(tool_calls=[{"id": "b", "function": {"name": "look", "arguments": "{}"}}]),
    ]

    reply = await told(Answer(events(*said, chunk(finish="tool_calls"))))

    assert [(call.id, call.arguments) for call in reply.calls] == [("a", '{"at": 1}'), ("b", "{}")]


@pytest.mark.parametrize("arguments", ['{"at": ', "[1]", "look!", '{"at": 1} or so'])
async def test_arguments_that_cannot_be_read_are_refused(arguments: str) -> None:
    called = chunk(tool_calls=[{"index": 0, "id": "c", "function": {"name": "look", "arguments": arguments}}])

    with pytest.raises(ModelRefused, match="look"):
        await told(Answer(events(called, chunk(finish="tool_calls"))))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_before_anything_is_said_a_busy_server_is_asked_again(status: int) -> None:
    async with scripted(Answer(status=status, headers={"retry-after": "0"}), FINE) as server:
        assert (await ask(server)).text == "fine"

    assert len(server.asked) == 2


async def test_a_server_that_stays_busy_is_given_up() -> None:
    async with scripted(Answer(status=503)) as server:
        with pytest.raises(ModelUnavailable, match="503"):
            await ask(server)

    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "failure"), [(400, ModelRefused), (404, ModelRefused), (302, ModelRefused), (500, ModelUnavailable)]
)
async def test_what_would_end_the_same_way_is_asked_once(status: int, failure: type[ModelFailure]) -> None:
    said = b'{"error": {"message": "no, not with sk-secret"}}'
    async with scripted(Answer(said, status, "application/json", {"location": "http://127.0.0.1/"})) as server:
        with pytest.raises(failure, match="no, not with …"):
            await ask(server)

    assert len(server.asked) == 1


@pytest.mark.parametrize("said", [chunk("some words"), chunk(reasoning="hm, let me see")])
async def test_after_the_first_word_nothing_is_asked_again(said: dict[str, object]) -> None:
    async with scripted(Answer(events(said, done=False), missing=10), FINE) as server:
        with pytest.raises(ModelUnavailable, match="broke off") as failed:
            await ask(server)

    assert len(server.asked) == 1
    assert failed.value.usage.completion_tokens > 0


async def test_whoever_stops_listening_hangs_up() -> None:
    endless = Answer(events(chunk("and"), done=False), missing=10, hangs=True)
    async with asyncio.timeout(PATIENCE), scripted(endless) as server:
        listening = OpenAIWire(Outbound().anywhere, Machine("odd", server.url, None, "m"), ESTIMATOR).stream(TURN)
        await anext(listening)
        await listening.aclose()
        await server.left.wait()


async def test_an_answer_without_an_end_is_no_answer() -> None:
    with pytest.raises(ModelUnavailable, match="before its end"):
        await told(Answer(events(chunk("and then"), done=False)))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(events(b"{bad")),
        Answer(events(b'{"choices": 7}')),
        Answer(events(b'{"choices": [{"delta": {"content": 7}}]}')),
        Answer(b"data: " + b"x" * (2 << 20)),
        Answer(b"{}", type="application/json"),
        Answer(events(*[chunk("x" * 500_000)] * 9)),
    ],
)
async def test_what_is_not_the_protocol_is_refused(answer: Answer) -> None:
    with pytest.raises(ModelRefused):
        await told(answer)


async def test_an_error_inside_the_stream_is_raised() -> None:
    with pytest.raises(ModelUnavailable, match="out of memory"):
        await told(Answer(events(chunk("a"), {"error": {"message": "out of memory"}})))

"""A model whose turns are spans of a trace, where one is being recorded; what was asked and answered is not part of them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.trace_context import Trace, Value
from atrium.seams.models import Done, ModelEvent, ModelPort, Turn


class TracedPort:
    """The same port, and a span from the question to the last word."""

    def __init__(self, port: ModelPort, machine: str, model: str | None) -> None:
        self._port, self._machine, self._model = port, machine, model

    async def stream(self, turn: Turn) -> AsyncGenerator[list[ModelEvent], None]:
        """What the model says as it says it."""
        outer = trace_context.current()
        if outer is None or outer.span is None:
            async with aclosing(self._port.stream(turn)) as arriving:
                async for said in arriving:
                    yield said
            return
        span = outer.span.begin(f"chat {turn.model or self._model or ''}".strip(), "client", self._facts(turn))
        inside = Trace(outer.id, span.id, outer.request_id, sampled=True, span=span)
        failure: BaseException | None = None
        try:
            async with aclosing(self._port.stream(turn)) as arriving:
                while (events := await _next_within(inside, arriving)) is not None:
                    for event in events:
                        if isinstance(event, Done):
                            span.note("gen_ai.usage.input_tokens", event.usage.prompt_tokens)
                            span.note("gen_ai.usage.output_tokens", event.usage.completion_tokens)
                    yield events
        except BaseException as error:
            failure = error
            raise
        finally:
            # Who hangs up early got what they wanted.
            span.end(None if isinstance(failure, GeneratorExit) else failure)

    def _facts(self, turn: Turn) -> dict[str, Value]:
        facts: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.max_tokens": turn.max_tokens,
            "atrium.executor": self._machine,
        }
        model = turn.model or self._model
        return facts | {"gen_ai.request.model": model} if model else facts


async def _next_within(place: Trace, arriving: AsyncGenerator[list[ModelEvent], None]) -> list[ModelEvent] | None:
    """What comes next, asked for inside the span; between two pieces their reader is where it was."""
    outer = trace_context.current()
    trace_context.move(place)
    try:
        return await anext(arriving, None)
    finally:
        trace_context.move(outer)

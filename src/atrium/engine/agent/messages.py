"""What the model and the run say to each other: tools as they are offered, calls as they are asked for, results as they are shown."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec

from atrium.engine.agent.model import AgentCall, RunProgress
from atrium.engine.tools.calls import digest_of
from atrium.engine.tools.service import effect_of
from atrium.kit.text.plain import inert
from atrium.seams.models import Call, Message, ModelRefused
from atrium.seams.tools import Tool, schema_of

_MOST_CALLS_OF_A_TURN = 64
_NO_JSON = "the arguments are not a JSON object; write them again, whole"


def calls_in(asked: list[Call], text: str, progress: RunProgress, tools: Mapping[str, Tool]) -> list[AgentCall]:
    """The calls in an answer whose text is this, numbered after those that were asked for before."""
    if len(asked) > _MOST_CALLS_OF_A_TURN:
        raise ModelRefused(f"the model asked for more than {_MOST_CALLS_OF_A_TURN} calls at once")
    calls, number = list[AgentCall](), len(progress.calls)
    for wanted in asked:
        number += 1
        tool, read = tools.get(wanted.name), wanted.read()
        arguments = {} if read is None else without_nul(read)
        calls.append(
            AgentCall(
                number=number,
                step=progress.steps + 1,
                name=without_nul(wanted.name[:64]),
                arguments=arguments,
                effect="read" if tool is None else effect_of(tool),
                digest=b"" if tool is None else digest_of(tool, arguments),
                said=text if not calls else "",
                status="pending" if read is not None else "bad_arguments",
                result="" if read is not None else _NO_JSON,
            )
        )
    return calls


def without_nul(value: Any) -> Any:
    """The same value without U+0000, which PostgreSQL cannot hold."""
    match value:
        case str():
            return value.replace("\0", "")
        case list():
            return [without_nul(one) for one in value]
        case dict():
            return {name.replace("\0", ""): without_nul(one) for name, one in value.items()}
    return value


def definition_of(tool: Tool) -> dict[str, Any]:
    """A tool as a model is given it."""
    function = {"name": tool.name, "description": tool.description, "parameters": schema_of(tool)}
    return {"type": "function", "function": function}


def messages_of(calls: Iterable[AgentCall]) -> Iterator[Message]:
    """What the model asked for and got so far."""
    for _, step in groupby(calls, key=lambda call: call.step):
        together = list(step)
        yield Message("assistant", together[0].said or None, [_as_called(call) for call in together])
        for call in together:
            yield Message("tool", _shown_to_model(call), tool_call_id=call.id)


def _as_called(call: AgentCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": msgspec.json.encode(call.arguments).decode()}
    return {"id": call.id, "type": "function", "function": function}


def _shown_to_model(call: AgentCall) -> str:
    return inert(call.result if call.status == "ok" else f"[{call.status}] {call.result}")

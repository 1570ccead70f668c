"""Estimates of a turn's tokens: before it runs, and afterwards when the model does not report them."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

import msgspec

from atrium.kit.text.estimates import estimate_tokens
from atrium.kit.work.compute import ComputePool, TooHeavy, heavy
from atrium.kit.work.shares import Busy
from atrium.seams.context import Operation
from atrium.seams.models import TokenUsage, Turn

# Around every message and the whole: roles, separators, the beginning of the answer.
_PER_MESSAGE, _PER_TURN = 4, 3
# A picture, whatever its size: what models that see make of a large one.
_PER_PICTURE = 1500


# What is not longer is estimated at once.
SHORT = 20_000
# A token has about so many, where there is no time to look.
_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates what a company's turns cost, however long they are."""

    compute: ComputePool
    org_id: UUID

    @classmethod
    def of(cls, op: Operation) -> Self:
        """For the caller's company."""
        return cls(op.services.compute, op.who.org_id)

    async def turn(self, turn: Turn) -> int:
        """Tokens of everything that is sent."""
        return await self.compute.run(self.org_id, length_of(turn), estimate_turn, turn, small=SHORT)

    async def reply(self, turn: Turn, said: str) -> TokenUsage:
        """The usage of a turn that said this much; never refused, because what was said has to be paid."""
        length = length_of(turn)
        try:
            return await self.compute.run(self.org_id, length + len(said), estimate_reply, turn, said, small=SHORT)
        except (Busy, TooHeavy):
            return TokenUsage(length // _CHARACTERS, len(said) // _CHARACTERS, exact=False)

    async def text(self, text: str) -> int:
        """Tokens of what was said; never refused."""
        try:
            return await self.compute.run(self.org_id, len(text), estimate_tokens, text, small=SHORT)
        except (Busy, TooHeavy):
            return len(text) // _CHARACTERS


def length_of(turn: Turn) -> int:
    """How many characters a turn has, nearly: of parts, calls and tools what is cheap to count."""
    length = 200 * len(turn.tools)
    for message in turn.messages:
        if isinstance(message.content, str):
            length += len(message.content)
        for part in message.content if isinstance(message.content, list) else ():
            length += len(str(part.get("text") or "")) if isinstance(part, dict) else len(str(part))
        length += sum(len(str(call)) for call in message.tool_calls or ())
    return length


@heavy
def estimate_turn(turn: Turn) -> int:
    """Tokens of everything that is sent."""
    pictures, parts = 0, list[str]()
    for message in turn.messages:
        for part in [message.content] if isinstance(message.content, str) else message.content or []:
            if isinstance(part, dict) and part.get("type") == "image_url":
                pictures += 1
            else:
                parts.append(part if isinstance(part, str) else str(part.get("text") or _json(part)))
    parts += [_json(message.tool_calls) for message in turn.messages if message.tool_calls]
    parts += [_json(tool) for tool in turn.tools]
    around = _PER_TURN + _PER_MESSAGE * len(turn.messages) + _PER_PICTURE * pictures
    return around + sum(map(estimate_tokens, parts))


@heavy
def estimate_reply(turn: Turn, said: str) -> TokenUsage:
    """The usage of a turn that said this much."""
    return TokenUsage(estimate_turn(turn), estimate_tokens(said), exact=False)


def _json(value: object) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()

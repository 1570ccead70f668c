"""Estimates of a turn's tokens: before it runs, and afterwards when the model does not report them."""

import msgspec

from atrium.kit.estimates import estimate_tokens
from atrium.seams.models import TokenUsage, Turn

# Around every message and the whole: roles, separators, the beginning of the answer.
_PER_MESSAGE, _PER_TURN = 4, 3
# A picture, whatever its size: what models that see make of a large one.
_PER_PICTURE = 1500


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


def estimate_reply(turn: Turn, said: str) -> TokenUsage:
    """The usage of a turn that said this much."""
    return TokenUsage(estimate_turn(turn), estimate_tokens(said), exact=False)


def _json(value: object) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()

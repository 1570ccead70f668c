"""What the operator's settings say about guests, the programs that run in the sandbox: what each may ask for, and what its tools do."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from atrium.seams.tools import Effect

Capability = Literal["notes.read", "notes.write", "documents.read", "files.read", "search", "ai.turn"]
GuestId = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9]{0,19}$(?!\n)")]
ToolName = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,38}$(?!\n)")]


class GuestGrant(msgspec.Struct, frozen=True):
    """What one guest may ask for."""

    guest: str
    capabilities: tuple[Capability, ...]


class Grants(tuple[GuestGrant, ...]):
    """Capabilities of guests out of a JSON object; a guest that is not in it has none."""

    TAKES = 'a JSON object such as {"summary": ["notes.read"]}'

    def __new__(cls, text: str = "") -> "Grants":
        """Out of JSON; a ValueError says what is wrong with it."""
        found = _read(text, dict[GuestId, tuple[Capability, ...]])
        return super().__new__(cls, (GuestGrant(guest, granted) for guest, granted in found.items()))

    def of(self, guest: str) -> frozenset[Capability]:
        """The capabilities of this guest."""
        return frozenset(one for grant in self if grant.guest == guest for one in grant.capabilities)

    def as_json(self) -> str:
        """As the environment gives it."""
        return msgspec.json.encode({grant.guest: grant.capabilities for grant in self}).decode()


class ToolEffect(msgspec.Struct, frozen=True):
    """What the operator says that a guest's tool does."""

    guest: str
    tool: str
    effect: Effect


class ToolEffects(tuple[ToolEffect, ...]):
    """Effects of guests' tools out of a JSON object; a tool that is not in it sends something elsewhere."""

    TAKES = 'a JSON object such as {"summary": {"count_words": "read"}} with read, write or egress'

    def __new__(cls, text: str = "") -> "ToolEffects":
        """Out of JSON; a ValueError says what is wrong with it."""
        found = _read(text, dict[GuestId, dict[ToolName, Effect]])
        return super().__new__(
            cls, (ToolEffect(guest, tool, effect) for guest, tools in found.items() for tool, effect in tools.items())
        )

    def of(self, guest: str, tool: str) -> Effect:
        """The effect of this tool."""
        return next((one.effect for one in self if (one.guest, one.tool) == (guest, tool)), "egress")

    def as_json(self) -> str:
        """As the environment gives it."""
        tools: dict[str, dict[str, Effect]] = {}
        for one in self:
            tools.setdefault(one.guest, {})[one.tool] = one.effect
        return msgspec.json.encode(tools).decode()


def _read(text: str, kind: Any) -> Mapping[Any, Any]:
    try:
        found: Mapping[Any, Any] = msgspec.json.decode(text or "{}", type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error
    return found

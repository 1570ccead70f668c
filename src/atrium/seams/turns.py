"""A kind of turn: what plugs a question to a model into turns, which know neither who asks nor what else follows from the reply."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnKind:
    """What is done about turns of a kind by a process that does not work on them. Kinds are asked from the one wired last to the first.

    `final_event` takes (operation, the turn's id, its ending, its text) and returns what the last event carries, or None of another kind.
    `settle_lost` takes (context, lost turn, its pieces) and ends and pays a turn whose process has died; False of another kind.
    `offers` takes (context, conversation) and returns the caller's turn that is not over there, as people are shown it.
    """

    name: str
    final_event: Callable[[Any, UUID, Any, str], Awaitable[dict[str, Any] | None]]
    settle_lost: Callable[[Any, Any, Any], Awaitable[bool]]
    offers: Callable[[Any, UUID], Awaitable[Any]]

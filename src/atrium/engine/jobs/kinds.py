"""What a kind says of a job's input or result: a pure function of the kind's, over as much as people sent."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from atrium.seams.context import Services

R = TypeVar("R")

_SHORT = 20_000


async def ask_kind(services: Services, org_id: UUID, sent: Any, function: Callable[..., R], *arguments: Any) -> R:
    """What the function comes to; `sent` is what decides how long it takes."""
    if not (function.__module__ or "").startswith("atrium."):
        # A plugin's code is known to this process alone.
        return await services.threads.run(org_id, function, *arguments)
    size = len(msgspec.json.encode(sent))
    return await services.compute.run(org_id, size, function, *arguments, small=_SHORT)

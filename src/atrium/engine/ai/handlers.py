"""The wire of AI."""

from typing import Annotated

import msgspec

from atrium.engine.ai import service
from atrium.engine.ai.model import Echo
from atrium.seams.context import Operation


class EchoAsk(msgspec.Struct, forbid_unknown_fields=True):
    """What to say back."""

    prompt: Annotated[str, msgspec.Meta(max_length=100_000)] = "ping"


async def echo(op: Operation, body: EchoAsk) -> Echo:
    """A metered echo without a model, for exercising quotas."""
    return await service.echo(op, body.prompt)

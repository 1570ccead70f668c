"""The verbs of AI: admit, run, settle."""

from atrium.engine.ai.model import Echo, Spent
from atrium.ground.quotas import service as quotas
from atrium.seams.context import Operation


async def echo(op: Operation, text: str) -> Echo:
    """Say it back, metered like a model's turn: one request, and a token for every word in and out."""
    tokens = 2 * len(text.split())
    admission = await quotas.admit(op, {"ai.requests": 1, "ai.tokens.total": tokens, "ai.concurrency": 1})
    await quotas.settle(op, admission, {"ai.requests": 1, "ai.tokens.total": tokens})
    return Echo(text, Spent(1, tokens))

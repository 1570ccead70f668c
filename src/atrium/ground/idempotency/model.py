"""The nouns of idempotency."""

import msgspec

from atrium.kit.errors import Conflict


class StoredReply(msgspec.Struct, frozen=True):
    """What was answered the first time."""

    status: int
    body: bytes


class KeyReused(Conflict):
    """The key came before with another request."""

    code = "idempotency.reused"
    title = "This Idempotency-Key belongs to another request"


class Unfinished(Conflict):
    """The same request is under way, or ended without anybody knowing how."""

    code = "idempotency.unfinished"
    title = "The first request with this Idempotency-Key has not been answered"

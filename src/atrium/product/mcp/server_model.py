"""The nouns of the MCP server: revisions of the protocol, messages, and the codes of its errors."""

from typing import Any, Literal, NamedTuple

# Each request says everything by itself; no handshake, no session.
STATELESS = "2026-07-28"
# Begun by `initialize`, newest first; answered here without a session.
HANDSHAKES = ("2025-11-25", "2025-06-18")
REVISIONS = (STATELESS, *HANDSHAKES)

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_REVISION = -32020, -32022
# The stateless revision says it in HTTP's words as well; before it only what is no message at all was said there.
_STATUS = {NO_METHOD: 404}
_ALWAYS = frozenset({PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_REVISION})

Id = str | int | None


class RpcError(Exception):
    """A JSON-RPC error: a code for programs, a sentence that says what to do."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def status(self, revision: str) -> int:
        """The status of the reply that carries it."""
        if self.code in _ALWAYS:
            return 400
        return _STATUS.get(self.code, 400) if revision == STATELESS else 200


class McpRequest(NamedTuple):
    """A message that is owed a reply, in the words of one revision."""

    id: str | int
    method: str
    params: dict[str, Any]
    revision: str


class Notification(NamedTuple):
    """A message that is owed none."""

    method: str


Hints = dict[Literal["readOnlyHint", "destructiveHint", "openWorldHint"], bool]
# What a tool's effect means in MCP's words; what a tool that writes destroys is not known, so that it counts as destructive.
HINTS: dict[str, Hints] = {
    "read": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
    "write": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "egress": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}

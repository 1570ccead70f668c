"""JSON-RPC as MCP speaks it over HTTP: bytes to one message, a reply to bytes. What methods do is not here."""

import base64
import binascii
import re
from typing import Any

import msgspec

from atrium.kit.web.strict_json import NotStrict, has_nul, read_strict
from atrium.product.mcp.server_model import (
    HANDSHAKES,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    REVISIONS,
    STATELESS,
    UNSUPPORTED_REVISION,
    Id,
    McpRequest,
    Notification,
    RpcError,
)
from atrium.seams.context import Operation
from atrium.seams.routes import Content, WireMessage

REVISION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
JSON = "application/json"
# Read at once; what is larger is read in a thread.
_SMALL = 32 << 10
_LONGEST_ID, _LONGEST_METHOD = 256, 128
_LARGEST_ID = 1 << 53
_ROUTING = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


class RpcRefused(Exception):
    """A message that cannot be taken; `id` is its own as far as it could be read."""

    def __init__(self, error: RpcError, id: Id = None, revision: str = HANDSHAKES[0]) -> None:
        super().__init__(error.message)
        self.error, self.id, self.revision = error, id, revision


async def read_message(op: Operation, message: WireMessage) -> McpRequest | Notification:
    """The one message that a body is; anything else is refused."""
    value = await _read(op, message.body)
    if isinstance(value, list):
        raise _invalid("send one message per request; these revisions of MCP have no batches")
    if not isinstance(value, dict):
        raise _invalid("a message is a JSON object")
    id = _id_of(value)
    try:
        return _message(value, id, message)
    except RpcError as error:
        raise RpcRefused(error, id, _spoken(message)) from error


async def _read(op: Operation, body: bytes) -> Any:
    try:
        if len(body) <= _SMALL:
            return read_strict(body)
        return await op.services.threads.run(op.who.org_id, read_strict, body)
    except NotStrict as error:
        raise RpcRefused(RpcError(PARSE_ERROR, f"the body is not one JSON text: {error}")) from error


def _id_of(value: dict[str, Any]) -> Id:
    """The id; None when there is none, or when it cannot be one."""
    id = value.get("id")
    if isinstance(id, str):
        return id if len(id) <= _LONGEST_ID else None
    return id if type(id) is int and abs(id) <= _LARGEST_ID else None


def _message(value: dict[str, Any], id: Id, message: WireMessage) -> McpRequest | Notification:
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a message has "jsonrpc": "2.0"')
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str) or len(method) > _LONGEST_METHOD:
        raise RpcError(INVALID_REQUEST, "a message has a method, which is text; this server asks nothing of clients")
    if not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "params is an object, or left out")
    headers = _routing(message)
    if "id" not in value:
        return _notification(method, headers)
    if id is None:
        raise RpcError(INVALID_REQUEST, f"an id is an integer up to 2^53 or a text of at most {_LONGEST_ID} characters")
    revision = _revision(params, headers)
    if revision == STATELESS:
        _require_same(method, params, headers)
    if has_nul(message.body):
        raise RpcError(INVALID_PARAMS, "text cannot contain the character U+0000")
    return McpRequest(id, method, params, revision)


def _notification(method: str, headers: dict[bytes, str]) -> Notification:
    if not method.startswith("notifications/"):
        raise RpcError(INVALID_REQUEST, "a request has an id; without one nothing is done")
    _require_supported(headers.get(b"mcp-protocol-version", HANDSHAKES[0]))
    return Notification(method)


def _routing(message: WireMessage) -> dict[bytes, str]:
    """What intermediaries route by; a header that came twice would be read one way there and another way here."""
    found: dict[bytes, str] = {}
    for name, value in message.headers:
        if name in _ROUTING:
            if name in found:
                raise RpcError(HEADER_MISMATCH, f"send the header {name.decode()} once")
            found[name] = value.decode("latin-1").strip(" \t")
    return found


def _revision(params: dict[str, Any], headers: dict[bytes, str]) -> str:
    """The revision that a request is made in; an envelope says it, otherwise the header, otherwise it is an older one."""
    meta, said = params.get("_meta", {}), headers.get(b"mcp-protocol-version")
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, "params._meta is an object, or left out")
    if REVISION not in meta:
        if said == STATELESS:
            raise RpcError(INVALID_PARAMS, f"params._meta must carry {REVISION} and {CAPABILITIES}")
        return _require_supported(HANDSHAKES[-1] if said is None else said)
    if said is None or said != meta[REVISION]:
        raise RpcError(HEADER_MISMATCH, f"the header MCP-Protocol-Version must be what {REVISION} is")
    if not isinstance(meta.get(CAPABILITIES), dict):
        raise RpcError(INVALID_PARAMS, f"params._meta must carry {CAPABILITIES}, an object")
    return _require_supported(said)


def _require_supported(revision: str) -> str:
    if revision not in REVISIONS:
        raise RpcError(
            UNSUPPORTED_REVISION,
            f"this server speaks the revisions {', '.join(REVISIONS)}",
            {"supported": list(REVISIONS), "requested": revision[:64]},
        )
    return revision


def _require_same(method: str, params: dict[str, Any], headers: dict[bytes, str]) -> None:
    """Refuse a message that intermediaries would take for another one."""
    if headers.get(b"mcp-method") != method:
        raise RpcError(HEADER_MISMATCH, "the header Mcp-Method must be the message's method")
    name = params.get("name")
    if method == "tools/call" and isinstance(name, str) and _decoded(headers.get(b"mcp-name")) != name:
        raise RpcError(HEADER_MISMATCH, "the header Mcp-Name must be the name of the tool")


def _decoded(header: str | None) -> str | None:
    """A header's text, which is wrapped in base64 where it would not survive; None when that is damaged."""
    wrapped = _ENCODED.fullmatch(header) if header is not None else None
    if wrapped is None:
        return header
    try:
        raw = base64.b64decode(wrapped[1], validate=True)
        # One text has one spelling.
        return raw.decode() if base64.b64encode(raw).decode() == wrapped[1] else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _spoken(message: WireMessage) -> str:
    """The revision whose manners a refusal keeps."""
    return STATELESS if (b"mcp-protocol-version", STATELESS.encode()) in message.headers else HANDSHAKES[0]


def _invalid(message: str) -> RpcRefused:
    return RpcRefused(RpcError(INVALID_REQUEST, message))


def reply_with(id: Id, result: dict[str, Any]) -> Content:
    """The reply to a request that was answered."""
    return Content(msgspec.json.encode({"jsonrpc": "2.0", "id": id, "result": result}), JSON)


def reply_without(id: Id, error: RpcError, revision: str) -> Content:
    """The reply to a request that was not."""
    told: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, "error": told})
    return Content(body, JSON, status=error.status(revision))


def acknowledge() -> Content:
    """The reply to a notification."""
    return Content(b"", JSON, status=202)

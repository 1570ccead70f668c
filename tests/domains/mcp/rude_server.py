"""A server that writes broken messages before each answer; run alone. Usage: rude_server.py messages, one JSON string a line."""

import json
import sys
from pathlib import Path
from typing import Any


def answered(method: str, params: Any) -> dict[str, Any] | None:
    """A result; None for what this server does not know."""
    if method == "initialize":
        told = {"name": "rude", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": told}
    if method == "tools/list":
        return {"tools": [{"name": "echo", "description": "Echo.", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
    return None


def main(broken: list[str]) -> None:
    """Ten broken messages before the answer to each call."""
    said = 0
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or "method" not in asked:
            continue
        result = answered(asked["method"], asked.get("params"))
        if asked["method"] == "tools/call":
            for _ in range(10):
                sys.stdout.buffer.write(broken[said % len(broken)].encode(errors="surrogatepass") + b"\n")
                said += 1
        found = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **found}).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()])

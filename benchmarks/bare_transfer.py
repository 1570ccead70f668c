"""The least an upload and a download can be: an ASGI app that hashes what it gets, keeps it in a file, and sends it back."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("BARE_FOLDER", "."))
PIECE = 256 << 10


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """PUT keeps and hashes, GET sends; nothing else is looked at."""
    if scope["type"] != "http":
        await _live(receive, send)
    elif scope["method"] == "PUT":
        await _keep(receive, send)
    else:
        await _give(send)


async def _live(receive: Any, send: Any) -> None:
    for _ in range(2):
        message = await receive()
        await send({"type": message["type"] + ".complete"})


async def _keep(receive: Any, send: Any) -> None:
    digest, more = hashlib.sha256(), True
    with (FOLDER / "kept").open("wb", buffering=0) as file:
        while more:
            message = await receive()
            more = message.get("more_body", False)
            digest.update(message["body"])
            file.write(message["body"])
        await asyncio.to_thread(os.fsync, file.fileno())
    await _reply(send, digest.hexdigest().encode())


async def _give(send: Any) -> None:
    path = FOLDER / "kept"
    size = path.stat().st_size if path.exists() else 0
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
    with (path if size else Path(os.devnull)).open("rb", buffering=0) as file:
        while piece := file.read(PIECE):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _reply(send: Any, body: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})

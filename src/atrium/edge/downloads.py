"""Sending bytes as they are read: the first piece before the status line, so that a refusal can still be one."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

from atrium.edge.encode import Reply
from atrium.edge.request import Request
from atrium.edge.stream import until_gone
from atrium.seams.routes import Download


async def begin(reply: Reply, method: str) -> None:
    """Read the first piece; what raises here becomes an ordinary refusal. A HEAD reads nothing."""
    download = reply.download
    if download is None:
        return
    reply.body = download.body
    if download.source is None or download.bare:
        return
    if method == "HEAD":
        await download.source.aclose()
    elif not reply.body:
        reply.body = await anext(download.source, b"")


def length_of(download: Download) -> list[tuple[bytes, bytes]]:
    """The exact Content-Length; a 304 and a 204 have none."""
    if download.length is None or download.status in (204, 304):
        return []
    return [(b"content-length", b"%d" % download.length)]


async def send_rest(reply: Reply, request: Request, send: Any) -> None:
    """Send the first piece and the rest, until the end or until the client disconnects; the source is closed either way."""
    download = reply.download
    if download is None or download.source is None or request.method == "HEAD":
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else reply.body})
        return
    try:
        if len(reply.body) == download.length:
            await send({"type": "http.response.body", "body": reply.body})
        else:
            await _pump(reply, download, request, send)
    finally:
        await download.source.aclose()


async def _pump(reply: Reply, download: Download, request: Request, send: Any) -> None:
    assert download.source is not None  # noqa: S101 - narrowed by the caller
    gone = asyncio.ensure_future(until_gone(request.receive))
    deliver = send if request.watch is None else partial(request.watch.during, send)
    piece, reply.body = reply.body, b""
    try:
        if download.length is None:
            await _pump_unknown(piece, download.source, send)
            return
        left = download.length
        while left > 0 and not gone.done():
            left -= len(piece)
            await deliver({"type": "http.response.body", "body": piece, "more_body": left > 0})
            if left > 0:
                piece = await anext(download.source)
    finally:
        gone.cancel()


async def _pump_unknown(piece: bytes, source: AsyncGenerator[bytes, None], send: Any) -> None:
    """Run to the end even when the client disconnects: this work must not be left half done."""
    await send({"type": "http.response.body", "body": piece, "more_body": True})
    async for more in source:
        await send({"type": "http.response.body", "body": more, "more_body": True})
    await send({"type": "http.response.body", "body": b""})

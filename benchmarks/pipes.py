"""What carries a model's stream to a client, as bare ASGI apps: `python -m benchmarks.pipes NAME PORT MODEL_URL`.

`proxy` copies bytes and checks nothing. `pipe` is what Atrium asks models through and sends events with: the wire over
`kit/web/outbound`, and `edge/stream`, without a credential, an admission or anything that is kept.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvicorn

from atrium.edge.stream import Streams
from atrium.engine.inference.estimates import Estimator
from atrium.engine.inference.wire import Machine, OpenAIWire
from atrium.kit.ids import NIL
from atrium.kit.web.outbound import Outbound
from atrium.kit.web.sse import sse_frame
from atrium.kit.work.compute import ComputePool
from atrium.seams.models import Message, TextPiece, Turn
from atrium.seams.routes import EventStream

ESTIMATOR = Estimator(ComputePool(1), NIL)

_HEAD = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]


class Proxy:
    """Bytes from one side to the other."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80

    async def __call__(self, prompt: str, receive: Any, send: Any) -> None:
        """One stream."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        body = msgspec.json.encode({"messages": [{"role": "user", "content": prompt}], "stream": True})
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        )
        await reader.readuntil(b"\r\n\r\n")
        while length := int(await reader.readline(), 16):
            data = await reader.readexactly(length + 2)
            await send({"type": "http.response.body", "body": data[:-2], "more_body": True})
        writer.close()


class Pipe:
    """Ours."""

    def __init__(self, url: str) -> None:
        self._wire = OpenAIWire(Outbound().anywhere, Machine("model", url, None, None), ESTIMATOR)
        self._streams = Streams()

    async def __call__(self, prompt: str, receive: Any, send: Any) -> None:
        """One stream."""
        await self._streams.send(EventStream(self._events(prompt)), receive, send)

    async def _events(self, prompt: str) -> AsyncGenerator[bytes, None]:
        number = 0
        async with aclosing(self._wire.stream(Turn([Message("user", prompt)]))) as arriving:
            async for events in arriving:
                frames = []
                for event in events:
                    number += 1
                    if isinstance(event, TextPiece):
                        frames.append(sse_frame(f"turn.{number}", "delta", {"text": event.text}))
                if frames:
                    yield b"".join(frames)


def app_of(carry: Any) -> Any:
    """An app whose every request is a prompt."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        prompt = msgspec.json.decode((await receive())["body"])["prompt"]
        await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
        await carry(prompt, receive, send)
        await send({"type": "http.response.body", "body": b""})

    return app


if __name__ == "__main__":
    name, port, url = sys.argv[1:]
    carry = {"proxy": Proxy, "pipe": Pipe}[name](url)
    uvicorn.run(
        app_of(carry), port=int(port), loop="uvloop", lifespan="off", access_log=False, log_level="error", backlog=4096
    )

"""A model whose words a test says itself, one by one."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.patience import PATIENCE


@dataclass(slots=True)
class Line:
    """One question on its way: what was asked, and what the test answers."""

    asked: Any
    writer: asyncio.StreamWriter
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, *words: str, **more: Any) -> None:
        for word in words:
            self._send({"choices": [{"delta": {"content": word}}], **more})

    def think(self, *words: str) -> None:
        for word in words:
            self._send({"choices": [{"delta": {"reasoning_content": word}}]})

    def call(self, *calls: tuple[str, Any], finish: bool = True, usage: tuple[int, int] | None = None) -> None:
        """Ask for tools, and end the answer with that."""
        for index, (name, arguments) in enumerate(calls):
            function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
            piece = {"index": index, "id": f"x{index}", "type": "function", "function": function}
            self._send({"choices": [{"delta": {"tool_calls": [piece]}}]})
        if finish:
            self.finish("tool_calls", usage)

    def finish(self, finish: str = "stop", usage: tuple[int, int] | None = None) -> None:
        self._send({"choices": [{"delta": {}, "finish_reason": finish}]})
        if usage is not None:
            self._send({"choices": [], "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}})
        self._write(b"data: [DONE]\n\n")
        self._write(b"", last=True)

    def die(self) -> None:
        self.writer.transport.abort()

    def _send(self, chunk: dict[str, Any]) -> None:
        self._write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def _write(self, data: bytes, *, last: bool = False) -> None:
        if data:
            self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        if last:
            self.writer.write(b"0\r\n\r\n")


@dataclass(slots=True)
class Speaker:
    """Listening; `lines` are the questions in the order they came."""

    port: int = 0
    refusal: int | None = None
    lines: "asyncio.Queue[Line]" = field(default_factory=asyncio.Queue)
    count: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def line(self) -> Line:
        """The next question."""
        return await asyncio.wait_for(self.lines.get(), PATIENCE)

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if head.startswith("get"):
                writer.write(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
                return
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            asked = json.loads(await reader.readexactly(length))
            self.count += 1
            if self.refusal is not None:
                body = b'{"error": {"message": "no"}}'
                writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n%b" % (self.refusal, len(body), body))
                return
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            line = Line(asked, writer)
            self.lines.put_nowait(line)
            await reader.read()
            line.hung_up.set()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def speaking() -> AsyncIterator[Speaker]:
    """Listening; closed at the end."""
    speaker = Speaker()
    server = await asyncio.start_server(speaker._reply, "127.0.0.1", 0, limit=1 << 24)
    speaker.port = server.sockets[0].getsockname()[1]
    async with server:
        yield speaker

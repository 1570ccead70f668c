"""A server that says exactly what a test tells it to, for what a healthy model never does."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


def chunk(text: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    said = {"content": text} if text is not None else {}
    return {"choices": [{"delta": said | delta, "finish_reason": finish}]}


def events(*chunks: dict[str, Any] | bytes, done: bool = True) -> bytes:
    """An event stream of these."""
    lines = [one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode() for one in chunks]
    return b"".join(b"data: " + line + b"\n\n" for line in [*lines, *([b"[DONE]"] if done else [])])


@dataclass(slots=True)
class Answer:
    """One reply; `missing` bytes are promised and never sent, and while it `hangs` the line stays open for them.

    One that `waits` sends nothing before it is told to go.
    """

    body: bytes = b""
    status: int = 200
    type: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    hangs: bool = False
    waits: bool = False


@dataclass(slots=True)
class Scripted:
    """Answers in order, the last one again and again; `asked` is what came, `left` says that somebody hung up."""

    answers: list[Answer]
    port: int = 0
    asked: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
        }
        self.asked.append((headers, json.loads(await reader.readexactly(int(headers["content-length"])))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.waits:
            await self.go.wait()
        told = {
            "content-type": answer.type,
            "content-length": str(len(answer.body) + answer.missing),
            "connection": "close",
        }
        lines = [f"{name}: {value}" for name, value in (told | answer.headers).items()]
        writer.write("\r\n".join([f"HTTP/1.1 {answer.status} X", *lines, "", ""]).encode() + answer.body)
        await writer.drain()
        if answer.hangs:
            await reader.read()
            self.left.set()
        writer.close()


@asynccontextmanager
async def scripted(*answers: Answer) -> AsyncIterator[Scripted]:
    """Listening; closed at the end."""
    script = Scripted(list(answers))
    server = await asyncio.start_server(script.reply, "127.0.0.1", 0)
    script.port = server.sockets[0].getsockname()[1]
    async with server:
        yield script

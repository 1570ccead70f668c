"""A line to a model's server that remembers what the server itself told about its tokens, and can be cut."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Told:
    """What the model's server said in one answer: the text so far and its own count, piece by piece."""

    pieces: list[tuple[str, int]] = field(default_factory=list)
    prompt: int = 0
    whole: bool = False

    def count_at(self, text: str) -> set[int]:
        """The counts that were told when the text was exactly this."""
        return {count for said, count in self.pieces if said == text}


@dataclass(slots=True)
class CountingLine:
    """Passes questions on to a model's server; a question that names a number is remembered by it.

    `cut N` in a question breaks its line after so many pieces, `slow` passes pieces on one by one. Without `tells` the server's
    counts are kept back, also from the end of an answer that is cut.
    """

    target: int
    tells: bool = True
    port: int = 0
    told: dict[int, Told] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError), contextlib.closing(writer.transport):
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET"):
                # A probe.
                writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                await writer.drain()
                return
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
            body = await reader.readexactly(length)
            await self._pass_on(head, body, reader, writer)

    async def _pass_on(
        self, head: bytes, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        asked = json.loads(body) if body else {}
        words = asked["messages"][-1]["content"].split() if asked else ["-"]
        told = self.told.setdefault(int(words[0]), Told()) if words[0].isdigit() else Told()
        cut = int(words[words.index("cut") + 1]) if "cut" in words else None
        # The count is always asked for, and passed on only when this line tells.
        body = json.dumps(asked | {"timings_per_token": True}).encode() if asked else body
        upward, model = await asyncio.open_connection("127.0.0.1", self.target, limit=1 << 24)
        lines = head.split(b"\r\n")
        kept = [line for line in lines if not line.lower().startswith((b"content-length", b"connection"))]
        sized = [*kept[:1], b"connection: close", b"content-length: %d" % len(body), *kept[1:]]
        gone = asyncio.ensure_future(reader.read())
        try:
            model.write(b"\r\n".join(sized) + body)
            writer.write(await upward.readuntil(b"\r\n\r\n"))
            while (size := int((await upward.readline()) or b"0", 16)) and not gone.done():
                chunk = (await upward.readexactly(size + 2))[:-2]
                for event in chunk.split(b"\n\n"):
                    if not event.strip():
                        continue
                    passed = self._heard(told, event)
                    if passed:
                        data = passed + b"\n\n"
                        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
                    if "slow" in words:
                        await asyncio.sleep(0.004)
                    if cut is not None and len(told.pieces) >= cut:
                        await writer.drain()
                        # What is on its way arrives; then the line is dead.
                        await asyncio.sleep(0.05)
                        return
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            gone.cancel()
            model.close()

    def _heard(self, told: Told, event: bytes) -> bytes:
        data = event.removeprefix(b"data: ")
        if data == b"[DONE]":
            told.whole = True
            return event
        piece: dict[str, Any] = json.loads(data)
        timings = piece.pop("timings", None) if not self.tells else piece.get("timings")
        if timings:
            told.prompt = timings["prompt_n"] + timings.get("cache_n", 0)
        for choice in piece.get("choices") or []:
            text = (told.pieces[-1][0] if told.pieces else "") + (choice["delta"].get("content") or "")
            if timings:
                told.pieces.append((text, timings["predicted_n"]))
        if piece.get("usage"):
            told.prompt = piece["usage"]["prompt_tokens"]
            last = told.pieces[-1][0] if told.pieces else ""
            told.pieces.append((last, piece["usage"]["completion_tokens"]))
        return b"data: " + json.dumps(piece).encode()


@asynccontextmanager
async def counting(target: int, *, tells: bool) -> AsyncIterator[CountingLine]:
    """Listening; closed at the end."""
    line = CountingLine(target, tells)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0, limit=1 << 24, backlog=512)
    line.port = server.sockets[0].getsockname()[1]
    async with server:
        yield line

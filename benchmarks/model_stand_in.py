"""A model's server that only talks: `python -m benchmarks.model_stand_in PORT`. The prompt `300 5` gets 300 pieces at 5 a second.

Every piece is a word with the moment at which it was said, in milliseconds of the machine's own clock.
"""

import asyncio
import contextlib
import json
import sys
import time

import uvloop

_PIECE = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":"word%d "},"finish_reason":null}]}\n\n'
)
_END = (
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}\n\ndata: [DONE]\n\n'
)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, one answer."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            writer.close()
            return
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        asked = json.loads(await reader.readexactly(length))
        count, rate = asked["messages"][-1]["content"].split()[:2]
        # Said beforehand, or a client would keep the connection and ask on it again.
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
        writer.write(head + b"transfer-encoding: chunked\r\n\r\n")
        for _ in range(int(count)):
            if writer.is_closing():
                return
            _write(writer, _PIECE % (time.monotonic() * 1000))
            await asyncio.sleep(1 / float(rate))
        _write(writer, _END % int(count))
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    writer.close()


def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


async def main(port: int) -> None:
    """Until it is killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))

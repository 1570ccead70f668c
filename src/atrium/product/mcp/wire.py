"""The official SDK, loaded when the first server is connected: one client a server, over HTTP or a command's pipes."""

import asyncio
import errno
import logging
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from atrium import __version__
from atrium.kit.isolation import process_guard
from atrium.product.mcp.definitions import MOST_TOOLS, ServerTool
from atrium.product.mcp.server_model import STATELESS
from atrium.seams.setting_values import McpServer
from atrium.seams.settings import search_path

# Of one message of a server, and of one line of a command.
_MOST_BYTES = 4 << 20
_MOST_PAGES = 20
_CONNECT_SECONDS, _READ_SECONDS = 10.0, 120.0
# A command may have to fetch itself first.
_BEGIN_SECONDS = 90.0


class TooMuch(Exception):
    """A server sent more than is read of it."""


class McpConnection:
    """A client of one server."""

    def __init__(self, client: Any, *, over_http: bool) -> None:
        self._client = client
        self.protocol: str = client.protocol_version
        # Whether the SDK goes on reading the answer to a call that was given up, for as long as the server sends.
        self.keeps_streams = over_http and self.protocol != STATELESS
        self.under_way = 0
        self.abandoned = 0

    async def list_tools(self) -> list[ServerTool]:
        """What the server has now."""
        told, cursor = list[ServerTool](), None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            told += [ServerTool(one.name, one.description or "", one.input_schema) for one in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(told) > MOST_TOOLS:
                break
        return told

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """What the tool returned, in the SDK's own types."""
        return await self._client.call_tool(name, arguments)


@asynccontextmanager
async def connect(server: McpServer, on_changed: Callable[[], None]) -> AsyncIterator[McpConnection]:
    """A connection, ended by the task that began it; `on_changed` is called when the server says that its tools changed."""
    # The import takes a second; not on the event loop.
    mcp, http, stdio = await asyncio.to_thread(_load)

    async def heed(message: Any) -> None:
        if type(message).__name__ == "ToolListChangedNotification":
            on_changed()

    async with AsyncExitStack() as stack:
        if server.url is not None:
            # A session of the older era is left to end by itself: a server could hold up the one who says goodbye.
            transport = http.streamable_http_client(
                server.url,
                http_client=await stack.enter_async_context(_http_client(server)),
                max_sse_event_size=_MOST_BYTES,
                terminate_on_close=False,
            )
        else:
            # Its standard error is this process's, where an operator looks.
            transport = stdio.stdio_client(_command(stdio, server), errlog=None)
        info = import_module("mcp_types").Implementation(name="atrium", version=__version__)
        # Nothing is offered to the server: no sampling, no roots, no elicitation.
        client = mcp.Client(
            transport, client_info=info, cache=None, message_handler=heed, read_timeout_seconds=_READ_SECONDS
        )
        async with asyncio.timeout(_BEGIN_SECONDS):
            entered = await stack.enter_async_context(client)
        yield McpConnection(entered, over_http=server.url is not None)


def _load() -> tuple[Any, Any, Any]:
    # It would log what servers send; what went wrong is told by the exception.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    return import_module("mcp"), import_module("mcp.client.streamable_http"), import_module("mcp.client.stdio")


def _command(stdio: Any, server: McpServer) -> Any:
    """The command below a process that ends it, and all it started, when this one is gone."""
    environment = {"PATH": search_path()} | server.env
    if shutil.which(server.command[0], path=environment["PATH"]) is None:
        raise FileNotFoundError(errno.ENOENT, "there is no such command")
    args = ["-I", "-S", str(Path(process_guard.__file__)), str(_MOST_BYTES), ",".join(environment), *server.command]
    return stdio.StdioServerParameters(
        # Bytes that are no text make one line unreadable, not the connection.
        command=sys.executable,
        args=args,
        env=environment,
        cwd="/",
        encoding_error_handler="replace",
    )


def _http_client(server: McpServer) -> Any:
    httpx2 = import_module("httpx2")

    class Bounded(httpx2.AsyncByteStream):  # type: ignore[misc, name-defined]
        """A body that ends with an error where it gets too long; a stream of events is bounded by the SDK, event by event."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _MOST_BYTES
            async for piece in self._stream:
                left -= len(piece)
                if left < 0:
                    raise TooMuch(f"more than {_MOST_BYTES} bytes in one answer")
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Transport(httpx2.AsyncHTTPTransport):  # type: ignore[misc, name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            response = await super().handle_async_request(request)
            if "event-stream" not in response.headers.get("content-type", ""):
                response.stream = Bounded(response.stream)
            return response

    headers = {"authorization": f"Bearer {server.key}"} if server.key else {}
    timeout = httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
    return httpx2.AsyncClient(transport=Transport(), headers=headers, timeout=timeout, trust_env=False)

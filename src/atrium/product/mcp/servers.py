"""The servers that this process is connected to: each in a task of its own, connected again when it is lost."""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Any

from atrium.engine.tools.pins import pin_of
from atrium.kit.telemetry.log import log
from atrium.product.mcp.definitions import ServerOffer, offered_by
from atrium.product.mcp.model import DefinitionChanged, McpServerState, ServerAway, ServerState
from atrium.product.mcp.results import value_of
from atrium.product.mcp.wire import McpConnection, TooMuch, connect
from atrium.seams.context import Services
from atrium.seams.setting_values import McpServer
from atrium.seams.tools import Tool

# Between two tries to connect, doubled each time.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
# Between two looks at what a server has, which is also how a lost one is found.
_LOOK_SECONDS = 30.0
# In which a server tells its tools; one that does not is lost.
_LIST_SECONDS = 10.0
# In which a server is hung up on; the process does not wait for one that holds the line.
_STOP_SECONDS = 5.0
# For how long a call waits for a server that is being connected again.
_PATIENCE = 3.0
# How many calls may be left without an answer before a server is hung up on while others are under way.
_MOST_ABANDONED = 20
# How the SDK begins to tell of an answer that it cannot read, and goes on with what came.
_QUOTING = ("Failed to parse", "SSE stream failed", "Unexpected content type", "Redirect to")


class NoReply(Exception):
    """A call was given up whose answer the server may still be sending; only hanging up ends that."""


class ToolServer:
    """One server and what is known of it."""

    def __init__(self, settings: McpServer) -> None:
        self.settings = settings
        self.state: ServerState = "connecting"
        self.error: str | None = None
        self.protocol: str | None = None
        self.seen_at: datetime | None = None
        self.offered = ServerOffer({}, [])
        self._connection: McpConnection | None = None
        self._connected = asyncio.Event()
        # Set when its tools are to be looked at before the next round: it said so, or a call failed.
        self._look = asyncio.Event()
        self._looking = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to connect."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Hang up; a command that was started for it ends."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_STOP_SECONDS)

    def as_state(self) -> McpServerState:
        """As people see it."""
        return McpServerState(
            name=self.settings.name,
            transport="stdio" if self.settings.url is None else "http",
            state=self.state,
            protocol=self.protocol,
            tools=sorted(self.offered.tools),
            left_out=self.offered.left_out,
            error=self.error,
            seen_at=self.seen_at,
        )

    async def _keep(self) -> None:
        """Connected for as long as the process lives; the pause between tries grows while none succeeds."""
        pause = FIRST_PAUSE
        while True:
            self._look.clear()
            try:
                async with connect(self.settings, self._look.set) as connection:
                    await self._use(connection)
                    pause = FIRST_PAUSE
                    try:
                        await self._watch(connection)
                    finally:
                        self._let_go()
            except (Exception, asyncio.CancelledError) as error:  # an outermost loop: a server may fail in any way
                self._lose(error)
                if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling():
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _use(self, connection: McpConnection) -> None:
        await self._read(connection)
        self._connection, self.protocol = connection, connection.protocol
        self.state, self.error = "connected", None
        self._connected.set()
        log.info("mcp.connected", server=self.settings.name, protocol=self.protocol, tools=len(self.offered.tools))

    async def _watch(self, connection: McpConnection) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), _LOOK_SECONDS)
            self._look.clear()
            if connection.keeps_streams and _is_abandoned(connection):
                raise NoReply
            await self._read(connection)

    async def _read(self, connection: McpConnection) -> None:
        """Learn what the server has now; one at a time, so that no older answer replaces a newer one."""
        async with self._looking:
            async with asyncio.timeout(_LIST_SECONDS):
                told = await connection.list_tools()
            self.offered = await asyncio.to_thread(offered_by, self.settings, told, self._call, self.offered)
            self.seen_at = datetime.now(UTC)

    def _let_go(self) -> None:
        """From here on calls wait for the next connection."""
        self._connection = None
        self._connected.clear()

    def _lose(self, error: BaseException) -> None:
        self._let_go()
        self.state, self.error = "failed", reason_of(error)
        log.warning("mcp.lost", server=self.settings.name, error=error)

    # Calls

    async def _call(self, tool: Tool, arguments: dict[str, Any]) -> Any:
        """Call a tool, if the server still defines it as it was when a team turned it on."""
        connection = await self._reached()
        connection.under_way += 1
        try:
            await self._read(connection)
            known = self.offered.tools.get(tool.name)
            if known is None or pin_of(known) != pin_of(tool):
                raise DefinitionChanged(
                    f"{tool.source} has changed {tool.name}; an admin reviews that under Features and tools"
                )
            result = await connection.call_tool(tool.origin, arguments)
        except DefinitionChanged:
            raise
        except asyncio.CancelledError:
            # It took too long: perhaps the server is gone.
            connection.abandoned += 1
            self._look.set()
            raise
        except Exception as error:  # whatever the SDK meets; the server itself is looked at again
            connection.abandoned += isinstance(error, TimeoutError)
            self._look.set()
            raise ServerAway(f"{tool.source} did not answer the call of {tool.name}: {reason_of(error)}") from error
        finally:
            connection.under_way -= 1
            if _is_abandoned(connection):
                self._look.set()
        return value_of(tool, result)

    async def _reached(self) -> McpConnection:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._connected.wait(), _PATIENCE)
        if self._connection is None:
            why = self.error or "it is being connected"
            raise ServerAway(f"the MCP server {self.settings.name} is not connected: {why}; try again later")
        return self._connection


def _is_abandoned(connection: McpConnection) -> bool:
    """Whether calls were given up, and none that would be lost is under way or they are too many."""
    return connection.abandoned >= (_MOST_ABANDONED if connection.under_way else 1)


def reason_of(error: BaseException) -> str:
    """Why a server failed, in words that hold nothing of its address or its key."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case TooMuch():
            return str(error)
        case FileNotFoundError() | PermissionError():
            return f"its command cannot be started: {error.strerror}"
        case TimeoutError() | NoReply():
            return "it does not answer in time"
        case _ if type(error).__name__ == "MCPError" and _quotes(str(error)):
            return "it answers what is no MCP"
        case _ if type(error).__name__ == "MCPError" and "closed" not in str(error).lower():
            return f"it answers: {str(error)[:300]}"
        case OSError() if error.strerror:
            return error.strerror
    return {
        "ConnectError": "it cannot be reached",
        "MCPError": "it hung up",
        "ClosedResourceError": "it hung up",
        "BrokenResourceError": "it hung up",
        "EndOfStream": "it hung up",
        "CancelledError": "this server is stopping",
        "ValidationError": "it answers what is no MCP",
    }.get(type(error).__name__, f"it failed ({type(error).__name__})")


def _quotes(told: str) -> bool:
    """Whether the SDK tells of an answer that it cannot read, in words of which some came with that."""
    return "validation error" in told or told.startswith(_QUOTING)


async def start(services: Services) -> list[ToolServer]:
    """Begin to connect to every server of the settings."""
    servers = [ToolServer(one) for one in services.settings.mcp_servers]
    for server in servers:
        server.start()
    return servers


async def stop(services: Services, servers: list[ToolServer]) -> None:
    """Hang up on all of them."""
    await asyncio.gather(*(server.stop() for server in servers))

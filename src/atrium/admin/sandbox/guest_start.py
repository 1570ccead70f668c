"""Starting a guest's process in the sandbox, and reading the tools it introduces itself with."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable
from typing import Any

from atrium.admin.sandbox.model import Guest, GuestBroke, GuestManifest, GuestUnavailable, Introduction, ToolDefinition
from atrium.admin.sandbox.process import LONGEST_LINE, GuestProcess
from atrium.engine.tools.descriptions import readable, readable_schema
from atrium.ground.access.model import PERMISSIONS
from atrium.ground.features.model import FEATURES
from atrium.kit.errors import AppError
from atrium.kit.isolation.sandbox import Limits, Program, SandboxedProcess, SandboxUnavailable
from atrium.kit.schemas.cost import SchemaRefused
from atrium.kit.schemas.parse import compile_schema
from atrium.seams.context import Operation, Services
from atrium.seams.guests import Capability
from atrium.seams.tools import Tool, problems_with

PERMISSION = "chat:use"
_FOLDER = "/guest"
_COMPLAINT_SECONDS = 0.5
# A spinning guest must not take the processor from the server.
_NICE = 5
# A call waits for its turn and for a process to start, besides the time it may take.
_WAITING = 40

# Calls a tool: takes the caller's operation, the guest's id, the tool and the arguments.
Call = Callable[[Operation, str, Tool, Any], Awaitable[Any]]


def granted_to(services: Services, manifest: GuestManifest) -> frozenset[Capability]:
    """What a guest may use: what its manifest asks for, as far as the operator grants it."""
    return frozenset(manifest.capabilities) & services.settings.oop_grants.of(manifest.id)


async def start_process(services: Services, guest: Guest) -> tuple[GuestProcess, Introduction]:
    """A new process of a guest, which has introduced itself; its complaints are not kept, because they may be about a company."""
    return await _introduced(services, guest, DEVNULL)


async def introduce(services: Services, guest: Guest) -> Introduction:
    """What a guest says about itself in a process that serves no company; a failure tells what it complained about."""
    process, introduction = await _introduced(services, guest, PIPE)
    await process.end()
    return introduction


async def _introduced(services: Services, guest: Guest, stderr: int) -> tuple[GuestProcess, Introduction]:
    manifest = guest.manifest
    if manifest is None:
        raise GuestUnavailable(guest.error)
    program = Program(
        command=manifest.command,
        limits=Limits(memory=manifest.memory << 20, nice=_NICE),
        shown=((guest.folder, _FOLDER),),
        folder=_FOLDER,
    )
    try:
        confined = await services.sandbox.start(program, stderr=stderr, line=LONGEST_LINE)
    except SandboxUnavailable as error:
        raise GuestUnavailable(f"there is no working sandbox: {error}") from error
    except OSError as error:
        raise GuestUnavailable(f"no process could be started: {error}") from error
    process = GuestProcess(confined, manifest.seconds)
    try:
        return process, await process.introduce(sorted(granted_to(services, manifest)))
    except AppError as error:
        complaint = await _complaint(confined)
        raise GuestBroke(f"{error.message}{complaint}") from error
    finally:
        if not process.has_introduced_itself:
            await process.end()


async def _complaint(confined: SandboxedProcess) -> str:
    """The last line that the guest wrote to standard error, where that is read."""
    stream = confined.process.stderr
    if stream is None:
        return ""
    said = b""
    try:
        async with asyncio.timeout(_COMPLAINT_SECONDS):
            while piece := await stream.read(4096):
                said = (said + piece)[-4096:]
    except TimeoutError:
        pass
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return f"; it complained: {lines[-1].strip()[:200]}" if lines else ""


def tools_of(services: Services, manifest: GuestManifest, said: Introduction, call: Call) -> tuple[Tool, ...]:
    """The tools of an introduction; refused whole when one of them could not be listed or called."""
    tools = tuple(_tool(services, manifest, one, call) for one in said.tools)
    if len({tool.name for tool in tools}) < len(tools):
        raise GuestBroke("two of the guest's tools have one name")
    for tool in tools:
        problems = list(problems_with(tool, PERMISSIONS, FEATURES))
        if (tool.schema or {}).get("type") != "object":
            problems.append("its parameters must be a schema of the type object")
        try:
            compile_schema(dict(tool.schema or {}))
        except SchemaRefused as error:
            problems.append(str(error))
        if problems:
            raise GuestBroke(f"the guest's tool {tool.name}: {problems[0][:300]}")
    return tools


def _tool(services: Services, manifest: GuestManifest, said: ToolDefinition, call: Call) -> Tool:
    async def perform(op: Operation, arguments: Any) -> Any:
        return await call(op, manifest.id, tool, arguments)

    try:
        schema = readable_schema({"type": "object", **said.parameters})
    except SchemaRefused as error:
        raise GuestBroke(f"the guest's tool {said.name}: the schema of its parameters is refused: {error}") from error
    tool = Tool(
        name=f"oop_{manifest.id}_{said.name}",
        origin=said.name,
        description=readable(said.description),
        permission=PERMISSION,
        perform=perform,
        schema=schema,
        effect=services.settings.oop_effects.of(manifest.id, said.name),
        untrusted=True,
        seconds=manifest.seconds + _WAITING,
        source=f"oop:{manifest.id}",
    )
    return tool

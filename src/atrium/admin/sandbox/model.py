"""The nouns of guests."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from atrium.engine.tools.model import ToolFailed, ToolTimedOut
from atrium.kit.errors import Forbidden, Unavailable
from atrium.kit.isolation.process_pool import ProcessPool
from atrium.seams.guests import Capability, GuestId, ToolName
from atrium.seams.tools import Tool

GuestState = Literal["ready", "running", "failed", "unavailable"]
MOST_TOOLS = 32


class GuestManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """guest.toml: what a guest says about itself. `memory` is in MiB; `seconds` is what one call may take."""

    id: GuestId
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    version: Annotated[str, msgspec.Meta(pattern=r"^\d+\.\d+\.\d+$(?!\n)")]
    description: Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
    command: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=400, pattern=r"^[^\x00]*$")], ...],
        msgspec.Meta(min_length=1, max_length=32),
    ]
    capabilities: tuple[Capability, ...] = ()
    memory: Annotated[int, msgspec.Meta(ge=16, le=4096)] = 512
    seconds: Annotated[int, msgspec.Meta(ge=1, le=300)] = 30


@dataclass(slots=True)
class Guest:
    """One guest as this process knows it; without a manifest when that cannot be read."""

    id: str
    folder: Path
    # Stands for everything in the folder: another one means another program.
    signature: bytes = b""
    manifest: GuestManifest | None = None
    tools: tuple[Tool, ...] = ()
    error: str = ""
    failures: int = 0
    retry_at: float = 0
    # Processes that broke off, by the company they served.
    restarts: Counter[UUID] = field(default_factory=Counter)


@dataclass(slots=True)
class Guests:
    """Every guest that this process knows, and the processes that run for companies."""

    pool: ProcessPool[Any]
    known: dict[str, Guest] = field(default_factory=dict)
    learning: asyncio.Lock = field(default_factory=asyncio.Lock)
    # The first look at the folders, which goes on when the server is ready before it.
    first: "asyncio.Task[None] | None" = None


class GuestCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A guest as the caller's company has it."""

    id: str
    name: str
    version: str
    state: GuestState
    tools: list[str]
    capabilities: list[Capability]
    granted: list[Capability]
    restarts: int
    error: str | None = None


class SandboxCard(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether guests can be started here, and if not, why."""

    available: bool
    reason: str | None = None


class GuestPage(msgspec.Struct, frozen=True, kw_only=True):
    """Every guest."""

    items: list[GuestCard]
    next_cursor: str | None = None
    sandbox: SandboxCard


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool as the guest describes it; `parameters` is a JSON schema of an object."""

    name: ToolName
    description: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    parameters: dict[str, Any] = {}


class Introduction(msgspec.Struct, frozen=True):
    """What a guest answers to `initialize`."""

    protocol: Literal[1]
    tools: Annotated[list[ToolDefinition], msgspec.Meta(max_length=MOST_TOOLS)]
    capabilities: list[str] = []


class GuestBroke(ToolFailed):
    """The guest ended, or said something that is not the protocol; its process is gone and the next call gets a new one."""

    code, title = "sandbox.guest_broke", "The guest broke off"


class GuestChanged(ToolFailed):
    """The tool is not what the team turned on any more; found out before it was called."""

    code, title = "sandbox.changed", "The tool has changed"


class GuestRefused(ToolFailed):
    """The guest answered a call with an error."""

    code, title = "sandbox.guest_refused", "The guest refused the call"


class GuestTimedOut(ToolTimedOut):
    """The guest took longer than a call may."""

    code = "sandbox.timed_out"


class GuestsBusy(Unavailable):
    """Every process is in use."""

    code, title = "sandbox.busy", "All guests are busy"


class GuestUnavailable(Unavailable):
    """The guest cannot be started here."""

    code, title = "sandbox.unavailable", "The guest cannot be started"


class NotGranted(Forbidden):
    """The guest asks for something that the operator has not granted, or that its call may not do."""

    code, title = "sandbox.not_granted", "Not granted to this guest"

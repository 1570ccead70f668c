"""What a domain or a plugin declares, and the registry that collects it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.kit.errors import Invalid
from atrium.seams.blobs import BlobStoreFactory
from atrium.seams.jobs import JobKind
from atrium.seams.onboarding import Experience
from atrium.seams.sharing import Shareable
from atrium.seams.tools import Tool, ToolSource
from atrium.seams.turns import TurnKind
from atrium.seams.workflows import Workflow


class UserError(Invalid):
    """Raised by a plugin for what its caller did wrong; answered with 400 and the message."""

    code = "plugins.refused"


@dataclass(frozen=True, slots=True)
class Listener:
    """Hears an event from a lower floor, inside the transaction that announces it."""

    event: type
    hear: Callable[[Any, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Chore:
    """Background work of a domain: `run` takes the services, in every process, so many seconds after it last ended.

    Several processes may run it at the same moment. A `last` one also runs when a process stops.
    """

    name: str
    seconds: float
    run: Callable[[Any], Awaitable[object]]
    last: bool = False


@dataclass(frozen=True, slots=True)
class Keeper:
    """A domain that keeps what counts as storage: `count` takes a transaction and a company and adds up what is there, by team.

    It is asked to check the books, which are kept by the rows themselves. What belongs to no team is the company's.
    """

    part: Literal["files", "notes", "workflows", "jobs"]
    count: Callable[[Any, UUID], Awaitable[Mapping[UUID, int]]]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A column of a company's table that the instance's key seals; `binding` takes the row's other columns as text."""

    table: str
    column: str
    binding: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain: its name in the route table and what it plugs in.

    `start` takes the services when a process starts and returns what `stop` takes, after them, when it stops.
    """

    name: str
    handlers: ModuleType | None = None
    tools: tuple[Tool, ...] = ()
    tool_sources: tuple[ToolSource, ...] = ()
    job_kinds: tuple[JobKind, ...] = ()
    turn_kinds: tuple[TurnKind, ...] = ()
    listeners: tuple[Listener, ...] = ()
    chores: tuple[Chore, ...] = ()
    shareables: tuple[Shareable, ...] = ()
    keepers: tuple[Keeper, ...] = ()
    start: Callable[[Any], Awaitable[Any]] | None = None
    stop: Callable[[Any, Any], Awaitable[None]] | None = None
    # Takes (database, keys): seals the domain's secrets again under the newest key, and returns how many it changed.
    reseal: Callable[[Any, Any], Awaitable[int]] | None = None
    # What of a company's rows it seals: sealed again when a company moves.
    sealed: tuple[Sealed, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginRequest:
    """What a plugin's route receives: path parameters, and query and decoded JSON body, as their types where the row names some."""

    params: Mapping[str, str]
    query: Any
    body: Any


@dataclass(frozen=True, slots=True)
class PluginRoute:
    """A route below /api/x/<plugin id>; the handler takes (context, PluginRequest) and returns what becomes JSON.

    A handler whose first parameter is annotated as an Operation runs outside a transaction, for work that waits.
    `query` and `body` are structs: what does not fit them is refused before the handler, and the reference shows them, as it
    shows `reply`. Without them the handler gets what came.
    """

    method: str
    path: str
    permission: str
    handler: Callable[..., Awaitable[Any]]
    doc: str
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    reply: Any = Any

    @property
    def name(self) -> str:
        """What programs that are generated from the reference call it."""
        return "_".join([self.method.lower(), *re.findall(r"\w+", self.path.replace(":", "by_"))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Everything one plugin contributes; loaded whole or not at all.

    `workflows` are specs as `POST /api/workflows` takes them, `onboarding` is the sign-up experience, both as JSON objects.
    Pages for browsers need no field: they are the folders `bundle/` and `landing/` beside the manifest.
    """

    tools: tuple[Tool, ...] = ()
    routes: tuple[PluginRoute, ...] = ()
    job_kinds: tuple[JobKind, ...] = ()
    blob_stores: Mapping[str, BlobStoreFactory] = field(default_factory=dict)
    workflows: tuple[Mapping[str, Any], ...] = ()
    onboarding: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlugin:
    """A plugin that passed every check, with its manifest and what was read of its documents."""

    id: str
    name: str
    version: str
    description: str
    plugin: Plugin
    workflows: tuple[Workflow, ...] = ()
    onboarding: Experience | None = None
    # Folders of pages that it has, by name.
    bundles: Mapping[str, Path] = field(default_factory=dict)
    # What its page in the console is called, by language; None without a page.
    page: Mapping[str, str] | None = None


@dataclass(slots=True)
class Registry:
    """What every domain and plugin plugged in; complete before the first request."""

    tools: dict[str, Tool] = field(default_factory=dict)
    tool_sources: list[ToolSource] = field(default_factory=list)
    job_kinds: dict[str, JobKind] = field(default_factory=dict)
    turn_kinds: list[TurnKind] = field(default_factory=list)
    listeners: dict[type, list[Listener]] = field(default_factory=dict)
    shareables: dict[str, Shareable] = field(default_factory=dict)
    blob_stores: dict[str, BlobStoreFactory] = field(default_factory=dict)
    plugins: dict[str, LoadedPlugin] = field(default_factory=dict)
    failed_plugins: dict[str, str] = field(default_factory=dict)
    openapi: bytes = b""
    reference: bytes = b""
    reference_policy: str = "default-src 'none'"

    def listeners_of(self, event: type) -> list[Listener]:
        """Who hears this event, in wiring order."""
        return self.listeners.get(event, [])

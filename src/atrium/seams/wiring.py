"""What a domain or a plugin plugs into the house, and the registry it ends up in."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from atrium.kit.errors import Invalid
from atrium.seams.blobs import BlobStoreFactory
from atrium.seams.jobs import JobKind
from atrium.seams.tools import Tool


class UserError(Invalid):
    """Raised by a plugin for what its caller did wrong; answered with 400 and the message."""

    code = "plugins.refused"


@dataclass(frozen=True, slots=True)
class Listener:
    """Hears an event from a lower floor, inside the transaction that announces it."""

    event: type
    hear: Callable[[Any, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Domain:
    """One room: its name in the route table and what it plugs in."""

    name: str
    handlers: ModuleType | None = None
    tools: tuple[Tool, ...] = ()
    job_kinds: tuple[JobKind, ...] = ()
    listeners: tuple[Listener, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginRequest:
    """What a plugin's route receives: path parameters, query and decoded JSON body."""

    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class PluginRoute:
    """A route below /api/x/<plugin id>; the handler takes (context, PluginRequest) and returns what becomes JSON."""

    method: str
    path: str
    permission: str
    handler: Callable[..., Awaitable[Any]]
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Everything one plugin contributes; loaded whole or not at all."""

    tools: tuple[Tool, ...] = ()
    routes: tuple[PluginRoute, ...] = ()
    job_kinds: tuple[JobKind, ...] = ()
    blob_stores: Mapping[str, BlobStoreFactory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlugin:
    """A plugin that passed every check, with its manifest."""

    id: str
    name: str
    version: str
    description: str
    plugin: Plugin


@dataclass(slots=True)
class Registry:
    """What every domain and plugin plugged in; complete before the first request."""

    tools: dict[str, Tool] = field(default_factory=dict)
    job_kinds: dict[str, JobKind] = field(default_factory=dict)
    listeners: dict[type, list[Listener]] = field(default_factory=dict)
    blob_stores: dict[str, BlobStoreFactory] = field(default_factory=dict)
    plugins: dict[str, LoadedPlugin] = field(default_factory=dict)
    failed_plugins: dict[str, str] = field(default_factory=dict)
    openapi: bytes = b""
    reference: bytes = b""
    reference_policy: str = "default-src 'none'"

    def listeners_of(self, event: type) -> list[Listener]:
        """Who hears this event, in wiring order."""
        return self.listeners.get(event, [])

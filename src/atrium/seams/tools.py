"""A tool: a function that models, workflows and plugins call by name."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args
from uuid import UUID

import msgspec

from atrium.kit.errors import AppError
from atrium.kit.signatures import is_async_of, returns

ParameterType = Literal["string", "integer", "number", "boolean", "array", "object"]
# What a call does besides answering: nothing, change something here, or send something elsewhere.
Effect = Literal["read", "write", "egress"]
ArtifactKind = Literal["document", "table", "text", "link", "image"]
RefKind = Literal["note", "document", "object", "entity", "run"]
LONGEST_CALL = 900
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a tool; required unless marked optional."""

    name: str
    type: ParameterType
    description: str = ""
    optional: bool = False
    choices: tuple[str, ...] = ()
    items: "ParameterType | tuple[Parameter, ...] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declaration and its function, which is one of three.

    `run` takes (database transaction, principal, arguments) and is done soon; what it writes commits with its audit event.
    A tool whose effect is `read` gets a transaction that cannot write. `act` is the same for the server's own tools, which call
    services: it takes (context, arguments). `perform` takes (operation, arguments), for a tool that waits for a model or another
    machine: it opens its own short transactions and holds none while it waits; one that writes here returns what
    `Context.record_result` gave it in the transaction of its effect. The tools that one with the effect `read` calls may have no
    other effect.

    They return text, anything that JSON can express, or an Artifact, within `seconds`. The result of an `untrusted` tool
    may contain what strangers wrote, so a model that has read it is not allowed effects without a person's approval.
    One that serves a `feature` is refused while the caller's team has that off.
    """

    name: str
    description: str
    permission: str
    run: Callable[..., Awaitable[Any]] | None = None
    act: Callable[..., Awaitable[Any]] | None = None
    perform: Callable[..., Awaitable[Any]] | None = None
    parameters: tuple[Parameter, ...] = ()
    # The JSON schema of the arguments where it comes with the tool, as from another server; otherwise made of `parameters`.
    schema: Mapping[str, Any] | None = None
    # A tool of a source that does not say counts as one that writes.
    effect: Effect | None = None
    untrusted: bool = True
    seconds: float = 30
    # Whether the statements of its call may take long; only for what is done within the call's own transaction.
    long: bool = False
    feature: str | None = None
    source: str = "core"
    # What its own server calls it, where that is another name.
    origin: str = ""

    @property
    def foreign(self) -> bool:
        """Whether it is a guest's or another server's: what it knows, and from whom, is not known here."""
        return not self.source.startswith(("core", "plugin:"))

    @property
    def sends_out(self) -> bool:
        """Whether a call leaves this server: another server gets the arguments, also where its tool only reads."""
        return self.effect == "egress" or self.source.startswith("mcp:")

    @property
    def acts_elsewhere(self) -> bool:
        """Whether no transaction here holds its effect, so that one whose end was not seen may have happened."""
        return self.effect == "egress" or self.foreign

    @property
    def must_record(self) -> bool:
        """Whether it writes here in transactions of its own, and so records its result itself."""
        return self.perform is not None and self.effect == "write" and not self.foreign


class ArtifactRef(msgspec.Struct, frozen=True):
    """What is opened from an artifact's card."""

    kind: RefKind
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """Something a tool made: shown as a card to people and as one line to a model, kept whole by a workflow step.

    `ref` is what its card opens, of one with an `object_id` that file unless said otherwise. `extra` are further values of the tool's
    own that a workflow step may use by name.
    """

    kind: ArtifactKind
    title: str
    summary: str = ""
    content_type: str = ""
    object_id: UUID | None = None
    version_id: UUID | None = None
    ref: ArtifactRef | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in get_args(ArtifactKind):
            raise ValueError(f"{self.kind} is no kind of artifact: {', '.join(get_args(ArtifactKind))}")
        if taken := self.extra.keys() & set(self.__slots__):
            raise ValueError(f"extra values cannot be named {', '.join(sorted(taken))}")
        if self.ref is None and self.object_id is not None:
            object.__setattr__(self, "ref", ArtifactRef("object", self.object_id))

    def as_value(self) -> dict[str, Any]:
        """One JSON object, the extra values beside the others; what is empty is left out."""
        facts = {name: getattr(self, name) for name in self.__slots__ if name not in ("extra", "ref")}
        if self.ref is not None:
            facts["ref"] = msgspec.structs.asdict(self.ref)
        return {**{name: fact for name, fact in facts.items() if fact}, **self.extra}

    def as_text(self) -> str:
        """What a model reads: one line, and the text itself of an artifact that is one."""
        text = self.extra.get("text") if self.kind == "text" else None
        return f"{self.as_line()}\n{text}" if isinstance(text, str) else self.as_line()

    def as_line(self) -> str:
        """One line that says what it is."""
        named = f"{self.ref.kind} {self.ref.id}" if self.ref else ""
        parts = [f"[{self.kind}] {self.title}", self.summary, f"object {self.object_id}" if self.object_id else named]
        return " · ".join(" ".join(part.split()) for part in parts if part)


class RecordedResult(msgspec.Struct, Generic[T], frozen=True):
    """What a tool comes to, recorded with its effect; only `Context.record_result` makes one."""

    value: T


class ToolSource(Protocol):
    """Tools that come and go while the server runs. A team has each of them only after turning it on.

    Both functions take the caller's context; a source may serve some companies only.
    """

    async def list_tools(self, ctx: Any) -> Sequence[Tool]:
        """Every tool there is now for the caller's company."""

    async def find_tool(self, ctx: Any, name: str) -> Tool | None:
        """The tool of this name, or None; a name belongs to one source for good."""


def require_id(arguments: Mapping[str, Any], name: str, refusal: AppError) -> UUID:
    """The argument of this name as an id; raises the refusal when it is none."""
    try:
        return UUID(arguments[name])
    except ValueError as error:
        raise refusal from error


def schema_of(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, as it is shown to a model."""
    return dict(tool.schema) if tool.schema is not None else _schema_of_all(tool.parameters)


def problems_with(tool: Tool, permissions: Collection[str], features: Collection[str]) -> Iterator[str]:
    """What would come out only when the tool is listed or called."""
    if not _NAME.fullmatch(tool.name):
        yield "a name is lower_snake_case"
    if not tool.description:
        yield "needs a description: a model chooses by it"
    if tool.permission not in permissions:
        yield f"unknown permission {tool.permission}"
    if tool.feature is not None and tool.feature not in features:
        yield f"unknown feature {tool.feature}"
    if tool.effect not in get_args(Effect):
        yield "must say its effect: read, write or egress"
    if [tool.run, tool.act, tool.perform].count(None) != 2:
        yield "has one of run, act and perform"
    if tool.run is not None and not is_async_of(tool.run, 3):
        yield "run must be async and take (db, principal, arguments)"
    if tool.act is not None and not is_async_of(tool.act, 2):
        yield "act must be async and take (context, arguments)"
    if tool.perform is not None and not is_async_of(tool.perform, 2):
        yield "perform must be async and take (operation, arguments)"
    if tool.must_record and tool.perform is not None and not returns(tool.perform, RecordedResult):
        yield "perform with the effect write must return a RecordedResult, which Context.record_result gives with the effect"
    if not 0 < tool.seconds <= LONGEST_CALL:
        yield f"seconds are more than 0 and at most {LONGEST_CALL}"
    if not _has_schema(tool):
        yield "parameters must be Parameters"


def _has_schema(tool: Tool) -> bool:
    try:
        msgspec.json.encode(schema_of(tool))
    except (AttributeError, TypeError):
        return False
    return True


def _schema_of_all(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {parameter.name: _schema_of_one(parameter) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if not parameter.optional],
        "additionalProperties": False,
    }


def _schema_of_one(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if isinstance(parameter.items, tuple):
        schema["items"] = _schema_of_all(parameter.items)
    elif parameter.items is not None:
        schema["items"] = {"type": parameter.items}
    return schema

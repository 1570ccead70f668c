"""A workflow's spec, format 1: the same types for one that a plugin brings and one that a team publishes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
ToolName = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Sentence = Annotated[str, msgspec.Meta(max_length=500)]
Retry = Annotated[int, msgspec.Meta(ge=0, le=5)]
Timeout = Annotated[int, msgspec.Meta(ge=1, le=3600)]
# Values, or references to them: {"$": "input.object_id"}.
Binding = Annotated[dict[str, Any], msgspec.Meta(max_length=64)]


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One declared input of a run; required unless marked optional."""

    type: Literal["string", "number", "integer", "boolean", "object", "array"]
    description: Sentence = ""
    optional: bool = False


class ToolStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="tool"):
    """Calls one tool."""

    name: Name
    tool: ToolName
    with_: Binding = msgspec.field(default_factory=dict, name="with")
    description: Sentence = ""
    retry: Retry = 0
    timeout: Timeout | None = None
    terminal: bool = False


class MapStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="map"):
    """Calls one tool for every item of a list."""

    name: Name
    over: list[Any] | dict[str, Any]
    tool: ToolName
    with_: Binding = msgspec.field(default_factory=dict, name="with")
    description: Sentence = ""
    retry: Retry = 0
    timeout: Timeout | None = None
    on_item_error: Literal["fail", "collect"] = "fail"
    terminal: bool = False


class ChoiceStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="choice"):
    """Goes on with one of two later steps."""

    name: Name
    when: Annotated[dict[str, Any], msgspec.Meta(min_length=1, max_length=1)]
    then: Name
    else_: Name = msgspec.field(name="else")
    description: Sentence = ""


Step = ToolStep | MapStep | ChoiceStep


class Workflow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A workflow as it is published."""

    slug: Slug
    start: Name
    max_steps: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    steps: Annotated[list[Step], msgspec.Meta(min_length=1, max_length=64)]
    format: Literal[1] = 1
    version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)] = 1
    title: Annotated[str, msgspec.Meta(max_length=120)] = ""
    description: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    inputs: Annotated[dict[Name, Input], msgspec.Meta(max_length=32)] = {}
    output: Binding | None = None


def read_workflow(document: Mapping[str, Any]) -> Workflow:
    """The spec that a JSON object is; a ValueError says what is wrong with it."""
    spec = msgspec.convert(document, Workflow)
    if problems := list(_problems(spec)):
        raise ValueError("; ".join(problems))
    return spec


def _problems(spec: Workflow) -> Iterator[str]:
    places = {step.name: place for place, step in enumerate(spec.steps)}
    if len(places) < len(spec.steps):
        yield "two steps have the same name"
    if spec.start not in places:
        yield f"start names {spec.start}, which is no step"
    for place, step in enumerate(spec.steps):
        if isinstance(step, ChoiceStep):
            for named in (step.then, step.else_):
                if places.get(named, -1) <= place:
                    yield f"step {step.name} leads to {named}, which is no later step"

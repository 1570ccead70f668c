"""A workflow's spec, format 1: one set of types and one validator for what a plugin brings and what a team publishes."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Annotated, Any, Literal

import jsonschema_rs
import msgspec

from atrium.kit.schemas.validator import Path, locate_fault, pointer
from atrium.kit.work.compute import heavy, run_small
from atrium.seams.workflow_format import NAME, SCHEMA, SLUG, TOOL, TOTAL
from atrium.seams.workflow_outline import SHAPE, Outline, Ways

Slug = Annotated[str, msgspec.Meta(pattern=SLUG)]
Name = Annotated[str, msgspec.Meta(pattern=NAME)]
ToolName = Annotated[str, msgspec.Meta(pattern=TOOL)]
Sentence = Annotated[str, msgspec.Meta(max_length=500)]
Retry = Annotated[int, msgspec.Meta(ge=0, le=5)]
Timeout = Annotated[int, msgspec.Meta(ge=1, le=3600)]
# Values, or references to them: {"$": "input.object_id"}.
Binding = Annotated[dict[str, Any], msgspec.Meta(max_length=64)]
# A tool's name, and the JSON schema of its arguments.
ToolSchemas = Mapping[str, Mapping[str, Any]]

MOST_PROBLEMS = 20
DEEPEST, MOST_VALUES = 64, 20_000
_LARGEST_NUMBER = 1 << 63
_VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)


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
    format: Annotated[int, msgspec.Meta(ge=1, le=1)] = 1
    version: Annotated[int, msgspec.Meta(ge=1, le=2_147_483_647)] = 1
    title: Annotated[str, msgspec.Meta(max_length=120)] = ""
    description: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    inputs: Annotated[dict[Name, Input], msgspec.Meta(max_length=32)] = {}
    output: Binding | None = None


class SpecProblem(msgspec.Struct, frozen=True):
    """What is wrong, where (a JSON pointer; empty for the whole document), and a code that says which rule is broken."""

    path: str
    code: str
    message: str

    @property
    def sentence(self) -> str:
        """Where it is and what it is, as people read it."""
        return locate_fault(self.path, self.message)


def read_workflow(document: Any) -> Workflow:
    """The spec that a JSON object is; a ValueError says everything that is wrong with it."""
    # Shipped with the program or a plugin, not sent by people.
    if problems := run_small(problems_in, document):
        raise ValueError("; ".join(one.sentence for one in problems))
    return stored_workflow(document)


def stored_workflow(document: Any) -> Workflow:
    """The spec that a document is which was found valid before."""
    # JSON has one kind of number: 40.0 is an integer there.
    return msgspec.convert(document, Workflow, strict=False)


@heavy
def problems_in(document: Any, tools: ToolSchemas | None = None) -> list[SpecProblem]:
    """What is wrong with a document as a workflow, `MOST_PROBLEMS` at most; without `tools` it may name any.

    Where a part does not have its shape, what the other parts say is judged all the same, as far as it does not depend on that part.
    """
    if problems := _some(_unkeepable(document)):
        return problems
    misshapen = _misshapen(document)
    outline = Outline(document, whole=not misshapen)
    misled = _some(_misled(outline))
    ways = Ways(outline) if outline.leads and not misled else None
    follow = chain(_unreached(outline, ways), _misbound(outline, ways), _miscalled(outline, tools))
    return _some(chain(misshapen, misled, follow))


def longest_path(spec: Workflow) -> int:
    """How many steps the longest way through takes, each counted once; a map's items come on top when it runs."""
    return max(Ways(Outline(msgspec.to_builtins(spec), whole=True)).longest.values())


def _some(problems: Iterator[SpecProblem]) -> list[SpecProblem]:
    return list(islice(problems, MOST_PROBLEMS))


def _unkeepable(document: Any) -> Iterator[SpecProblem]:
    """What JSON, PostgreSQL or a program's own stack cannot hold."""
    waiting: list[tuple[Any, Path]] = [(document, ())]
    seen = 1
    while waiting:
        value, path = waiting.pop()
        if message := _unkeepable_one(value, len(path)):
            yield SpecProblem(pointer(path), "shape", message)
        elif isinstance(value, dict | list):
            seen += len(value)
            if seen > MOST_VALUES:
                yield SpecProblem("", "shape", f"has more than {MOST_VALUES} values")
                return
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(inner, (*path, name)) for name, inner in inside][::-1]


def _unkeepable_one(value: Any, depth: int) -> str | None:
    if isinstance(value, dict | list):
        if depth >= DEEPEST:
            return f"is nested deeper than {DEEPEST} levels"
        texts = list(value) if isinstance(value, dict) else []
        if not all(isinstance(name, str) for name in texts):
            return "a name must be text"
        return next(filter(None, map(_unkeepable_text, texts)), None)
    if isinstance(value, str):
        return _unkeepable_text(value)
    if isinstance(value, int | float):
        return None if abs(value) < _LARGEST_NUMBER else "must be a number of less than 64 bits"
    return None if value is None else f"{type(value).__name__} is not JSON"


def _unkeepable_text(text: str) -> str | None:
    if "\0" in text:
        return "text cannot contain the character U+0000"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "text cannot contain half of a surrogate pair"
    return None


def _misshapen(document: Any) -> list[SpecProblem]:
    if _VALIDATOR.is_valid(document):
        return []
    found = [
        SpecProblem(pointer(one.path), "shape", one.message) for one in islice(SHAPE.faults(document), MOST_PROBLEMS)
    ]
    return found or [SpecProblem("", "shape", "does not hold to the JSON schema of the format")]


def _misled(outline: Outline) -> Iterator[SpecProblem]:
    """Steps that cannot follow each other as the spec says."""
    places, start = outline.places, outline.start
    for place, part in enumerate(outline.parts):
        if part.name is not None and places[part.name] != place:
            yield SpecProblem(f"/steps/{place}/name", "duplicate", f"a step before is named {part.name} too")
    if start is not None and outline.named and start not in places:
        yield SpecProblem("/start", "unknown_step", f"no step is named {start}")
    for place, part in enumerate(outline.parts):
        for field, named in (("then", part.then), ("else", part.else_)):
            if named is None:
                continue
            if named in places:
                if places[named] <= place:
                    yield SpecProblem(
                        f"/steps/{place}/{field}", "backward", f"{named} does not come after {part.name or 'this step'}"
                    )
            elif outline.named:
                yield SpecProblem(f"/steps/{place}/{field}", "unknown_step", f"no step is named {named}")


def _unreached(outline: Outline, ways: Ways | None) -> Iterator[SpecProblem]:
    if ways is None:
        return
    for place, part in enumerate(outline.parts):
        if place not in ways.before:
            yield SpecProblem(f"/steps/{place}", "unreachable", f"no way leads to {part.name}")
    if outline.max_steps is not None and (longest := max(ways.longest.values())) > outline.max_steps:
        yield SpecProblem("/max_steps", "too_small", f"the longest way has {longest} steps")


def _misbound(outline: Outline, ways: Ways | None) -> Iterator[SpecProblem]:
    """References to what is not there, or may not be there when it is needed."""
    bound = _Bindings(outline, ways)
    for place, part in enumerate(outline.parts):
        at: Path = ("steps", place)
        if part.kind == "choice" and part.when is not None:
            yield from bound.check(part.when, (*at, "when"), place, total=not TOTAL.isdisjoint(part.when))
        if part.calls and part.with_ is not None:
            yield from bound.check(part.with_, (*at, "with"), place, item=part.kind == "map")
        if part.kind == "map" and part.over is not None:
            yield from bound.check(part.over, (*at, "over"), place)
            yield from bound.check_list(part.over, (*at, "over"))
    if outline.output is not None:
        yield from bound.check(outline.output, ("output",), None)


class _Bindings:
    """The references of one spec, each judged by where it stands; without `ways`, what runs before what is not judged."""

    def __init__(self, outline: Outline, ways: Ways | None) -> None:
        self._outline, self._ways = outline, ways

    def check(
        self, value: Any, path: Path, place: int | None, *, item: bool = False, total: bool = False
    ) -> Iterator[SpecProblem]:
        """Judge all references in what a step uses; `total` where something absent is no error, without a place at the run's end."""
        for reference, at in references_in(value, path):
            head, *rest = reference["$"].split(".")
            sure = total or "default" in reference
            if head == "input":
                found = self._of_input(rest[0], sure)
            elif head == "steps":
                found = self._of_step(rest, place, sure)
            else:
                gone = head in ("item", "index") and not item
                found = ("no_item", f"{head} is there only in a map step's with") if gone else None
            if found:
                yield SpecProblem(pointer(at), *found)

    def check_list(self, over: Any, path: Path) -> Iterator[SpecProblem]:
        """Whether a map that goes over an input goes over a list."""
        head, *rest = over["$"].split(".") if isinstance(over, dict) else [""]
        declared = (self._outline.inputs or {}).get(rest[0]) if head == "input" and len(rest) == 1 else None
        if declared is not None and declared["type"] != "array":
            yield SpecProblem(pointer(path), "not_a_list", f"the input {rest[0]} is no array")

    def _of_input(self, name: str, sure: bool) -> tuple[str, str] | None:
        inputs = self._outline.inputs
        if inputs is None:
            return None
        if name not in inputs:
            return "unknown_input", f"no input is named {name}"
        declared = inputs[name]
        if declared is not None and declared.get("optional") and not sure:
            return "may_be_absent", f"the input {name} is optional: give a default"
        return None

    def _of_step(self, rest: list[str], place: int | None, sure: bool) -> tuple[str, str] | None:
        named = self._outline.places.get(rest[0])
        if named is None:
            return ("unknown_step", f"no step is named {rest[0]}") if self._outline.named else None
        kind = self._outline.parts[named].kind
        output = "results" if kind == "map" else "result"
        if kind is not None and rest[2] != output:
            return "wrong_output", f"the output of {rest[0]} is .{output}"
        if self._ways is not None and not sure and not self._ran_before(named, place):
            return "may_be_absent", f"{rest[0]} does not run before this on every way: give a default"
        return None

    def _ran_before(self, named: int, place: int | None) -> bool:
        return self._ways is not None and place is not None and named in self._ways.before.get(place, ())


def references_in(value: Any, path: Path = ()) -> Iterator[tuple[dict[str, Any], Path]]:
    """The references in a binding, each with its path; what is literal, or a default, has none."""
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from references_in(inner, (*path, place))
    elif isinstance(value, dict) and "$" in value:
        yield value, path
    elif isinstance(value, dict) and "$literal" not in value:
        for name, inner in value.items():
            yield from references_in(inner, (*path, name))


def _miscalled(outline: Outline, tools: ToolSchemas | None) -> Iterator[SpecProblem]:
    """Tools that are not there, or do not take what they are given."""
    for place, part in enumerate(outline.parts):
        if tools is None or part.tool is None or not part.calls:
            continue
        schema = tools.get(part.tool)
        if schema is None:
            yield SpecProblem(f"/steps/{place}/tool", "unknown_tool", f"there is no tool {part.tool}")
            continue
        if part.with_ is None:
            continue
        known = schema.get("properties", {})
        for name in part.with_ if not _is_open(schema) else ():
            if name not in known:
                yield SpecProblem(f"/steps/{place}/with/{name}", "unknown_parameter", f"{part.tool} takes no {name}")
        for name in schema.get("required", ()):
            if name not in part.with_:
                yield SpecProblem(f"/steps/{place}/with", "missing_parameter", f"{part.tool} needs {name}")


def _is_open(schema: Mapping[str, Any]) -> bool:
    """Whether a tool of another server says that it takes more than its schema names."""
    return bool(schema.get("additionalProperties", False)) or "patternProperties" in schema

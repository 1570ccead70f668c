"""A workflow's spec, format 1: one set of types and one validator for what a plugin brings and what a team publishes."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Annotated, Any, Literal

import jsonschema_rs
import msgspec

from atrium.kit.compute import heavy, run_small
from atrium.kit.shapes import Path, Shape, pointer
from atrium.seams.workflow_format import NAME, SCHEMA, SLUG, TOOL, TOTAL

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
_SHAPE = Shape(SCHEMA)
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


class Problem(msgspec.Struct, frozen=True):
    """What is wrong, where (a JSON pointer; `/` is the whole document), and a code that says which rule is broken."""

    path: str
    code: str
    message: str


def read_workflow(document: Any) -> Workflow:
    """The spec that a JSON object is; a ValueError says everything that is wrong with it."""
    # Shipped with the program or a plugin, not sent by people.
    if problems := run_small(problems_in, document):
        raise ValueError("; ".join(f"{one.path}: {one.message}" for one in problems))
    return stored_workflow(document)


def stored_workflow(document: Any) -> Workflow:
    """The spec that a document is which was found valid before."""
    # JSON has one kind of number: 40.0 is an integer there.
    return msgspec.convert(document, Workflow, strict=False)


@heavy
def problems_in(document: Any, tools: ToolSchemas | None = None) -> list[Problem]:
    """What is wrong with a document as a workflow, `MOST_PROBLEMS` at most; without `tools` it may name any.

    What the document says is looked at once its shape holds, and what its steps use once they follow each other.
    """
    if problems := _some(_unkeepable(document)) or _misshapen(document):
        return problems
    spec = stored_workflow(document)
    return _some(_misled(spec)) or _some(chain(_unreached(spec), _misbound(spec), _miscalled(spec, tools)))


def longest_path(spec: Workflow) -> int:
    """How many steps the longest way through takes, each counted once; a map's items come on top when it runs."""
    return max(_Ways(spec).longest.values())


def _some(problems: Iterator[Problem]) -> list[Problem]:
    return list(islice(problems, MOST_PROBLEMS))


def _unkeepable(document: Any) -> Iterator[Problem]:
    """What JSON, PostgreSQL or a program's own stack cannot hold."""
    waiting: list[tuple[Any, Path]] = [(document, ())]
    seen = 1
    while waiting:
        value, path = waiting.pop()
        if message := _unkeepable_one(value, len(path)):
            yield Problem(pointer(path), "shape", message)
        elif isinstance(value, dict | list):
            seen += len(value)
            if seen > MOST_VALUES:
                yield Problem("/", "shape", f"has more than {MOST_VALUES} values")
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


def _misshapen(document: Any) -> list[Problem]:
    if _VALIDATOR.is_valid(document):
        return []
    found = [Problem(pointer(one.path), "shape", one.message) for one in islice(_SHAPE.faults(document), MOST_PROBLEMS)]
    return found or [Problem("/", "shape", "does not hold to the JSON schema of the format")]


def _misled(spec: Workflow) -> Iterator[Problem]:
    """Steps that cannot follow each other as the spec says."""
    places: dict[str, int] = {}
    for place, step in enumerate(spec.steps):
        if places.setdefault(step.name, place) != place:
            yield Problem(f"/steps/{place}/name", "duplicate", f"a step before is named {step.name} too")
    if spec.start not in places:
        yield Problem("/start", "unknown_step", f"no step is named {spec.start}")
    for place, step in enumerate(spec.steps):
        if isinstance(step, ChoiceStep):
            for field, named in (("then", step.then), ("else", step.else_)):
                if named not in places:
                    yield Problem(f"/steps/{place}/{field}", "unknown_step", f"no step is named {named}")
                elif places[named] <= place:
                    yield Problem(f"/steps/{place}/{field}", "backward", f"{named} does not come after {step.name}")


class _Ways:
    """All ways through a spec: the steps that certainly ran before each step, and how long the longest way to it is."""

    def __init__(self, spec: Workflow) -> None:
        self.places = {step.name: place for place, step in enumerate(spec.steps)}
        start = self.places[spec.start]
        self.before: dict[int, frozenset[int]] = {start: frozenset()}
        self.longest = {start: 1}
        # A step leads to later ones only, so that one pass settles every step before it is looked at.
        for place, step in enumerate(spec.steps):
            if place in self.before:
                for after in self._after(step, place, len(spec.steps)):
                    self._lead(place, after)

    def _after(self, step: Step, place: int, count: int) -> set[int]:
        if isinstance(step, ChoiceStep):
            return {self.places[step.then], self.places[step.else_]}
        return set() if step.terminal or place + 1 == count else {place + 1}

    def _lead(self, place: int, after: int) -> None:
        ran = self.before[place] | {place}
        self.before[after] = self.before.get(after, ran) & ran
        self.longest[after] = max(self.longest.get(after, 0), self.longest[place] + 1)


def _unreached(spec: Workflow) -> Iterator[Problem]:
    ways = _Ways(spec)
    for place, step in enumerate(spec.steps):
        if place not in ways.before:
            yield Problem(f"/steps/{place}", "unreachable", f"no way leads to {step.name}")
    if (longest := max(ways.longest.values())) > spec.max_steps:
        yield Problem("/max_steps", "too_small", f"the longest way has {longest} steps")


def _misbound(spec: Workflow) -> Iterator[Problem]:
    """References to what is not there, or may not be there when it is needed."""
    bound = _Bindings(spec)
    for place, step in enumerate(spec.steps):
        at: Path = ("steps", place)
        if isinstance(step, ChoiceStep):
            yield from bound.check(step.when, (*at, "when"), place, total=not TOTAL.isdisjoint(step.when))
            continue
        yield from bound.check(step.with_, (*at, "with"), place, item=isinstance(step, MapStep))
        if isinstance(step, MapStep):
            yield from bound.check(step.over, (*at, "over"), place)
            yield from bound.check_list(step.over, (*at, "over"))
    if spec.output is not None:
        yield from bound.check(spec.output, ("output",), None)


class _Bindings:
    """The references of one spec, each judged by where it stands."""

    def __init__(self, spec: Workflow) -> None:
        self._spec, self._ways = spec, _Ways(spec)

    def check(
        self, value: Any, path: Path, place: int | None, *, item: bool = False, total: bool = False
    ) -> Iterator[Problem]:
        """Judge all references in what a step uses; `total` where something absent is no error, without a place at the run's end."""
        ran = frozenset[int]() if place is None else self._ways.before.get(place, frozenset())
        for reference, at in references_in(value, path):
            head, *rest = reference["$"].split(".")
            sure = total or "default" in reference
            if head == "input":
                found = self._of_input(rest[0], sure)
            elif head == "steps":
                found = self._of_step(rest, ran, sure)
            else:
                gone = head in ("item", "index") and not item
                found = ("no_item", f"{head} is there only in a map step's with") if gone else None
            if found:
                yield Problem(pointer(at), *found)

    def check_list(self, over: Any, path: Path) -> Iterator[Problem]:
        """Whether a map that goes over an input goes over a list."""
        head, *rest = over["$"].split(".") if isinstance(over, dict) else [""]
        declared = self._spec.inputs.get(rest[0]) if head == "input" and len(rest) == 1 else None
        if declared is not None and declared.type != "array":
            yield Problem(pointer(path), "not_a_list", f"the input {rest[0]} is no array")

    def _of_input(self, name: str, sure: bool) -> tuple[str, str] | None:
        declared = self._spec.inputs.get(name)
        if declared is None:
            return "unknown_input", f"no input is named {name}"
        if declared.optional and not sure:
            return "may_be_absent", f"the input {name} is optional: give a default"
        return None

    def _of_step(self, rest: list[str], ran: frozenset[int], sure: bool) -> tuple[str, str] | None:
        place = self._ways.places.get(rest[0])
        if place is None:
            return "unknown_step", f"no step is named {rest[0]}"
        output = "results" if isinstance(self._spec.steps[place], MapStep) else "result"
        if rest[2] != output:
            return "wrong_output", f"the output of {rest[0]} is .{output}"
        if place not in ran and not sure:
            return "may_be_absent", f"{rest[0]} does not run before this on every way: give a default"
        return None


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


def _miscalled(spec: Workflow, tools: ToolSchemas | None) -> Iterator[Problem]:
    """Tools that are not there, or do not take what they are given."""
    for place, step in enumerate(spec.steps):
        if tools is None or isinstance(step, ChoiceStep):
            continue
        schema = tools.get(step.tool)
        if schema is None:
            yield Problem(f"/steps/{place}/tool", "unknown_tool", f"there is no tool {step.tool}")
            continue
        known = schema.get("properties", {})
        for name in step.with_ if not _is_open(schema) else ():
            if name not in known:
                yield Problem(f"/steps/{place}/with/{name}", "unknown_parameter", f"{step.tool} takes no {name}")
        for name in schema.get("required", ()):
            if name not in step.with_:
                yield Problem(f"/steps/{place}/with", "missing_parameter", f"{step.tool} needs {name}")


def _is_open(schema: Mapping[str, Any]) -> bool:
    """Whether a tool of another server says that it takes more than its schema names."""
    return bool(schema.get("additionalProperties", False)) or "patternProperties" in schema

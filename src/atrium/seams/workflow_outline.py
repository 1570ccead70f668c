"""What a workflow's document says as far as it has the shape of one, so that the rest can be judged beside what has not."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from atrium.kit.schemas.validator import Schema, Shape
from atrium.seams.workflow_format import KINDS, MOST_STEPS, SCHEMA

SHAPE = Shape(SCHEMA)
_STEP: Mapping[str, Schema] = SCHEMA["$defs"]["step"]["properties"]
_FIELDS: Mapping[str, Mapping[str, Schema]] = {
    kind: {name: rule for name, rule in SCHEMA["$defs"][f"{kind}_step"]["properties"].items() if name not in _STEP}
    for kind in KINDS
}


class Part(msgspec.Struct, frozen=True, rename={"with_": "with", "else_": "else"}):
    """A step as far as it has its shape: None for what does not."""

    name: str | None = None
    kind: Literal["tool", "map", "choice"] | None = None
    tool: str | None = None
    with_: dict[str, Any] | None = None
    over: Any = None
    when: dict[str, Any] | None = None
    then: str | None = None
    else_: str | None = None
    terminal: bool | None = None

    @property
    def leads(self) -> bool:
        """Whether it is known which steps may follow."""
        if self.kind == "choice":
            return self.then is not None and self.else_ is not None
        return self.kind is not None and self.terminal is not None

    @property
    def calls(self) -> bool:
        """Whether it calls a tool."""
        return self.kind in ("tool", "map")


class Outline:
    """A spec as far as it has its shape: the first place of each step's name, inputs with their declarations, None for what does not."""

    def __init__(self, document: Any, *, whole: bool) -> None:
        """`whole` where all of it has its shape."""
        self._whole = whole
        given = document if isinstance(document, dict) else {}
        known = self._kept(given, {name: SCHEMA["properties"][name] for name in ("start", "max_steps", "output")})
        self.start: str | None = known.get("start")
        self.max_steps: float | None = known.get("max_steps")
        self.output: dict[str, Any] | None = known.get("output")
        steps, inputs = given.get("steps"), given.get("inputs", {})
        self.parts = [self._part_of(one) for one in steps] if isinstance(steps, list) else []
        self.inputs = self._declared(inputs) if isinstance(inputs, dict) else None
        self.places: dict[str, int] = {}
        for place, part in enumerate(self.parts):
            if part.name is not None:
                self.places.setdefault(part.name, place)

    @property
    def named(self) -> bool:
        """Whether the names of all steps are known."""
        return bool(self.parts) and all(part.name is not None for part in self.parts)

    @property
    def leads(self) -> bool:
        """Whether it is known which steps may follow each other."""
        few = len(self.parts) <= MOST_STEPS
        return few and self.named and self.start in self.places and all(part.leads for part in self.parts)

    def _kept(self, value: dict[str, Any], rules: Mapping[str, Schema]) -> dict[str, Any]:
        return {
            name: value[name]
            for name, rule in rules.items()
            if name in value and (self._whole or SHAPE.holds(value[name], rule))
        }

    def _part_of(self, step: Any) -> Part:
        if not isinstance(step, dict):
            return Part()
        known = self._kept(step, _STEP)
        if "kind" in known:
            known |= self._kept(step, _FIELDS[known["kind"]])
        absent: dict[str, Any] = {"with": {}, "terminal": False}
        return msgspec.convert({name: absent[name] for name in absent.keys() - step.keys()} | known, Part)

    def _declared(self, inputs: dict[str, Any]) -> dict[str, dict[str, Any] | None]:
        rule = SCHEMA["$defs"]["input"]
        return {name: one if self._whole or SHAPE.holds(one, rule) else None for name, one in inputs.items()}


class Ways:
    """All ways through a spec: the steps that certainly ran before each step, and how long the longest way to it is."""

    def __init__(self, outline: Outline) -> None:
        parts, self._places = outline.parts, outline.places
        start = self._places[outline.start or ""]
        self.before: dict[int, frozenset[int]] = {start: frozenset()}
        self.longest = {start: 1}
        # A step leads to later ones only, so that one pass settles every step before it is looked at.
        for place, part in enumerate(parts):
            if place in self.before:
                for after in self._after(part, place, len(parts)):
                    self._lead(place, after)

    def _after(self, part: Part, place: int, count: int) -> set[int]:
        if part.kind == "choice":
            return {self._places[part.then or ""], self._places[part.else_ or ""]}
        return set() if part.terminal or place + 1 == count else {place + 1}

    def _lead(self, place: int, after: int) -> None:
        ran = self.before[place] | {place}
        self.before[after] = self.before.get(after, ran) & ran
        self.longest[after] = max(self.longest.get(after, 0), self.longest[place] + 1)

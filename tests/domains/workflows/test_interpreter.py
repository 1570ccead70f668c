"""Generated specs, run by our interpreter with steps and items ending in any order, and by an oracle that knows only the format."""

import json
import os
import random
import zlib
from typing import Any

import pytest

from atrium.engine.workflows import interpreter
from atrium.engine.workflows.interpreter import NeedsOutputs, RunEnd, RunSnapshot, Spec, Transition
from atrium.kit.ids import new_id
from atrium.seams.workflows import MapStep, problems_in, read_workflow
from tests.domains.workflows import reenactment as oracle
from tests.domains.workflows.reenactment import Outcome
from tests.support.processes import PROOFS
from tests.support.sizes import FULL_ONLY

FACTS = {"run.id": "r", "team.id": "t", "user.id": "u", "locale": "de", "principal.locale": "de"}
TYPES = ("string", "number", "integer", "boolean", "object", "array")


def call(tool: str, arguments: Any) -> tuple[bool, Any]:
    """What a tool comes to, decided by what it is given."""
    chance = random.Random(zlib.crc32(json.dumps([tool, arguments], sort_keys=True).encode()))
    return (False, "tool.failed") if tool == "probe.fails" and chance.random() < 0.2 else (True, some_value(chance))


def some_value(chance: random.Random, depth: int = 0) -> Any:
    kinds = ["a", "", "abc", 0, 1, 1.0, 2.5, -3, True, False, None]
    if depth < 2 and chance.random() < 0.5:
        many = range(chance.randrange(4))
        if chance.random() < 0.5:
            return [some_value(chance, depth + 1) for _ in many]
        return {chance.choice("abcd"): some_value(chance, depth + 1) for _ in many}
    return chance.choice(kinds)


class Author:
    """Writes specs, most of which are valid."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.inputs: dict[str, Any] = {
            f"i{n}": {"type": chance.choice(TYPES), "optional": chance.random() < 0.3}
            for n in range(chance.randrange(4))
        }
        self.kinds = [chance.choice(("tool", "tool", "map", "choice")) for _ in range(chance.randrange(1, 9))]
        self.kinds[-1] = chance.choice(("tool", "map"))

    def document(self) -> dict[str, Any]:
        steps = [self._step(place, kind) for place, kind in enumerate(self.kinds)]
        most = self.chance.choice([len(steps), len(steps) + 2, 20, 1000])
        document: dict[str, Any] = {
            "slug": "generated", "start": "s0", "max_steps": most, "steps": steps, "inputs": self.inputs,
        }  # fmt: skip
        if self.chance.random() < 0.4:
            document["output"] = {name: self._value(len(steps), True) for name in "xy"}
        return document

    def _step(self, place: int, kind: str) -> dict[str, Any]:
        step: dict[str, Any] = {"name": f"s{place}", "kind": kind}
        if kind == "choice":
            later = [f"s{n}" for n in range(place + 1, len(self.kinds))]
            # The next step follows in any case, so that most specs have no step that nothing leads to.
            ways = [later[0], self.chance.choice(later)]
            self.chance.shuffle(ways)
            return step | {"when": self._predicate(place), "then": ways[0], "else": ways[1]}
        step["tool"] = self.chance.choice(("probe.a", "probe.a", "probe.fails"))
        inside = kind == "map"
        step["with"] = {name: self._value(place, item=inside) for name in "pq"[: self.chance.randrange(3)]}
        if inside:
            step["on_item_error"] = self.chance.choice(("fail", "collect"))
            step["over"] = self._list(place)
        if self.chance.random() < 0.1 and place > 1:
            step["terminal"] = True
        return step

    def _list(self, place: int) -> Any:
        if self.chance.random() < 0.4:
            return [self._value(place) for _ in range(self.chance.randrange(5))]
        maps = [n for n, kind in enumerate(self.kinds[:place]) if kind == "map"]
        if maps and self.chance.random() < 0.5:
            return {"$": f"steps.s{self.chance.choice(maps)}.output.results", "default": []}
        return self._reference(place) | ({"default": []} if self.chance.random() < 0.9 else {})

    def _predicate(self, place: int) -> dict[str, Any]:
        name = self.chance.choice(("empty", "exists", "equals", "in", "contains", "starts_with", "greater_than"))
        if name == "exists":
            return {name: self._reference(place)}
        if name == "empty":
            return {name: self._value(place)}
        left, right = self._value(place), self._value(place)
        if self.chance.random() < 0.8:
            right = {"in": ["a", left, 1], "contains": "a", "starts_with": "a", "greater_than": 1}.get(name, right)
            left = {"contains": "abc", "starts_with": "abc", "greater_than": 2}.get(name, left)
        return {name: [left, right]}

    def _value(self, place: int, sure: bool = False, *, item: bool = False, depth: int = 0) -> Any:
        dice = self.chance.random()
        if dice < 0.55:
            reference = self._reference(place, item=item)
            return reference | ({"default": some_value(self.chance)} if sure or self.chance.random() < 0.9 else {})
        if dice < 0.65:
            return {"$literal": {"$": "input.i0"}}
        if dice < 0.8 and depth < 2:
            return [self._value(place, sure, item=item, depth=depth + 1) for _ in range(self.chance.randrange(3))]
        if dice < 0.9 and depth < 2:
            return {
                name: self._value(place, sure, item=item, depth=depth + 1) for name in "ab"[: self.chance.randrange(3)]
            }
        return some_value(self.chance)

    def _reference(self, place: int, *, item: bool = False) -> dict[str, Any]:
        path = "".join(f".{self.chance.choice('abcd012')}" for _ in range(self.chance.choice((0, 0, 0, 1, 2))))
        heads = [f"input.{name}" for name in self.inputs]
        heads += [
            f"steps.s{n}.output.{'results' if kind == 'map' else 'result'}" for n, kind in enumerate(self.kinds[:place])
        ]
        if item:
            heads += ["item", "item"]
        plain = ["run.id", "locale", *(["index"] if item else [])]
        if not heads or self.chance.random() < 0.1:
            return {"$": self.chance.choice(plain)}
        return {"$": self.chance.choice(heads) + path}

    def given(self) -> dict[str, Any]:
        made = {
            "string": "abc",
            "number": 2.5,
            "integer": 1,
            "boolean": True,
            "object": {"a": [1]},
            "array": ["a", 1, {"b": 2}],
        }
        return {
            name: made[declared["type"]]
            for name, declared in self.inputs.items()
            if not declared["optional"] or self.chance.random() < 0.5
        }


class Ours:
    """A run as a server drives the interpreter: outputs are read when they are asked for, and jobs end in any order."""

    def __init__(self, document: dict[str, Any], given: dict[str, Any], chance: random.Random) -> None:
        self.spec, self.given, self.chance = Spec(read_workflow(document)), given, chance
        self.out = Outcome()
        self.rows: dict[tuple[str, int], Any] = {}
        self.waiting: list[tuple[str, int]] = []
        self.end: RunEnd | None = None
        self.rounds = 0

    def situation(self, looked_for: set[str]) -> RunSnapshot:
        read = {name: self.out.outputs[name] for name in looked_for if name in self.out.outputs}
        return RunSnapshot(
            id=new_id(), spec=self.spec, input=self.given, facts=FACTS, used=self.out.used, outputs=read, looked_for=looked_for
        )  # fmt: skip

    def run(self) -> Outcome:
        self.follow(lambda looked_for: interpreter.begin(self.situation(looked_for)))
        while self.end is None:
            self.rounds += 1
            assert self.rounds <= 1000
            self.settle(self.waiting.pop(self.chance.randrange(len(self.waiting))))
        self.out.state = self.end.state
        if self.end.error is not None:
            self.out.error = str(self.end.error["code"]), self.end.error["step"]
        elif self.end.output_step is not None:
            self.out.output = self.out.outputs[self.end.output_step]
        else:
            self.out.output = self.end.output
        return self.out

    def follow(self, moved: Any) -> None:
        looked_for: set[str] = set()
        while True:
            try:
                moves: Transition = moved(looked_for)
                break
            except NeedsOutputs as needs:
                if needs.steps <= looked_for:
                    raise AssertionError("asked again for what it was given") from needs
                looked_for |= needs.steps
        assert moves.used <= self.spec.workflow.max_steps
        self.out.used, self.end = moves.used, moves.end
        for row in moves.entered:
            assert (row.step, row.place) not in self.rows, "a step was entered twice"
            self.rows[row.step, row.place] = row
            if row.place < 0:
                self.out.path.append(row.step)
            if row.state == "succeeded":
                self.out.outputs[row.step] = row.output
            if row.call and moves.end is None:
                self.waiting.append((row.step, row.place))

    def settle(self, key: tuple[str, int]) -> None:
        name, place = key
        row, step = self.rows[key], self.spec.steps[name]
        fine, result = (True, row.input) if row.kind == "choice" else call(row.tool, row.input)
        if place < 0 and fine:
            self.succeed(name, {"result": result})
        elif place < 0 or (not fine and isinstance(step, MapStep) and step.on_item_error == "fail"):
            self.follow(lambda looked_for: interpreter.fail(self.situation(looked_for), result, "failed", name))
        else:
            ended = ("succeeded", {"result": result}, None) if fine else ("failed", None, {"code": result})
            self.rows[key] = (place, row.item, *ended)
            items = [self.rows[name, n] for n in range(self.rows[name, -1].pending)]
            if all(isinstance(one, tuple) for one in items):
                self.succeed(name, interpreter.results_of(items))

    def succeed(self, name: str, output: dict[str, Any]) -> None:
        self.out.outputs[name] = output
        known = output if self.chance.random() < 0.5 or "results" not in output else None
        self.follow(
            lambda looked_for: interpreter.enter_next(
                self.situation(looked_for | ({name} if known else set())), name, known or output
            )
        )


def compared(document: dict[str, Any], given: dict[str, Any], chance: random.Random) -> tuple[Outcome, Outcome]:
    ours = Ours(document, given, chance).run()
    theirs = oracle.run(document, given, FACTS, call)
    return ours, theirs


def drawn() -> random.Random:
    """The same specs each time; proofs draw theirs, by a seed that is printed and may be given."""
    seed = int(os.environ.get("ATRIUM_SEED") or (random.randrange(2**32) if PROOFS else 1))
    print(f"ATRIUM_SEED={seed}")
    return random.Random(seed)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("specs", [300, pytest.param(20_000, marks=[pytest.mark.proof, FULL_ONLY])])
def test_every_spec_ends_as_the_format_says_whatever_ends_first(specs: int) -> None:
    chance, tried, ends, lengths = drawn(), 0, {"succeeded": 0, "failed": 0}, 0
    codes: dict[str, int] = {}
    while sum(ends.values()) < specs:
        author = Author(chance)
        document, tried = author.document(), tried + 1
        assert tried < 60 * specs, "hardly any of these specs is valid"
        if problems_in(document):
            continue
        ours, theirs = compared(document, author.given(), chance)
        shown = json.dumps(document)
        assert (ours.state, ours.error) == (theirs.state, theirs.error), shown
        assert ours.path == theirs.path, shown
        assert ours.used == theirs.used <= document["max_steps"], shown
        assert json.dumps(ours.output, sort_keys=True) == json.dumps(theirs.output, sort_keys=True), shown
        assert {name: ours.outputs[name] for name in theirs.outputs} == theirs.outputs, shown
        ends[ours.state] += 1
        lengths += len(ours.path)
        if ours.error:
            codes[ours.error[0]] = codes.get(ours.error[0], 0) + 1
    print(f"{specs} of {tried} specs: {ends}, {lengths / specs:.1f} steps each, {codes}")
    assert min(ends.values()) > specs // 20
    assert {"tool.failed", "workflows.binding"} <= codes.keys()


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"equals": [1, 1.0]}, True), ({"equals": [1, True]}, False), ({"equals": [{"a": [0]}, {"a": [False]}]}, False),
        ({"in": [True, [1]]}, False), ({"in": [1.0, [1]]}, True), ({"contains": [[0], False]}, False), ({"contains": ["abc", "b"]}, True),
        ({"contains": [{"a": 1}, "a"]}, True), ({"starts_with": ["abc", ""]}, True), ({"greater_than": [2, 1.5]}, True),
        ({"greater_than": ["b", "a"]}, True), ({"empty": 0}, False), ({"empty": False}, False), ({"empty": {"$": "input.gone"}}, True),
        ({"exists": {"$": "input.gone"}}, False), ({"exists": {"$": "input.gone", "default": 1}}, True), ({"empty": {}}, True),
    ],
)  # fmt: skip
def test_predicates_hold_as_the_format_says(when: dict[str, Any], holds: bool) -> None:
    document = {
        "slug": "one", "start": "s", "max_steps": 2, "inputs": {"gone": {"type": "string", "optional": True}},
        "steps": [
            {"name": "s", "kind": "choice", "when": when, "then": "a", "else": "a"},
            {"name": "a", "kind": "tool", "tool": "probe.a"},
        ],
    }  # fmt: skip
    ours, theirs = compared(document, {}, random.Random(1))

    assert ours.outputs["s"] == theirs.outputs["s"] == {"result": holds}


@pytest.mark.parametrize(
    "when", [{"greater_than": [1, True]}, {"greater_than": ["a", 1]}, {"in": [1, "abc"]}, {"starts_with": ["a", 1]}]
)
def test_what_cannot_be_compared_fails_the_step(when: dict[str, Any]) -> None:
    document = {
        "slug": "one", "start": "s", "max_steps": 2,
        "steps": [
            {"name": "s", "kind": "choice", "when": when, "then": "a", "else": "a"},
            {"name": "a", "kind": "tool", "tool": "probe.a"},
        ],
    }  # fmt: skip
    ours, theirs = compared(document, {}, random.Random(1))

    assert ours.error == theirs.error == ("workflows.predicate", "s")

"""Workflows as their format describes them, in the slowest and plainest way: one step after the other, nothing remembered between them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# A tool takes its name and arguments; it returns (True, result) or (False, code).
ToolCall = Callable[[str, Any], tuple[bool, Any]]
NOTHING = object()


class Wrong(Exception):
    """A step cannot be entered; its text is the error's code."""


@dataclass(slots=True)
class Outcome:
    """How a run ends: its state, its error's code and step, its output, how much of its budget is used, and each step's output."""

    state: str = ""
    error: tuple[str, str | None] | None = None
    output: Any = None
    used: int = 0
    outputs: dict[str, Any] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)


def run(document: dict[str, Any], given: dict[str, Any], facts: dict[str, str], call: ToolCall) -> Outcome:
    """Run a spec to its end."""
    out, names = Outcome(), [step["name"] for step in document["steps"]]
    name: str | None = document["start"]
    while name is not None:
        step = document["steps"][names.index(name)]
        out.path.append(name)
        try:
            output = _one(document, step, given, facts, call, out)
        except Wrong as wrong:
            out.state, out.error = "failed", (str(wrong), name)
            return out
        out.outputs[name] = output
        if step["kind"] == "choice":
            name = step["then"] if output["result"] else step["else"]
        elif step.get("terminal") or name == names[-1]:
            break
        else:
            name = names[names.index(name) + 1]
    out.state = "succeeded"
    if "output" in document:
        try:
            out.output = _value(document["output"], given, facts, out.outputs, {})
        except Wrong as wrong:
            out.state, out.error = "failed", (str(wrong), None)
    else:
        out.output = out.outputs[out.path[-1]]
    return out


def _one(document: Any, step: Any, given: Any, facts: Any, call: ToolCall, out: Outcome) -> dict[str, Any]:
    if step["kind"] == "choice":
        _spend(document, out, 1)
        try:
            return {"result": _decide(step["when"], given, facts, out.outputs)}
        except Wrong:
            # Whatever keeps a choice from being made is its predicate's fault.
            raise Wrong("workflows.predicate") from None
    if step["kind"] == "tool":
        _spend(document, out, 1)
        fine, result = call(step["tool"], _value(step.get("with", {}), given, facts, out.outputs, {}))
        if not fine:
            raise Wrong(result)
        return {"result": result}
    items = _value(step["over"], given, facts, out.outputs, {})
    if not isinstance(items, list):
        raise Wrong("workflows.binding")
    # All items are bound before the first is called.
    _spend(document, out, 1 + len(items))
    bound = [
        _value(step.get("with", {}), given, facts, out.outputs, {"item": item, "index": index})
        for index, item in enumerate(items)
    ]
    entries: list[dict[str, Any]] = []
    for index, arguments in enumerate(bound):
        fine, result = call(step["tool"], arguments)
        if not fine and step.get("on_item_error", "fail") == "fail":
            raise Wrong(result)
        ended = {"status": "succeeded", "result": result} if fine else {"status": "failed", "error": {"code": result}}
        entries.append({"index": index, "item": items[index], "state": ended["status"], **ended})
    return {"results": entries}


def _spend(document: Any, out: Outcome, cost: int) -> None:
    if out.used + cost > document["max_steps"]:
        raise Wrong("workflows.max_steps")
    out.used += cost


def _value(value: Any, given: Any, facts: Any, outputs: Any, around: dict[str, Any]) -> Any:
    """A deep copy with references replaced."""
    if isinstance(value, dict) and set(value) == {"$literal"}:
        return json.loads(json.dumps(value["$literal"]))
    if isinstance(value, dict) and "$" in value:
        found = _named(value["$"], given, facts, outputs, around)
        if found is NOTHING:
            if "default" not in value:
                raise Wrong("workflows.binding")
            found = value["default"]
        return json.loads(json.dumps(found))
    if isinstance(value, dict):
        return {name: _value(one, given, facts, outputs, around) for name, one in value.items()}
    if isinstance(value, list):
        return [_value(one, given, facts, outputs, around) for one in value]
    return value


def _named(reference: str, given: Any, facts: Any, outputs: Any, around: dict[str, Any]) -> Any:
    if reference in facts:
        return facts[reference]
    parts = reference.split(".")
    if parts[0] in ("item", "index"):
        value, rest = around.get(parts[0], NOTHING), parts[1:]
    elif parts[0] == "input":
        value, rest = given.get(parts[1], NOTHING), parts[2:]
    else:
        value, rest = outputs.get(parts[1], NOTHING), parts[3:]
    for part in rest:
        if isinstance(value, dict):
            value = value.get(part, NOTHING)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return NOTHING
    return value


def _decide(when: Any, given: Any, facts: Any, outputs: Any) -> bool:
    [(name, operand)] = when.items()
    if name in ("exists", "empty"):
        try:
            found = _value(operand, given, facts, outputs, {})
        except Wrong:
            # Only a reference itself may be about nothing; one inside of a list or an object may not.
            if not (isinstance(operand, dict) and "$" in operand):
                raise
            found = None
        return (
            found is not None
            if name == "exists"
            else found is None or (found in ("", [], {}) and type(found) is not bool)
        )
    left, right = (_value(one, given, facts, outputs, {}) for one in operand)
    try:
        return _PREDICATES[name](left, right)
    except TypeError:
        raise Wrong("workflows.predicate") from None


def _equal(left: Any, right: Any) -> bool:
    # 1 and 1.0 are one number in JSON, and true is none.
    return json.dumps(_numbers(left), sort_keys=True) == json.dumps(_numbers(right), sort_keys=True)


def _numbers(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    return {name: _numbers(one) for name, one in value.items()}


def _within(left: Any, right: Any) -> bool:
    if not isinstance(right, list):
        raise TypeError
    return any(_equal(left, one) for one in right)


def _contains(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return _within(right, left)
    if isinstance(left, str | dict) and isinstance(right, str):
        return right in left
    raise TypeError


def _starts_with(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.startswith(right)
    raise TypeError


def _greater(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        raise TypeError
    if isinstance(left, str) and isinstance(right, str):
        return [ord(one) for one in left] > [ord(one) for one in right]
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left > right
    raise TypeError


_PREDICATES: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _equal, "in": _within, "contains": _contains, "starts_with": _starts_with, "greater_than": _greater,
}  # fmt: skip

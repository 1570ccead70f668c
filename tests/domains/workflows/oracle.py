"""Format 1 read a second time, slowly and without the schema: whether a document is a workflow, and nothing about where it is not.

It follows every way through a spec one by one, where the server computes with sets.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SLUG = re.compile(r"[a-z0-9]|[a-z0-9][a-z0-9-]{0,61}[a-z0-9]")
_TOOL = re.compile(r"[a-z][a-z0-9_.:-]{0,127}")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_PART = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORDS = {"index", "locale", "run.id", "team.id", "user.id", "principal.locale"}
_PAIRS = {"equals", "in", "contains", "starts_with", "greater_than"}


class No(Exception):
    """It is no workflow."""


def is_workflow(document: Any, tools: Mapping[str, Any]) -> bool:
    """Whether the document holds to every rule."""
    try:
        _hold_together(document)
        _shape(document)
        _mean(document, tools)
    except No:
        return False
    return True


def need(holds: bool) -> None:
    if not holds:
        raise No


def _hold_together(document: Any) -> None:
    """What can be kept at all."""
    level, seen = [document], 0
    for depth in range(66):
        seen += len(level)
        need(not any(isinstance(one, dict | list) for one in level) or depth < 64)
        for one in level:
            need(type(one) in (dict, list, str, int, float, bool, type(None)))
            if type(one) in (int, float):
                need(-(2**63) < one < 2**63)
        texts = [one for one in level if isinstance(one, str)]
        texts += [name for one in level if isinstance(one, dict) for name in one]
        need(all(isinstance(text, str) and not re.search("[\0\ud800-\udfff]", text) for text in texts))
        level = [inner for one in level if isinstance(one, dict) for inner in one.values()] + [
            inner for one in level if isinstance(one, list) for inner in one
        ]
    need(seen <= 20_000)


def _fields(value: Any, required: set[str], optional: set[str]) -> None:
    need(isinstance(value, dict) and required <= value.keys() <= required | optional)


def _whole(value: Any, least: int, most: int) -> None:
    need(type(value) in (int, float) and value == int(value) and least <= value <= most)


def _text(value: Any, most: int, least: int = 0) -> None:
    need(isinstance(value, str) and least <= len(value) <= most)


def _matches(pattern: re.Pattern[str], value: Any) -> None:
    need(isinstance(value, str) and pattern.fullmatch(value) is not None)


def _shape(spec: Any) -> None:
    _fields(
        spec, {"slug", "start", "max_steps", "steps"}, {"format", "version", "title", "description", "inputs", "output"}
    )
    _matches(_SLUG, spec["slug"])
    need(spec["slug"] != "schema")
    _matches(_NAME, spec["start"])
    _whole(spec["max_steps"], 1, 1000)
    _whole(spec.get("format", 1), 1, 1)
    _whole(spec.get("version", 1), 1, 2**31 - 1)
    _text(spec.get("title", "x"), 120, 1)
    _text(spec.get("description", ""), 2000)
    inputs = spec.get("inputs", {})
    need(isinstance(inputs, dict) and len(inputs) <= 32)
    for name, one in inputs.items():
        _matches(_NAME, name)
        _fields(one, {"type"}, {"description", "optional"})
        need(
            isinstance(one["type"], str)
            and one["type"] in ["string", "number", "integer", "boolean", "object", "array"]
        )
        _text(one.get("description", ""), 500)
        need(isinstance(one.get("optional", False), bool))
    need(isinstance(spec["steps"], list) and 1 <= len(spec["steps"]) <= 64)
    for step in spec["steps"]:
        _step_shape(step)
    if "output" in spec:
        _binding(spec["output"])


def _step_shape(step: Any) -> None:
    need(isinstance(step, dict) and {"name", "kind"} <= step.keys())
    _matches(_NAME, step["name"])
    _text(step.get("description", ""), 500)
    common = {"name", "kind", "description"}
    if step["kind"] == "choice":
        _fields(step, {"name", "kind", "when", "then", "else"}, common)
        _matches(_NAME, step["then"])
        _matches(_NAME, step["else"])
        _predicate(step["when"])
        return
    need(step["kind"] in ("tool", "map"))
    optional = common | {"with", "retry", "timeout", "terminal"}
    if step["kind"] == "map":
        _fields(step, {"name", "kind", "over", "tool"}, optional | {"on_item_error"})
        need(step.get("on_item_error", "fail") in ("fail", "collect"))
        if isinstance(step["over"], list):
            need(len(step["over"]) <= 1000)
            _value(step["over"])
        else:
            _reference(step["over"])
    else:
        _fields(step, {"name", "kind", "tool"}, optional)
    _matches(_TOOL, step["tool"])
    _binding(step.get("with", {}))
    _whole(step.get("retry", 0), 0, 5)
    _whole(step.get("timeout", 1), 1, 3600)
    need(isinstance(step.get("terminal", False), bool))


def _predicate(when: Any) -> None:
    need(isinstance(when, dict) and len(when) == 1)
    [(name, given)] = when.items()
    if name == "empty":
        _value(given)
    elif name == "exists":
        _reference(given)
    else:
        need(name in _PAIRS and isinstance(given, list) and len(given) == 2)
        _value(given)


def _binding(value: Any) -> None:
    need(isinstance(value, dict) and len(value) <= 64)
    for name, inner in value.items():
        _matches(_PARAMETER, name)
        _value(inner)


def _value(value: Any) -> None:
    if isinstance(value, list):
        for inner in value:
            _value(inner)
    elif isinstance(value, dict) and "$" in value:
        _reference(value)
    elif isinstance(value, dict) and "$literal" in value:
        need(len(value) == 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            need(name[:1] not in ("", "$"))
            _value(inner)


def _reference(value: Any) -> None:
    _fields(value, {"$"}, {"default"})
    path = value["$"]
    need(isinstance(path, str) and len(path) <= 300)
    if path in _WORDS:
        return
    head, *rest = path.split(".")
    if head == "input":
        need(len(rest) >= 1)
        _matches(_NAME, rest.pop(0))
    elif head == "steps":
        need(len(rest) >= 3 and rest[1] == "output" and rest[2] in ("result", "results"))
        _matches(_NAME, rest[0])
        rest = rest[3:]
    else:
        need(head == "item")
    for part in rest:
        _matches(_PART, part)


def _mean(spec: Any, tools: Mapping[str, Any]) -> None:
    steps = {step["name"]: step for step in spec["steps"]}
    order = [step["name"] for step in spec["steps"]]
    need(len(steps) == len(order) and spec["start"] in steps)
    for step in spec["steps"]:
        for after in _after(step, order):
            need(after in steps and order.index(after) > order.index(step["name"]))
    ways = list(_ways([spec["start"]], steps, order))
    need({name for way in ways for name in way} == set(order))
    need(max(map(len, ways)) <= spec["max_steps"])
    for step in spec["steps"]:
        _used(spec, step, steps, [way[: way.index(step["name"])] for way in ways if step["name"] in way])
        _called(step, tools)
    _references(spec, spec.get("output", {}), steps, [[]], item=False)


def _after(step: Any, order: list[str]) -> list[str]:
    if step["kind"] == "choice":
        return [step["then"], step["else"]]
    place = order.index(step["name"]) + 1
    return [] if step.get("terminal", False) or place == len(order) else [order[place]]


def _ways(way: list[str], steps: dict[str, Any], order: list[str]) -> Iterator[list[str]]:
    after = _after(steps[way[-1]], order)
    if not after:
        yield way
    for one in after:
        yield from _ways([*way, one], steps, order)


def _used(spec: Any, step: Any, steps: dict[str, Any], before: list[list[str]]) -> None:
    if step["kind"] == "choice":
        if not {"empty", "exists"} & step["when"].keys():
            _references(spec, step["when"], steps, before, item=False)
        else:
            _references(spec, step["when"], steps, None, item=False)
        return
    _references(spec, step.get("with", {}), steps, before, item=step["kind"] == "map")
    if step["kind"] == "map":
        _references(spec, step["over"], steps, before, item=False)
        if isinstance(step["over"], dict):
            head, *rest = step["over"]["$"].split(".")
            need(head != "input" or len(rest) > 1 or spec["inputs"][rest[0]]["type"] == "array")


def _references(spec: Any, value: Any, steps: dict[str, Any], before: list[list[str]] | None, *, item: bool) -> None:
    """Without `before` what is named may be absent."""
    if isinstance(value, list):
        for inner in value:
            _references(spec, inner, steps, before, item=item)
    elif isinstance(value, dict) and "$" not in value and "$literal" not in value:
        for inner in value.values():
            _references(spec, inner, steps, before, item=item)
    elif isinstance(value, dict) and "$" in value:
        head, *rest = value["$"].split(".")
        sure = before is None or "default" in value
        if head == "input":
            declared = spec.get("inputs", {}).get(rest[0])
            need(declared is not None and (sure or not declared.get("optional", False)))
        elif head == "steps":
            named = steps.get(rest[0])
            need(named is not None and rest[2] == ("results" if named["kind"] == "map" else "result"))
            need(sure or all(rest[0] in way for way in before or []))
        else:
            need(item or head not in ("item", "index"))


def _called(step: Any, tools: Mapping[str, Any]) -> None:
    if step["kind"] != "choice":
        need(step["tool"] in tools)
        known, given = tools[step["tool"]], set(step.get("with", {}))
        need(set(known["required"]) <= given <= set(known["properties"]))

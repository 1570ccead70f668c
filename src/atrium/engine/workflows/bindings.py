"""Values of a run: what references name, which predicate holds, and whether an input is what the spec declares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import msgspec

from atrium.seams.workflows import Workflow


class _Absent:
    """Stands for a value that is not there; None is one that is."""


ABSENT: Final = _Absent()
_LARGEST_OPERAND = 4 << 20
# Of all the arguments of one step together.
MOST_VALUES = 64_000
# So many are made at once.
FEW_VALUES = 10_000
_TYPES: Mapping[str, type] = {"string": str, "object": dict, "array": list, "boolean": bool}


class BindingFailed(Exception):
    """A reference names nothing, or a predicate compares what cannot be compared."""


class BindingTooLarge(BindingFailed):
    """What the references name is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Values:
    """What references of one run can name. `outputs` are of the steps that have succeeded; `facts` are `run.id`, `locale` and so on."""

    input: Mapping[str, Any]
    outputs: Mapping[str, Any]
    facts: Mapping[str, str]
    # How many bytes what a reference names has as JSON: a spec may name the same large value many times.
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class BindingBudget:
    """How much may still be made: bytes of one value, and values inside all values that share it."""

    bytes: int
    values: int = MOST_VALUES

    def count(self) -> None:
        """One more value is made, whatever it is made of."""
        self.values -= 1
        if self.values < 0:
            raise BindingTooLarge(f"takes more than {MOST_VALUES} values to make")


def resolve(value: Any, values: Values, *, most: int) -> Any:
    """The value with every reference in it replaced by what it names; refused when it has more than `most` bytes as JSON."""
    resolved = _resolve(value, values, ABSENT, ABSENT, BindingBudget(most))
    if size_of(resolved) > most:
        raise BindingTooLarge(f"has more than {most} bytes")
    return resolved


def resolve_each(value: Any, values: Values, items: list[Any], *, most: int, together: int) -> Iterator[Any]:
    """The value once for every item; refused when one has more than `most` bytes, or all of them more than `together`."""
    prepared, allowance = _prepared(value), BindingBudget(most)
    for index, item in enumerate(items):
        allowance.bytes = most
        resolved = _resolve(prepared, values, item, index, allowance)
        size = size_of(resolved)
        together -= size
        if size > most:
            raise BindingTooLarge(f"has more than {most} bytes")
        if together < 0:
            raise BindingTooLarge("has, all items together, too many bytes")
        yield resolved


def _prepared(value: Any) -> Any:
    """The same binding for repeated use: what names nothing is literal."""
    if isinstance(value, list):
        inner = [_prepared(one) for one in value]
        return {"$literal": [_fixed(one) for one in inner]} if all(map(_is_fixed, inner)) else inner
    if not isinstance(value, dict) or "$" in value or "$literal" in value:
        return value
    named = {name: _prepared(one) for name, one in value.items()}
    if all(map(_is_fixed, named.values())):
        return {"$literal": {name: _fixed(one) for name, one in named.items()}}
    return named


def _is_fixed(prepared: Any) -> bool:
    return "$literal" in prepared if isinstance(prepared, dict) else not isinstance(prepared, list)


def _fixed(prepared: Any) -> Any:
    return prepared["$literal"] if isinstance(prepared, dict) else prepared


def count_values(value: Any) -> int:
    """How many values it takes to resolve a value once, as `_resolve` counts them."""
    if isinstance(value, dict) and not ("$" in value or "$literal" in value):
        return 1 + sum(map(count_values, value.values()))
    return 1 + sum(map(count_values, value)) if isinstance(value, list) else 1


def size_of(value: Any) -> int:
    """How many bytes a value has as JSON."""
    return len(msgspec.json.encode(value))


def _resolve(value: Any, values: Values, item: Any, index: Any, allowance: BindingBudget) -> Any:
    allowance.count()
    if isinstance(value, list):
        return [_resolve(one, values, item, index, allowance) for one in value]
    if not isinstance(value, dict):
        return value
    if "$literal" in value:
        return value["$literal"]
    if "$" not in value:
        return {name: _resolve(one, values, item, index, allowance) for name, one in value.items()}
    found = look_up(value["$"], values, item, index)
    if found is ABSENT:
        if "default" in value:
            return value["default"]
        raise BindingFailed(f"{value['$']} has no value")
    allowance.bytes -= _size_named(value["$"], found, values)
    if allowance.bytes < 0:
        raise BindingTooLarge("is too large")
    return found


def _size_named(reference: str, found: Any, values: Values) -> int:
    if isinstance(found, int):
        return 1
    if reference.startswith("item"):
        return size_of(found)
    if reference not in values.sizes:
        values.sizes[reference] = size_of(found)
    return values.sizes[reference]


@lru_cache(maxsize=10_000)
def _parts(reference: str) -> list[str]:
    return reference.split(".")


def look_up(reference: str, values: Values, item: Any = ABSENT, index: Any = ABSENT) -> Any:
    """What a reference names, or ABSENT."""
    head, *path = _parts(reference)
    if head == "input":
        return _inside(values.input, path)
    if head == "steps":
        return _inside(values.outputs.get(path[0], ABSENT), path[2:])
    if head == "item":
        return _inside(item, path)
    if head == "index":
        return index
    return values.facts.get(reference, ABSENT)


def _inside(value: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return ABSENT
    return value


def steps_named_in(value: Any) -> Iterator[str]:
    """The steps whose outputs are needed to resolve a value."""
    if isinstance(value, list):
        for one in value:
            yield from steps_named_in(one)
    elif isinstance(value, dict) and "$literal" not in value:
        if "$" in value:
            head, *path = value["$"].split(".")
            if head == "steps":
                yield path[0]
        else:
            for one in value.values():
                yield from steps_named_in(one)


def holds(predicate: Mapping[str, Any], values: Values) -> bool:
    """Whether the one predicate holds."""
    [(name, operand)] = predicate.items()
    if name in ("empty", "exists"):
        found = _found(operand, values)
        return _is_empty(found) if name == "empty" else found is not ABSENT and found is not None
    left, right = (resolve(one, values, most=_LARGEST_OPERAND) for one in operand)
    decided = _compare(name, left, right)
    if decided is None:
        raise BindingFailed(f"{name} cannot compare {_type_of(left)} with {_type_of(right)}")
    return decided


def _found(operand: Any, values: Values) -> Any:
    """The operand of a predicate that also asks about what is not there."""
    if isinstance(operand, dict) and "$" in operand:
        found = look_up(operand["$"], values)
        return operand.get("default", ABSENT) if found is ABSENT else found
    return resolve(operand, values, most=_LARGEST_OPERAND)


def _is_empty(value: Any) -> bool:
    return value is ABSENT or value is None or (isinstance(value, str | list | dict) and not value)


def _compare(name: str, left: Any, right: Any) -> bool | None:
    """What a predicate of two values comes to; None when it does not compare such values."""
    match name, left, right:
        case "equals", _, _:
            return same(left, right)
        case "in", _, list():
            return any(same(left, one) for one in right)
        case "contains", list(), _:
            return any(same(right, one) for one in left)
        case "contains", str() | dict(), str():
            return right in left
        case "starts_with", str(), str():
            return left.startswith(right)
        case "greater_than", str(), str():
            return left > right
        case "greater_than", int() | float(), int() | float() if not isinstance(left, bool) | isinstance(right, bool):
            return left > right
    return None


def same(left: Any, right: Any) -> bool:
    """Equality as JSON has it: 1 and 1.0 are one number, 1 and true are not equal."""
    return bool(left == right) and _same_kind(left, right)


def _same_kind(left: Any, right: Any) -> bool:
    """Whether two values that Python takes for equal have booleans in the same places."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict):
        return all(_same_kind(left[key], right[key]) for key in left)
    return not isinstance(left, list) or all(map(_same_kind, left, right))


def _type_of(value: Any) -> str:
    names = {bool: "a boolean", str: "a string", list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), "a number")


class InputProblem(msgspec.Struct, frozen=True):
    """What is wrong with an input, and where."""

    path: str
    code: str
    message: str


def check_input(spec: Workflow, given: Any) -> list[InputProblem]:
    """What is wrong with an input: unknown, missing and mistyped values; empty when nothing is."""
    if not isinstance(given, dict):
        return [InputProblem("/input", "type", "input must be an object")]
    problems = [
        InputProblem(_pointer(name), "unknown_input", f"the workflow has no input {name}")
        for name in given
        if name not in spec.inputs
    ]
    for name, declared in spec.inputs.items():
        if name not in given:
            if not declared.optional:
                problems.append(InputProblem(_pointer(name), "required", f"{name} is required"))
        elif not _is_of(given[name], declared.type):
            problems.append(InputProblem(_pointer(name), "type", f"{name} must be of type {declared.type}"))
    return problems


def _pointer(name: str) -> str:
    return "/input/" + name.replace("~", "~0").replace("/", "~1")


def _is_of(value: Any, type: str) -> bool:
    if type in _TYPES:
        return isinstance(value, _TYPES[type])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return type == "number" or isinstance(value, int) or value.is_integer()

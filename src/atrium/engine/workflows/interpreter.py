"""What follows in a run: pure, between what was read of it and what will be written.

A run enters its start step, and after each step that succeeds the next one; a choice leads to one of two later steps, so every run ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from atrium.engine.workflows.bindings import (
    BindingFailed,
    BindingTooLarge,
    Values,
    count_values,
    holds,
    resolve,
    resolve_each,
    steps_named_in,
)
from atrium.kit.work.compute import heavy
from atrium.seams.workflows import ChoiceStep, MapStep, Step, ToolStep, Workflow

LARGEST_VALUE = 1 << 20
# All the arguments of one map together: its items are queued in one transaction.
LARGEST_MAP = 8 << 20


class Spec:
    """A spec with what the interpreter asks of it."""

    def __init__(self, workflow: Workflow, digest: str = "") -> None:
        self.workflow = workflow
        # What stands for exactly this version.
        self.digest = digest
        self.steps: dict[str, Step] = {step.name: step for step in workflow.steps}
        self.names = [step.name for step in workflow.steps]
        self._places = {name: place for place, name in enumerate(self.names)}

    def comes_before(self, name: str, other: str) -> bool:
        """Whether a step stands before another one."""
        return self._places[name] < self._places[other]

    def after(self, name: str, output: Mapping[str, Any] | None) -> str | None:
        """The step that follows one which came to this output; None when the run ends with it."""
        step = self.steps[name]
        if isinstance(step, ChoiceStep):
            return step.then if output and output["result"] else step.else_
        place = self._places[name] + 1
        return None if step.terminal or place == len(self.names) else self.names[place]

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """The steps whose outputs it takes to enter each step."""
        return {name: frozenset(steps_named_in(_bound(step))) for name, step in self.steps.items()}

    @cached_property
    def weights(self) -> Mapping[str, int]:
        """How many values it takes at most to enter each step; with a map, which may be empty, also the one behind it."""
        found: dict[str, int] = {}
        behind = self.output_weight
        for step in reversed(self.workflow.steps):
            own = count_values(_bound(step))
            behind = found[step.name] = own * self.workflow.max_steps + behind if isinstance(step, MapStep) else own
        return found

    @cached_property
    def output_weight(self) -> int:
        """How many values it takes to make the run's output."""
        return count_values(self.workflow.output)

    def weight_after(self, name: str, output: Mapping[str, Any] | None) -> int:
        """How many values it takes at most to go on from a step that came to this output."""
        following = self.after(name, output)
        return self.output_weight if following is None else self.weights[following]

    @cached_property
    def output_needs(self) -> frozenset[str]:
        """The steps whose outputs it takes to end."""
        return frozenset(steps_named_in(self.workflow.output))


def _bound(step: Step) -> Any:
    match step:
        case ChoiceStep():
            return step.when
        case MapStep():
            return [step.over, step.with_]
    return step.with_


class NeedsOutputs(Exception):
    """The run cannot be gone on with before these steps' outputs are read."""

    def __init__(self, steps: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(steps)))
        self.steps = steps


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSnapshot:
    """A run as it was read. `outputs` has what was read of earlier steps, `looked_for` says of which it was asked."""

    id: UUID
    spec: Spec
    input: Mapping[str, Any]
    facts: Mapping[str, str]
    used: int
    outputs: dict[str, Any]
    looked_for: set[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStep:
    """A row for a step that is entered, or for an item of a map; `call` when a job does it, of a choice with what it comes to."""

    step: str
    place: int
    position: int
    kind: str
    tool: str | None = None
    state: str = "open"
    input: Any = None
    item: Any = None
    output: Any = None
    error: Mapping[str, str] | None = None
    pending: int | None = None
    call: bool = False


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended; without an output of its own it has that of the step named."""

    state: str
    output: Any = None
    output_step: str | None = None
    error: Mapping[str, str | None] | None = None


@dataclass(slots=True)
class Transition:
    """What follows: steps to enter, how much of the budget is used then, and the end if it has come."""

    used: int
    entered: list[NewStep] = field(default_factory=list)
    end: RunEnd | None = None


@heavy
def begin(run: RunSnapshot, name: str | None = None) -> Transition:
    """Enter the start step, or the one named."""
    moves = Transition(run.used)
    _enter(run, moves, dict(run.outputs), name or run.spec.workflow.start)
    return moves


@heavy
def enter_next(run: RunSnapshot, name: str, output: Mapping[str, Any] | None) -> Transition:
    """A step has succeeded: enter the next one, or end. Only a choice's output has to be known for that."""
    moves = Transition(run.used)
    _leave(run, moves, dict(run.outputs) if output is None else {**run.outputs, name: output}, name, output)
    return moves


def fail(run: RunSnapshot, code: str, message: str, step: str | None) -> Transition:
    """A step has failed, and the run with it."""
    return Transition(run.used, end=_failed(code, message, step))


def results_of(entries: list[tuple[int, Any, str, Any, Any]]) -> dict[str, Any]:
    """The output of a map from its items' (index, item, state, output, error), in the order of its list."""
    return {
        "results": [
            {
                "index": index,
                "item": item,
                "state": state,
                # As it was called first: specs name it.
                "status": state,
                **(output if state == "succeeded" else {"error": error}),
            }
            for index, item, state, output, error in entries
        ]
    }


def _failed(code: str, message: str, step: str | None) -> RunEnd:
    return RunEnd("failed", error={"code": code, "message": message, "step": step})


class _Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def _enter(run: RunSnapshot, moves: Transition, outputs: dict[str, Any], name: str) -> None:
    _require(run, run.spec.needs[name], outputs)
    step, position = run.spec.steps[name], moves.used
    kind = type(step).__struct_config__.tag
    tool = None if isinstance(step, ChoiceStep) else step.tool
    try:
        entered = _bind(run, moves, outputs, step)
    except _Refused as refused:
        error = {"code": refused.code, "message": refused.message}
        moves.entered.append(
            NewStep(step=name, place=-1, position=position, kind=str(kind), tool=tool, state="failed", error=error)
        )
        moves.end = _failed(refused.code, refused.message, name)
        return
    moves.entered += entered
    if isinstance(step, MapStep) and len(entered) == 1:
        _leave(run, moves, {**outputs, name: entered[0].output}, name, entered[0].output)


def _bind(run: RunSnapshot, moves: Transition, outputs: dict[str, Any], step: Step) -> list[NewStep]:
    """The rows of a step with what its references name, counted against the run's budget."""
    values, position = Values(run.input, outputs, run.facts), moves.used
    try:
        match step:
            case ChoiceStep():
                _spend(run, moves, step.name, 1)
                came_to = _decide(step, values)
                return [NewStep(step=step.name, place=-1, position=position, kind="choice", input=came_to, call=True)]
            case ToolStep():
                _spend(run, moves, step.name, 1)
                given = resolve(step.with_, values, most=LARGEST_VALUE)
                return [
                    NewStep(
                        step=step.name, place=-1, position=position, kind="tool", tool=step.tool, input=given, call=True
                    )
                ]
        return _bind_map(run, moves, values, step)
    except BindingTooLarge as error:
        raise _Refused("workflows.too_large", f"what {step.name} is given {error}") from error
    except BindingFailed as error:
        raise _Refused("workflows.binding", str(error)) from error


def _bind_map(run: RunSnapshot, moves: Transition, values: Values, step: MapStep) -> list[NewStep]:
    position, items = moves.used, resolve(step.over, values, most=LARGEST_VALUE)
    if not isinstance(items, list):
        raise BindingFailed(f"{step.name} goes over something that is no list")
    _spend(run, moves, step.name, 1 + len(items))
    whole = NewStep(
        step=step.name, place=-1, position=position, kind="map", tool=step.tool, pending=len(items),
        state="open" if items else "succeeded", output=None if items else {"results": []},
    )  # fmt: skip
    rows = [whole]
    for place, given in enumerate(resolve_each(step.with_, values, items, most=LARGEST_VALUE, together=LARGEST_MAP)):
        rows.append(
            NewStep(
                step=step.name, place=place, position=position, kind="map", tool=step.tool, item=items[place], input=given, call=True
            )
        )  # fmt: skip
    return rows


def _decide(step: ChoiceStep, values: Values) -> bool:
    try:
        return holds(step.when, values)
    except BindingFailed as error:
        raise _Refused("workflows.predicate", str(error)) from error


def _spend(run: RunSnapshot, moves: Transition, name: str, cost: int) -> None:
    most = run.spec.workflow.max_steps
    if moves.used + cost > most:
        raise _Refused("workflows.max_steps", f"{name} takes {cost} more steps, and {moves.used} of {most} are used")
    moves.used += cost


def _leave(
    run: RunSnapshot, moves: Transition, outputs: dict[str, Any], name: str, output: Mapping[str, Any] | None
) -> None:
    following = run.spec.after(name, output)
    if following is not None:
        _enter(run, moves, outputs, following)
        return
    made = run.spec.workflow.output
    if made is None:
        moves.end = RunEnd("succeeded", output_step=name)
        return
    _require(run, run.spec.output_needs, outputs)
    try:
        output = resolve(made, Values(run.input, outputs, run.facts), most=LARGEST_VALUE)
        moves.end = RunEnd("succeeded", output=output)
    except BindingTooLarge as error:
        moves.end = _failed("workflows.too_large", f"the run's output {error}", None)
    except BindingFailed as error:
        moves.end = _failed("workflows.binding", str(error), None)


def _require(run: RunSnapshot, needed: frozenset[str], outputs: dict[str, Any]) -> None:
    if missing := needed - outputs.keys() - run.looked_for:
        raise NeedsOutputs(missing)

"""What keeps the gate green on a busy machine: no clock decides about an assertion, and nothing is drawn without a seed."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
Function = ast.FunctionDef | ast.AsyncFunctionDef
_CLOCKS = frozenset(
    ["monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns", "perf_counter_ns", "getloadavg"]
)
_DRAWS = frozenset(
    [
        "random",
        "randrange",
        "randint",
        "choice",
        "choices",
        "shuffle",
        "sample",
        "uniform",
        "expovariate",
        "getrandbits",
    ]
)


def clocks_in_assertions(path: str, tree: ast.Module) -> Iterator[str]:
    """Tests of the gate that assert of a time that it is short."""
    if not _reads_a_clock(tree, frozenset()):
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    timed = frozenset(node.name for node in functions if _returns_a_time(node))
    for function in functions:
        if function.name.startswith("test_") and not _is_proof(function, tree):
            known = _times_in(function, timed)
            for one in ast.walk(function):
                if isinstance(one, ast.Assert) and _bounds_a_time(one.test, known, timed):
                    yield f"{path}:{one.lineno}: {function.name} asserts a time"


def unseeded_draws(path: str, tree: ast.Module) -> Iterator[str]:
    """Calls of the shared generator, and generators without a seed."""
    names = [one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names]
    for node in ast.walk(tree):
        # A seed, which is printed, is drawn freely.
        if not isinstance(node, ast.Call) or ast.unparse(node) == "random.randrange(2 ** 32)":
            continue
        called = ast.unparse(node.func)
        shared = "random" in names and called.startswith("random.") and called.removeprefix("random.") in _DRAWS
        if shared or (called in {"Random", "random.Random"} and not node.args):
            yield f"{path}:{node.lineno}: {called} draws without a seed"


@cache
def modules() -> list[tuple[str, ast.Module]]:
    """Every file below tests."""
    return [(str(file.relative_to(TESTS)), ast.parse(file.read_text())) for file in sorted(TESTS.rglob("*.py"))]


def _is_proof(function: Function, tree: ast.Module) -> bool:
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    whole = any("pytestmark" in (said := ast.unparse(node)) and "mark.proof" in said for node in assigned)
    return whole or any("mark.proof" in ast.unparse(one) for one in function.decorator_list)


def _reads_a_clock(node: ast.AST, timed: frozenset[str]) -> bool:
    return any(isinstance(one, ast.Call) and _is_a_clock(one.func, timed) for one in ast.walk(node))


def _is_a_clock(called: ast.expr, timed: frozenset[str]) -> bool:
    match called:
        case ast.Attribute(attr="time"):
            return "loop" in (owner := ast.unparse(called.value)) or owner == "time"
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _CLOCKS or name in timed
    return False


def _times_in(function: Function, timed: frozenset[str]) -> set[str]:
    """Names that hold what a clock said, or what was computed of it."""
    known: set[str] = set()
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for node in assigned:
        if _names(node.value) & known or _reads_a_clock(node.value, timed):
            known |= {name for target in node.targets for name in _names(target)}
    return known


def _returns_a_time(function: Function) -> bool:
    """Whether this helper returns the difference of two clocks."""
    known = _times_in(function, frozenset())
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    differences = [one for one in returned if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub)]
    return any(_reads_a_clock(one, frozenset()) or _names(one) & known for one in differences)


def _bounds_a_time(test: ast.expr, known: set[str], timed: frozenset[str]) -> bool:
    """Whether a time must be short; that it is long, or comes after another, holds on a busy machine too."""

    def is_time(node: ast.expr) -> bool:
        if isinstance(node, ast.SetComp | ast.ListComp):
            node = node.elt
        return bool(_names(node) & known) or _reads_a_clock(node, timed)

    conditions = [part for node in ast.walk(test) if isinstance(node, ast.comprehension) for part in node.ifs]
    passed_over = {id(one) for part in conditions for one in ast.walk(part)}
    for one in (node for node in ast.walk(test) if isinstance(node, ast.Compare) and id(node) not in passed_over):
        for left, op, right in zip([one.left, *one.comparators], one.ops, one.comparators, strict=False):
            if not isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                continue
            shorter, longer = (left, right) if isinstance(op, ast.Lt | ast.LtE) else (right, left)
            if is_time(shorter) and not is_time(longer) and "PATIENCE" not in _names(longer):
                return True
    return False


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

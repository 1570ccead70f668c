"""Heavy functions are called through the one place alone: a process with a bound, a deadline and a share, or inside another of them."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.architecture.source import Module, module_of, modules

# What hands a function to the one place (`kit/work/compute`), and what is that place.
HANDS_OVER = frozenset({"run", "run_small", "run_bounded", "ask_kind"})
PLACE = "kit/work/compute.py"
# Where a function is called directly that is no heavy one itself: it runs where heavy ones do.
INSIDE = {
    "engine/inference/simulated.py": {"_events": "handed to the processes, or to a thread where there is little"},
    "engine/executors/jobs.py": {
        "_problem_between": "asked by `ask_kind`, in a process where there is much",
        "_reserves": "asked by `ask_kind`, in a process where there is much",
    },
}
HEAVY = {
    "atrium.engine.turns.active_turn._parsed",
    "atrium.engine.executors.turns.checked_reply",
    "atrium.engine.inference.estimates.estimate_reply",
    "atrium.engine.inference.estimates.estimate_turn",
    "atrium.engine.workflows.progress._ids_in",
    "atrium.engine.workflows.interpreter.begin",
    "atrium.engine.workflows.interpreter.enter_next",
    "atrium.product.knowledge.extraction_prompt._together",
    "atrium.product.knowledge.reply_check.check_reply",
    "atrium.product.localization.formats.read",
    "atrium.product.pipeline.fields._refusal",
    "atrium.product.pipeline.fields._taken",
    "atrium.product.search.snippets.cut",
    "atrium.product.search.words.index",
    "atrium.product.translation.model_batches._joined",
    "atrium.product.translation.model_batches._parts_of",
    "atrium.product.translation.model_batches._restored",
    "atrium.product.translation.service._assembled",
    "atrium.product.translation.service._finished",
    "atrium.product.translation.service._templates",
    "atrium.product.translation.service.template_of",
    "atrium.seams.workflows.problems_in",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a heavy function is named: in which function, and whether it is handed over there."""

    path: str
    line: int
    inside: str
    name: str
    handed_over: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.inside or 'the module'} calls {self.name}"


def name_of(module: Module) -> str:
    return ".".join(("atrium", *module.parts)).removesuffix(".__init__")


def heavy_in(module: Module) -> Iterator[str]:
    """The functions of a module that are marked `@heavy`."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function) and any(
            ast.unparse(one) in ("heavy", "compute.heavy") for one in node.decorator_list
        ):
            yield f"{name_of(module)}.{node.name}"


def uses_in(module: Module, heavy: Iterable[str]) -> Iterator[Use]:
    """Every place of a module that names one of these functions, by whatever name it knows it."""
    known = _names(module, set(heavy))
    for function, node, above in _walked(module.tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            named = known.get(ast.unparse(node))
            if named is not None:
                yield Use(module.path, node.lineno, function, named, _is_handed_over(node, above))


def _names(module: Module, heavy: set[str]) -> dict[str, str]:
    """How a module calls heavy functions: its own, imported ones, and those of imported modules."""
    found = {one.rpartition(".")[2]: one for one in heavy if one.rpartition(".")[0] == name_of(module)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole, local = f"{node.module}.{alias.name}", alias.asname or alias.name
                found |= {local: whole} if whole in heavy else {}
                found |= {f"{local}.{one.rpartition('.')[2]}": one for one in heavy if one.rpartition(".")[0] == whole}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name
                found |= {
                    f"{local}.{one.rpartition('.')[2]}": one for one in heavy if one.rpartition(".")[0] == alias.name
                }
    return found


def _walked(
    tree: ast.AST, function: str = "", above: ast.AST | None = None
) -> Iterator[tuple[str, ast.AST, ast.AST | None]]:
    """Every node with the outermost function around it, and the node above it."""
    for node in ast.iter_child_nodes(tree):
        yield function, node, tree
        inside = function or (node.name if isinstance(node, Function) else "")
        yield from _walked(node, inside, tree)


def _is_handed_over(node: ast.expr, above: ast.AST | None) -> bool:
    """Whether it is an argument of what runs heavy functions."""
    if not isinstance(above, ast.Call) or node is above.func:
        return False
    called = above.func
    last = called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)
    return last in HANDS_OVER


def strays(found: Iterable[Module]) -> Iterator[str]:
    """Uses of heavy functions outside the one place."""
    looked_at = list(found)
    heavy = {one for module in looked_at for one in heavy_in(module)}
    for module in looked_at:
        own = {one.rpartition(".")[2] for one in heavy if one.rpartition(".")[0] == name_of(module)}
        allowed = own | INSIDE.get(module.path, {}).keys()
        if module.path != PLACE:
            yield from (str(use) for use in uses_in(module, heavy) if not use.handed_over and use.inside not in allowed)


def test_every_heavy_function_is_known() -> None:
    assert {one for module in modules() for one in heavy_in(module)} == HEAVY


def test_g4_heavy_functions_are_called_through_the_one_place_alone() -> None:
    assert list(strays(modules())) == []


def test_g4_every_heavy_function_is_handed_over_somewhere() -> None:
    uses = [use for module in modules() for use in uses_in(module, HEAVY)]
    inside = {use.name for use in uses if use.inside in {one.rpartition(".")[2] for one in HEAVY}}

    assert HEAVY - {use.name for use in uses if use.handed_over} - inside == set()


def test_exceptions_are_needed() -> None:
    uses = {(use.path, use.inside) for module in modules() for use in uses_in(module, HEAVY)}

    assert [(path, name) for path, names in INSIDE.items() for name in names if (path, name) not in uses] == []


PLANTED = """
from atrium.product.search import words
from atrium.product.search.words import index as indexed

async def put(compute, note):
    return await compute.run(note.org_id, len(note.body), {named}, note.title, "", note.body)

async def put_at_once(note):
    return {named}(note.title, "", note.body)

async def put_in_a_thread(note):
    return await asyncio.to_thread({named}, note.title, "", note.body)
"""


def test_a_planted_call_is_found_by_whatever_name() -> None:
    words = next(module for module in modules() if module.path == "product/search/words.py")
    for named in ("indexed", "words.index"):
        planted = module_of("product/notes/planted.py", PLANTED.format(named=named))

        found = list(strays([words, planted]))

        assert [one.partition(": ")[2] for one in found] == [
            "put_at_once calls atrium.product.search.words.index",
            "put_in_a_thread calls atrium.product.search.words.index",
        ]

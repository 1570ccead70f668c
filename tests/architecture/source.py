"""Our own source, read as syntax trees."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "atrium"
FLOORS = ("ground", "engine", "product", "admin")


@dataclass(frozen=True)
class Module:
    """One file: where it is below the package, its tree, and how many lines it has."""

    path: str
    tree: ast.Module
    lines: int

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.path.removesuffix(".py").split("/"))

    @property
    def domain(self) -> tuple[str, ...]:
        """Floor and room of a domain's module; empty elsewhere."""
        return self.parts[:2] if self.parts[0] in FLOORS and len(self.parts) == 3 else ()


def module_of(path: str, text: str) -> Module:
    return Module(path, ast.parse(text), len(text.splitlines()))


@cache
def modules() -> tuple[Module, ...]:
    return tuple(module_of(str(path.relative_to(SOURCE)), path.read_text()) for path in sorted(SOURCE.rglob("*.py")))


def imports_of(module: Module) -> Iterator[tuple[str, ...]]:
    """Everything of ours that is imported, in parts; `from a import b` is `a.b`."""
    for node in ast.walk(module.tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (tuple(name.split(".")[1:]) for name in names if name.startswith("atrium."))


def texts_of(module: Module) -> Iterator[str]:
    """Every text in the code, docstrings left out."""
    yield from (text for text, _ in _texts(module))


def _texts(module: Module) -> Iterator[tuple[str, ast.AST]]:
    docstrings = {id(node.body[0].value) for node in ast.walk(module.tree) if _has_docstring(node)}  # type: ignore[attr-defined]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, node


def joined_texts_of(module: Module) -> Iterator[str]:
    """The same with each formatted text in one piece, `{}` where values are put in."""
    joined = [node for node in ast.walk(module.tree) if isinstance(node, ast.JoinedStr)]
    pieces = {id(piece) for node in joined for piece in node.values}
    for node in joined:
        yield "".join(str(piece.value) if isinstance(piece, ast.Constant) else "{}" for piece in node.values)
    yield from (text for text, node in _texts(module) if id(node) not in pieces)


def _has_docstring(node: ast.AST) -> bool:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and ast.get_docstring(node) is not None


def attributes_of(module: Module) -> set[str]:
    """Every name that is reached with a dot, and every name imported."""
    return {node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)} | {
        alias.name for node in ast.walk(module.tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def undocumented(module: Module) -> Iterator[str]:
    """The module, and its public classes, functions and methods, where they say nothing about themselves."""
    if not ast.get_docstring(module.tree):
        yield module.path
    yield from _undocumented_in(module.tree, module.path)


def _undocumented_in(tree: ast.Module | ast.ClassDef, path: str) -> Iterator[str]:
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            yield f"{path}:{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented_in(node, f"{path}:{node.name}")

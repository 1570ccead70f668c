"""What tests and benchmarks replace by its name is there: a proof or a benchmark that nothing runs every day would not tell."""

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "benchmarks")


def imported_names(tree: ast.Module) -> dict[str, str]:
    """What each name that a file imports stands for, in full."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
    return names


def replaced_names(tree: ast.Module) -> Iterator[str]:
    """Every name of ours that is replaced by `monkeypatch.setattr` or `mock.patch`, in full."""
    known = imported_names(tree)
    for node in ast.walk(tree):
        match node:
            case (
                ast.Call(
                    func=ast.Attribute(attr="setattr"), args=[ast.Name(id=target), ast.Constant(value=str(name)), *_]
                )
                | ast.Call(
                    func=ast.Attribute(attr="object"), args=[ast.Name(id=target), ast.Constant(value=str(name)), *_]
                )
            ):
                if known.get(target, "").startswith("atrium."):
                    yield f"{known[target]}.{name}"
            case ast.Call(func=ast.Attribute(attr="setattr" | "patch"), args=[ast.Constant(value=str(name)), *_]):
                if name.startswith("atrium."):
                    yield name


def is_there(name: str) -> bool:
    """Whether a module, or something in it, is called so."""
    place, _, rest = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(place), rest)
    except ModuleNotFoundError:
        return bool(place) and is_there(place) and hasattr(_found(place), rest)


def _found(name: str) -> object:
    place, _, rest = name.rpartition(".")
    return getattr(importlib.import_module(place), rest)


def test_what_is_replaced_is_there() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    named = {
        (str(path.relative_to(ROOT)), name) for path in files for name in replaced_names(ast.parse(path.read_text()))
    }

    assert len(named) > 50
    assert sorted(one for one in named if not is_there(one[1])) == []


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("from atrium.kit import ids\nmock.patch.object(ids, 'no_such_name')", False),
        ("monkeypatch.setattr('atrium.kit.ids.no_such_name', 1)", False),
        ("from atrium.ground.tenancy import locales as other\nmonkeypatch.setattr(other, 'shipped', 1)", False),
        ("from atrium.ground.tenancy import locales\nmock.patch.object(locales, 'shipped_path')", True),
        ("monkeypatch.setattr(anything, 'no_such_name', 1)", True),
    ],
)
def test_a_planted_name_is_judged(text: str, sound: bool) -> None:
    assert all(is_there(name) for name in replaced_names(ast.parse(text))) is sound

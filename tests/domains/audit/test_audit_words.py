"""P7: every event that the source records is a sentence in every language that ships."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from atrium.product.onboarding.model import OUTCOMES
from tests.support.processes import ROOT

pytestmark = pytest.mark.finding

SOURCE = ROOT / "src" / "atrium"
LOCALES = sorted(path.name for path in (ROOT / "locales").iterdir() if path.is_dir())
# Kinds that are put together when they are recorded.
TRASHES = ("notes", "repository")
COMPOSED = {
    "f'onboarding.{state}'": {f"onboarding.{state}" for state in OUTCOMES.values()},
    **{
        f"f'{{trash.events}}.{deed}'": {f"{events}.{deed}" for events in TRASHES}
        for deed in ("restored", "purged", "expired")
    },
}
# How many there were when this was written; fewer would mean that they are no longer found.
AT_LEAST = 100


def recorded_in(tree: ast.Module, domain: str) -> Iterator[str]:
    """The kinds of the events that a module records; a name stands for every kind of the domain that the module spells out."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not _records(node.func):
            continue
        for argument in node.args:
            yield from _kinds(argument, tree, domain)


def _records(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in ("record", "record_as")
        and isinstance(called.value, ast.Name)
        and called.value.id == "audit"
    )


def _kinds(argument: ast.expr, tree: ast.Module, domain: str) -> Iterator[str]:
    if isinstance(argument, ast.JoinedStr):
        yield from COMPOSED[ast.unparse(argument)]
    elif isinstance(argument, ast.Name) and argument.id == "kind":
        yield from (text for text in _texts(tree) if text.startswith(f"{domain}."))
    elif isinstance(argument, ast.Constant | ast.IfExp):
        yield from (text for text in _texts(argument) if "." in text)


def _texts(tree: ast.AST) -> Iterator[str]:
    """Every text in a piece of source but the codes of refusals."""
    codes = {
        id(one.value)
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "code" for to in one.targets)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in codes:
            yield node.value


def all_recorded() -> set[str]:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        found.update(recorded_in(ast.parse(path.read_text()), path.parent.name))
    return found


def without_sentence(kinds: set[str], messages: dict[str, str]) -> list[str]:
    return sorted(kind for kind in kinds if not messages.get(f"kind_{kind.replace('.', '_')}", "").strip())


def messages_of(locale: str) -> dict[str, str]:
    return dict(json.loads((ROOT / "locales" / locale / "audit.json").read_text()))


@pytest.mark.parametrize("locale", LOCALES)
def test_p7_every_recorded_event_is_a_sentence(locale: str) -> None:
    kinds = all_recorded()

    assert len(kinds) >= AT_LEAST
    assert without_sentence(kinds, messages_of(locale)) == []


def test_p7_an_event_without_a_sentence_is_found(tmp_path: Path) -> None:
    module = (
        'async def do(ctx, on):\n    await audit.record(ctx, "ships.sunk", 1)\n'
        '    await audit.record(ctx, "ships.on" if on else "ships.off", 1)\n    kind = "ships.named"\n'
        "    await audit.record_as(db, who, kind, 1)\n"
        'class ShipGone(Missing):\n    code = "ships.gone"\n'
    )

    kinds = set(recorded_in(ast.parse(module), "ships"))

    assert kinds == {"ships.sunk", "ships.on", "ships.off", "ships.named"}
    assert without_sentence(kinds, {"kind_ships_sunk": "sank a ship", "kind_ships_on": " "}) == [
        "ships.named",
        "ships.off",
        "ships.on",
    ]

"""No line of the log quotes an exception: the logger is given the exception itself and writes what may be known of it."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, module_of, modules

# Before anybody's request is answered, and of a backup, whose refusals are written for operators.
BEFORE_ANY_REQUEST = {"boot.failed", "telemetry.missing", "backup.failed"}
LEVELS = {"debug", "info", "warning", "error", "exception"}


def quoting(module: Module) -> Iterator[str]:
    """Events that are logged with the text of a caught exception."""
    caught = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.ExceptHandler)}
    for call in (node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and _logs(node.func)):
        event = call.args[0] if call.args else None
        name = event.value if isinstance(event, ast.Constant) and isinstance(event.value, str) else ""
        if name not in BEFORE_ANY_REQUEST and any(_quotes(one.value, caught) for one in call.keywords):
            yield f"{module.path}: {name}"


def _logs(called: ast.expr) -> bool:
    if isinstance(called, ast.IfExp):
        return _logs(called.body)
    return (
        isinstance(called, ast.Attribute)
        and called.attr in LEVELS
        and isinstance(called.value, ast.Name)
        and called.value.id == "log"
    )


def _quotes(value: ast.expr, caught: set[str | None]) -> bool:
    """A caught exception is given in any other way than as itself."""
    if isinstance(value, ast.Name):
        return False
    return any(isinstance(node, ast.Name) and node.id in caught for node in ast.walk(value))


def test_no_line_of_the_log_quotes_an_exception() -> None:
    assert [found for module in modules() for found in quoting(module)] == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("error", []),
        ("str(error)", ["planted.py: it.failed"]),
        ("repr(error)", ["planted.py: it.failed"]),
        ("error.message", ["planted.py: it.failed"]),
        ("f'no: {error}'", ["planted.py: it.failed"]),
        ("error.args[0]", ["planted.py: it.failed"]),
        ("str(id)", []),
    ],
)
def test_a_planted_quotation_is_found(value: str, found: list[str]) -> None:
    text = f"try:\n    run()\nexcept ValueError as error:\n    log.warning('it.failed', error={value})\n"
    assert list(quoting(module_of("planted.py", text))) == found

"""A refusal that names a way out names one that exists: a row, a setting, a command or a permission."""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from atrium.cli import _parser
from atrium.ground.access.model import PERMISSIONS
from atrium.routes import ROUTES
from atrium.seams.settings import Settings
from tests.architecture.source import Module, module_of, modules, texts_of

ROW = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/[\w/:*-]*\w)")
SETTING = re.compile(r"\bSERVICE_([A-Z0-9_]+\w)\b")
COMMAND = re.compile(r"`atrium ([a-z]+)(?: ([a-z]+))?`")
PERMISSION = re.compile(r"\b(notes|files|org|settings|members|instance|localization|workflows|chat|jobs):[a-z]+\b")
ROWS = {(route.method, route.path) for route in ROUTES}
SETTINGS = {field.name.upper() for field in fields(Settings)}
LOCALES = Path(__file__).parents[2] / "locales"


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, ...]]:
    """Every command, and every command of a command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield (name,)
                yield from ((name, *more) for more in commands_of(inner))


COMMANDS = set(commands_of(_parser()))


def dead_ends(text: str) -> Iterator[str]:
    """What a sentence sends people to that is not there."""
    yield from (f"{method} {path}" for method, path in ROW.findall(text) if (method, path) not in ROWS)
    yield from (f"SERVICE_{name}" for name in SETTING.findall(text) if name not in SETTINGS)
    for found in COMMAND.finditer(text):
        if tuple(filter(None, found.groups())) not in COMMANDS:
            yield found[0]
    yield from (found[0] for found in PERMISSION.finditer(text) if found[0] not in PERMISSIONS)


def dead_ends_in(module: Module) -> list[str]:
    return [f"{module.path}: {way}" for text in texts_of(module) if " " in text for way in dead_ends(text)]


def test_every_way_out_that_a_refusal_names_is_there() -> None:
    assert [way for module in modules() for way in dead_ends_in(module)] == []


def test_there_are_such_refusals() -> None:
    named = [text for module in modules() for text in texts_of(module) if ROW.search(text) or SETTING.search(text)]

    assert len(named) > 20


@pytest.mark.parametrize(
    "text",
    [
        "send it to POST /api/nowhere instead",
        "set SERVICE_NO_SUCH_THING first",
        "run `atrium repair`",
        "run `atrium users forget`",
        "this needs the permission notes:burn",
    ],
)
def test_a_planted_dead_end_is_found(text: str) -> None:
    assert dead_ends_in(module_of("product/notes/service.py", f"HINT = {text!r}")) != []


@pytest.mark.parametrize("locale", ["en", "es", "is", "nl"])
def test_the_consoles_words_name_no_dead_end_either(locale: str) -> None:
    texts = [text for file in (LOCALES / locale).glob("*.json") for text in json.loads(file.read_text()).values()]

    assert [way for text in texts for way in dead_ends(text)] == []

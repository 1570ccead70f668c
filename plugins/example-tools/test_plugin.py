"""The example plugin as the loader sees it, and what its tool and routes answer."""
# ruff: noqa: D103, S101

from pathlib import Path

import msgspec
import pytest

from atrium.admin.plugins.loader import load_plugins
from atrium.sdk import Plugin, PluginRequest
from atrium.seams.wiring import Registry


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    load_plugins([Path(__file__).parent.parent], registry)
    return registry


@pytest.fixture
def plugin(registry: Registry) -> Plugin:
    return registry.plugins["example-tools"].plugin


def test_it_loads_whole(registry: Registry) -> None:
    assert "example-tools" not in registry.failed_plugins
    assert registry.tools["word_count"].source == "plugin:example-tools"


@pytest.mark.parametrize(
    ("text", "words", "lines"),
    [("to be\nor not", 4, 2), ("", 0, 0), ("  \n ", 0, 2), ("one", 1, 1), ("Grüße 🌍", 2, 1), ("a\tb\r\nc", 3, 2)],
)
async def test_words_are_what_white_space_separates(registry: Registry, text: str, words: int, lines: int) -> None:
    counted = await registry.tools["word_count"].run(None, None, {"text": text})

    assert (counted.words, counted.lines, counted.characters) == (words, lines, len(text))


async def test_both_routes_count_the_same(plugin: Plugin) -> None:
    from_query, from_body = plugin.routes

    asked = await from_query.handler(None, PluginRequest({}, from_query.query("one two"), None))
    posted = await from_body.handler(None, PluginRequest({}, {}, from_body.body("one two")))

    assert (asked.words, asked.characters, asked.lines) == (2, 7, 1)
    assert asked == posted


@pytest.mark.parametrize("body", [None, [], "text", {}, {"text": None}, {"text": 7}, {"text": "x" * 1_000_001}])
def test_anything_but_a_text_does_not_fit_the_body(plugin: Plugin, body: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(body, plugin.routes[1].body)

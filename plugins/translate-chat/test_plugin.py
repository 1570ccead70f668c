"""The plugin as the loader sees it."""
# ruff: noqa: D103, S101

from pathlib import Path

from atrium.admin.plugins.loader import load_plugins
from atrium.seams.wiring import Registry


def test_it_loads_whole() -> None:
    registry = Registry()
    load_plugins([Path(__file__).parent.parent], registry)

    assert "translate-chat" not in registry.failed_plugins
    tools = {name: registry.tools[name] for name in ("chat_message", "translate_text")}
    assert {tool.source for tool in tools.values()} == {"plugin:translate-chat"}
    assert all(tool.perform is not None and tool.effect == "read" for tool in tools.values())
    assert [spec.slug for spec in registry.plugins["translate-chat"].workflows] == ["translate-chat"]

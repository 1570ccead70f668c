"""The plugin as the loader sees it."""
# ruff: noqa: D103, S101

from pathlib import Path

from atrium.admin.plugins.loader import load_plugins
from atrium.seams.wiring import Registry


def test_it_brings_its_workflow_and_nothing_else() -> None:
    registry = Registry()
    load_plugins([Path(__file__).parent.parent], registry)

    assert "knowledge-graph" not in registry.failed_plugins
    loaded = registry.plugins["knowledge-graph"]
    assert [(spec.slug, spec.version) for spec in loaded.workflows] == [("index-knowledge", 1)]
    assert not loaded.plugin.tools

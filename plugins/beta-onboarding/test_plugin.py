"""The plugin as the loader sees it."""
# ruff: noqa: D103, S101

from pathlib import Path

from atrium.admin.plugins.loader import load_plugins
from atrium.seams.wiring import Registry


def test_it_brings_a_form_whose_every_language_is_whole() -> None:
    registry = Registry()
    load_plugins([Path(__file__).parent.parent], registry)

    assert "beta-onboarding" not in registry.failed_plugins
    loaded = registry.plugins["beta-onboarding"]
    form = loaded.onboarding
    assert form is not None
    assert [*loaded.plugin.tools, *loaded.plugin.workflows, *loaded.plugin.routes] == []
    assert not form.judge_prompt
    assert set(form.locales) == {"es", "is", "nl"}
    for overlay in form.locales.values():
        assert overlay.copy.keys() == form.copy.keys()
        assert overlay.fields.keys() == {field.name for field in form.fields}
        assert all(bool(overlay.fields[one.name].options) == bool(one.options) for one in form.fields)
        assert all(bool(overlay.fields[one.name].help) == bool(one.help) for one in form.fields)

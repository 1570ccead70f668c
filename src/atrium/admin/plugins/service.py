"""The verbs of plugins."""

from pathlib import Path

from atrium.admin.plugins import loader
from atrium.admin.plugins.model import PluginCard
from atrium.kit.paths import shipped
from atrium.seams.context import Context
from atrium.seams.settings import Settings
from atrium.seams.wiring import Registry


def load_all(settings: Settings, registry: Registry) -> None:
    """Load the shipped plugins, the operator's folder and what pip installed."""
    folders = [shipped("plugins"), *([Path(settings.plugins_dir)] if settings.plugins_dir else [])]
    loader.load_plugins(folders, registry)


def list_plugins(ctx: Context) -> list[PluginCard]:
    """Every loaded plugin, by id."""
    loaded = ctx.services.registry.plugins
    return [
        PluginCard(
            id=one.id,
            name=one.name,
            version=one.version,
            description=one.description,
            tools=[tool.name for tool in one.plugin.tools],
            workflows=[spec.slug for spec in one.workflows],
            routes=[f"{route.method} /api/x/{one.id}{route.path}" for route in one.plugin.routes],
            job_kinds=[kind.name for kind in one.plugin.job_kinds],
            bundles=list(one.bundles),
            onboarding=one.onboarding is not None,
        )
        for _, one in sorted(loaded.items())
    ]

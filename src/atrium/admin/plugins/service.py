"""The verbs of plugins."""

import asyncio
from pathlib import Path

from atrium.admin.plugins import bundles, loader
from atrium.admin.plugins.model import PluginCard
from atrium.kit.files.paths import shipped_path
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Content
from atrium.seams.settings import Settings
from atrium.seams.wiring import Registry

_PUBLIC, _PRIVATE = "public, max-age=300", "private, no-store"


def load_all(settings: Settings, registry: Registry) -> None:
    """Load the shipped plugins, the operator's folder and what pip installed."""
    folders = [shipped_path("plugins"), *([Path(settings.plugins_dir)] if settings.plugins_dir else [])]
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
            page=None if one.page is None else dict(one.page),
            onboarding=one.onboarding is not None,
        )
        for _, one in sorted(loaded.items())
    ]


async def read_landing(op: Operation, plugin: str, path: str) -> Content:
    """A file of a plugin's `landing/`."""
    return await asyncio.to_thread(
        bundles.read_file, op.services.registry.plugins, plugin, bundles.LANDING, path, _PUBLIC
    )


async def read_bundle(op: Operation, plugin: str, path: str) -> Content:
    """A file of a plugin's `bundle/`."""
    return await asyncio.to_thread(
        bundles.read_file, op.services.registry.plugins, plugin, bundles.BUNDLE, path, _PRIVATE
    )

"""Workflow specs shipped by plugins; each digest is computed once per process."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from atrium.seams.wiring import LoadedPlugin, Registry
from atrium.seams.workflows import Workflow


class PluginSpec(msgspec.Struct, frozen=True):
    """A spec that a plugin brings; the digest stands for all of it but its version."""

    source: str
    spec: Workflow
    document: dict[str, Any]
    digest: bytes


class BroughtSpecs:
    """The specs looked for so far, each with the plugin as it was loaded then."""

    def __init__(self) -> None:
        self._specs: dict[str, tuple[LoadedPlugin, PluginSpec]] = {}

    def find(self, registry: Registry, slug: str) -> PluginSpec | None:
        """The spec that a loaded plugin brings under this slug."""
        for plugin in registry.plugins.values():
            for spec, document in zip(plugin.workflows, plugin.plugin.workflows, strict=True):
                if spec.slug == slug:
                    return self._keep(plugin, spec, document)
        return None

    def _keep(self, plugin: LoadedPlugin, spec: Workflow, document: Mapping[str, Any]) -> PluginSpec:
        kept = self._specs.get(spec.slug)
        if kept is None or kept[0] is not plugin:
            facts = {name: value for name, value in document.items() if name != "version"}
            digest = hashlib.sha256(msgspec.json.encode(facts, order="sorted")).digest()
            kept = self._specs[spec.slug] = plugin, PluginSpec(f"plugin:{plugin.id}", spec, facts, digest)
        return kept[1]

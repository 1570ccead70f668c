"""The nouns of plugins."""

import msgspec


class PluginCard(msgspec.Struct, frozen=True):
    """A loaded plugin and what it brought."""

    id: str
    name: str
    version: str
    description: str
    tools: list[str]
    workflows: list[str]
    routes: list[str]
    job_kinds: list[str]
    bundles: list[str]
    onboarding: bool


class LoadRefused(Exception):
    """The plugin's own fault, found at load; the message says where."""

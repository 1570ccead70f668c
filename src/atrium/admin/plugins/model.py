"""The nouns of plugins."""

import msgspec

from atrium.kit.errors import Missing


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
    # What its page in the console is called, by language; null without a page.
    page: dict[str, str] | None
    onboarding: bool


class LoadRefused(Exception):
    """The plugin's own fault, found at load; the message says where."""


class BundleFileMissing(Missing):
    """No plugin has such a file."""

    code = "plugins.file_missing"
    title = "No such file"

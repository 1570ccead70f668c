"""plugin.toml: what a plugin says about itself."""

from pathlib import Path
from typing import Annotated

import msgspec

NAME = "plugin.toml"


class PluginManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The five fields, all required."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{1,39}$(?!\n)")]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    version: Annotated[str, msgspec.Meta(pattern=r"^\d+\.\d+\.\d+$(?!\n)")]
    description: Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
    entry: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.py$(?!\n)")]


def read_manifest(folder: Path) -> PluginManifest:
    """The manifest in a plugin's folder; whatever is wrong raises with its place."""
    return msgspec.toml.decode((folder / NAME).read_bytes(), type=PluginManifest)

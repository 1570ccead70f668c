"""Puts the console into the wheel when it is built; without it the server works, and its front page says how to build it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        dist = Path(self.root) / "console" / "dist"
        if version == "editable" or not (dist / "index.html").is_file():
            return
        build_data["force_include"][str(dist)] = "atrium/shipped/console"

"""Puts the built console into the wheel; an editable install of a fresh checkout has none yet and needs none."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        dist = Path(self.root) / "console" / "dist"
        if not (dist / "index.html").is_file():
            raise SystemExit("the console is not built: run `make console` before building the package")
        build_data["force_include"][str(dist)] = "atrium/shipped/console"

"""Where the clients come from: each in its newest release from the registries, installed once into a folder of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class NotInstallable(Exception):
    """The registries of this machine do not carry the client."""


@dataclass(frozen=True)
class Shelf:
    """A folder of installed clients."""

    folder: Path

    def python(self, name: str, *packages: str) -> Path:
        """The interpreter of an environment that holds these packages; clients pin each other's libraries, so one each."""
        home = self.folder / name
        interpreter = home / "bin" / "python"
        if not (home / "ready").exists():
            _run([sys.executable, "-m", "venv", str(home)])
            _run([str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])
            (home / "ready").touch()
        return interpreter

    def script(self, name: str, command: str, *packages: str) -> Path:
        """A command that came with these packages."""
        return self.python(name, *packages).parent / command

    def node(self, name: str, *packages: str) -> Path:
        """A folder whose `node_modules` holds these packages."""
        home = self.folder / name
        if not (home / "ready").exists():
            home.mkdir(parents=True, exist_ok=True)
            (home / "package.json").write_text('{"private": true, "type": "module"}')
            _run(["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(home), *packages])
            (home / "ready").touch()
        return home

    def debian(self, package: str, command: str, *more: str) -> Path:
        """A command of a Debian package, installed when it is missing and we may."""
        path = Path("/usr/bin") / command
        if not path.exists():
            if os.geteuid() != 0 or shutil.which("apt-get") is None:
                raise NotInstallable(f"{command} comes with Debian's package {package}")
            _run(["apt-get", "install", "-y", "-qq", package, *more])
        return path


def _run(command: Sequence[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise NotInstallable(f"{' '.join(command)}: {(ended.stderr or ended.stdout).strip()[-600:]}")

"""The folders of guests: finding them, telling whether one has changed, reading its manifest."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from atrium.admin.sandbox.model import GuestManifest
from atrium.kit.isolation.sandbox import is_readable_inside

NAME = "guest.toml"
_MOST_GUESTS, _MOST_FILES = 256, 20_000


class ManifestRefused(Exception):
    """The guest's folder cannot be used; the message says why and what to do."""


def find_folders(root: Path) -> dict[str, tuple[Path, bytes]]:
    """Every folder with a manifest, by its name, with what stands for its content."""
    try:
        folders = sorted(one for one in root.iterdir() if os.path.isfile(one / NAME))[:_MOST_GUESTS]
    except OSError:
        return {}
    return {folder.name: (folder.resolve(), _signature(folder)) for folder in folders}


def read_manifest(folder: Path) -> GuestManifest:
    """The manifest, whole and usable here; ManifestRefused otherwise."""
    try:
        manifest = msgspec.toml.decode((folder / NAME).read_bytes(), type=GuestManifest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ManifestRefused(f"{NAME} cannot be read: {str(error)[:300]}") from error
    if manifest.id != folder.name:
        raise ManifestRefused(f"{NAME} says the id {manifest.id}; name the folder like that")
    if not is_readable_inside(folder):
        raise ManifestRefused(
            "the sandbox cannot read the folder; run chmod -R o+rX on it and chmod o+x on those above"
        )
    return manifest


def _signature(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for number, (path, facts) in enumerate(_files(folder)):
        if number >= _MOST_FILES:
            break
        digest.update(
            f"{path}\0{facts.st_mtime_ns}\0{facts.st_size}\0{facts.st_mode}\0".encode("utf-8", "surrogateescape")
        )
    return digest.digest()


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for where, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(where, name)
            try:
                yield path, os.lstat(path)
            except OSError:
                continue

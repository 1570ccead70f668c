"""Pages of plugins: the files below `bundle/` and `landing/`, and what a browser may do with each."""

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

from atrium.admin.plugins.model import BundleFileMissing, LoadRefused
from atrium.kit.files.paths import path_inside
from atrium.seams.routes import Content
from atrium.seams.wiring import LoadedPlugin

# Served to people who are signed in, and to everybody.
BUNDLE, LANDING = "bundle", "landing"
# The module that the console mounts, and what the console calls its page.
MODULE, CARD = "main.js", "page.json"
# They share the console's origin: as documents they get one of their own, so that they reach neither its session nor its storage.
_SANDBOX = "sandbox allow-scripts"
_OCTETS = "application/octet-stream"
_DOCUMENTS = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}
_TYPES = _DOCUMENTS | {
    ".avif": "image/avif",
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".otf": "font/otf",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".ttf": "font/ttf",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webm": "video/webm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


class _Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: dict[
        Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$(?!\n)")],
        Annotated[str, msgspec.Meta(min_length=1, max_length=80)],
    ]


def folders_of(plugin: Path) -> dict[str, Path]:
    """The folders of pages that a plugin has, by name."""
    return {name: plugin / name for name in (BUNDLE, LANDING) if (plugin / name).is_dir()}


def titles_of(folders: Mapping[str, Path]) -> dict[str, str] | None:
    """What the plugin's page in the console is called, by language; None without a page."""
    folder = folders.get(BUNDLE)
    if folder is None or path_inside(folder, MODULE) is None:
        return None
    card = path_inside(folder, CARD)
    if card is None:
        return {}
    try:
        return msgspec.json.decode(card.read_bytes(), type=_Card).title
    except msgspec.MsgspecError as error:
        raise LoadRefused(f"{BUNDLE}/{CARD}: {error}") from error


def read_file(plugins: Mapping[str, LoadedPlugin], plugin: str, folder: str, path: str, cache: str) -> Content:
    """One regular file of a plugin's folder; dot-files, links, folders and everything else are absent."""
    loaded = plugins.get(plugin)
    root = None if loaded is None else loaded.bundles.get(folder)
    found = None if root is None or _is_hidden(path) else path_inside(root, path)
    if found is None:
        raise BundleFileMissing("no plugin has a file at this address")
    suffix, body = found.suffix.lower(), found.read_bytes()
    return Content(
        body,
        _TYPES.get(suffix, _OCTETS),
        _SANDBOX if suffix in _DOCUMENTS else None,
        cache=cache,
        vary="Authorization" if folder == BUNDLE else "Accept-Encoding",
        etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        # A landing page is an origin of its own, and loads its pictures and scripts from here.
        shared=folder == LANDING,
    )


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).parts)

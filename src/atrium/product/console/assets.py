"""Files of the built console: finding one, in the smallest form the browser can unpack."""

import mimetypes
import re
from functools import lru_cache
from pathlib import Path

from atrium.kit.files.paths import path_inside
from atrium.product.console.model import AssetMissing
from atrium.seams.routes import Content

FOREVER, REVALIDATE = "public, max-age=31536000, immutable", "no-cache"
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8}\.\w+$")
_PACKED = (("br", ".br"), ("gzip", ".gz"))
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".woff2": "font/woff2"}


def read_asset(root: Path, path: str, accepted: str | None, policy: str | None = None) -> Content:
    """One file below `root`; its name carries a hash of its content, so a browser keeps it for a year."""
    for encoding, suffix in _PACKED:
        if encoding in (accepted or "") and (packed := _bytes_of(root, path + suffix)) is not None:
            return Content(packed, _type_of(path), policy, cache=_cache_of(path), encoding=encoding)
    plain = None if path.endswith((".br", ".gz")) else _bytes_of(root, path)
    if plain is None:
        raise AssetMissing("the console has no such file")
    return Content(plain, _type_of(path), policy, cache=_cache_of(path))


@lru_cache(maxsize=256)
def _bytes_of(root: Path, path: str) -> bytes | None:
    found = path_inside(root, path)
    return None if found is None else found.read_bytes()


def _type_of(path: str) -> str:
    suffix = Path(path).suffix
    return _TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")


def _cache_of(path: str) -> str:
    return FOREVER if _HASHED.search(path) else REVALIDATE

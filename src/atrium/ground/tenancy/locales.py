"""Which languages the instance has: those with a folder of catalogs, and those that were imported."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from atrium.seams.settings import Settings


def locale_folders(settings: Settings) -> tuple[Path, Path]:
    """The folders of catalogs: the one that ships, and the instance's own above it."""
    own = Path(settings.locales_dir) if settings.locales_dir else settings.data_dir / "locales"
    return shipped_path("locales"), own


def list_locales(settings: Settings, imported: Iterable[str] = ()) -> list[str]:
    """Every language there is, by name."""
    below, own = locale_folders(settings)
    return sorted({*_shipped(below), *catalogs.available(own), *imported})


@lru_cache(maxsize=8)
def _shipped(folder: Path) -> tuple[str, ...]:
    # It changes only with the program.
    return tuple(catalogs.available(folder))

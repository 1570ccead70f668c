"""Locale files: which there are, reading them, and which one stands in when a message is missing."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

BASE = "en"


def available(root: Path) -> list[str]:
    """The locales that have a folder of catalogs, by name."""
    return sorted(folder.name for folder in root.iterdir() if folder.is_dir()) if root.is_dir() else []


def read_locale(root: Path, locale: str) -> dict[str, str]:
    """Every message of one locale, keyed `<namespace>.<name>`; empty for a locale that has no folder."""
    return {
        f"{file.stem}.{name}": text
        for file in sorted((root / locale).glob("*.json"))
        for name, text in json.loads(file.read_text("utf-8")).items()
    }


def fallback_chain(requested: str, default: str) -> list[str]:
    """Where to look for a message, best first: the locale, its language, the instance's default, English."""
    tried = (requested, requested.partition("-")[0], default, default.partition("-")[0], BASE)
    return list(dict.fromkeys(tried))


def preferred(accept_language: str | None, locales: Sequence[str], default: str) -> str:
    """The locale among `locales` that a browser's Accept-Language asks for first, or the default."""
    for wanted in _ranked(accept_language or ""):
        found = next((locale for locale in (wanted, wanted.partition("-")[0]) if locale in locales), None)
        if found is not None:
            return found
    return default


def _ranked(header: str) -> Iterable[str]:
    weighed = []
    for part in header[:500].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            weighed.append((float(weight or 1), name.strip()))
        except ValueError:
            continue
    return [name for weight, name in sorted(weighed, key=lambda one: -one[0]) if weight > 0]

"""Locale files: which there are, reading them, and which one stands in when a message is missing."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from babel.core import get_global

from atrium.kit.work.pace import pace

BASE = "en"
LOCALE_PATTERN = r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$(?!\n)"
_LOCALE, _NAMESPACE = re.compile(LOCALE_PATTERN), re.compile(r"[a-z0-9]{1,100}\Z")
LONGEST_NAME, LONGEST_TEXT = 200, 20_000
# What XML, and so XLIFF, cannot hold; no message needs it.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LARGEST_FILE = 64 << 20


@dataclass(slots=True)
class RefusedText:
    """A text or a file that cannot be taken, and why."""

    locale: str
    key: str
    code: str
    message: str


@dataclass(slots=True)
class LocaleFiles:
    """The messages of one locale as its files have them; a namespace whose file is there and holds something is whole."""

    messages: dict[str, str] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=set)
    refused: list[RefusedText] = field(default_factory=list)


def is_locale(name: str) -> bool:
    """Whether this is the name of a locale, and so safe as the name of a folder."""
    return _LOCALE.match(name) is not None


def is_namespace(name: str) -> bool:
    """Whether this can be the name of a namespace, and so of a file."""
    return _NAMESPACE.match(name) is not None


def available(*roots: Path) -> list[str]:
    """The locales that have a folder of catalogs in one of these, by name."""
    return sorted({folder.name for root in roots for folder in _folders(root) if is_locale(folder.name)})


def _folders(root: Path) -> list[Path]:
    try:
        return [one for one in root.iterdir() if one.is_dir() and not one.is_symlink()]
    except OSError:
        return []


def read_locale(root: Path, locale: str) -> dict[str, str]:
    """Every message of one locale, keyed `<namespace>.<name>`; empty for a locale that has no folder."""
    return read_files((root,), locale).messages


def read_files(roots: Sequence[Path], locale: str) -> LocaleFiles:
    """Every message of one locale, folder above folder, key by key; what cannot be read is refused by name and the rest is read."""
    found = LocaleFiles()
    for file in _files(roots, locale):
        texts = _decoded(file, locale, found.refused)
        if texts:
            found.namespaces.add(file.stem)
        for name, text in pace(texts.items()):
            key = f"{file.stem}.{name}"
            if (why := _refusal(name, text)) is not None:
                found.refused.append(RefusedText(locale, key[:300], "bad_text", why))
            else:
                found.messages[key] = text
    return found


def _files(roots: Sequence[Path], locale: str) -> Iterator[Path]:
    if not is_locale(locale):
        return
    for root in roots:
        yield from (file for file in sorted((root / locale).glob("*.json")) if is_namespace(file.stem))


def _decoded(file: Path, locale: str, refused: list[RefusedText]) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise ValueError(f"the file has more than {_LARGEST_FILE} bytes")
        texts = json.loads(file.read_text("utf-8"))
        if not isinstance(texts, dict):
            raise TypeError("the file is not an object of texts")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        refused.append(RefusedText(locale, file.stem, "bad_file", str(error)[:300] or "nested too deeply"))
        return {}
    return texts


def _refusal(name: str, text: object) -> str | None:
    if not name or len(name) > LONGEST_NAME or CONTROL.search(name):
        return f"a name has 1 to {LONGEST_NAME} characters"
    if not isinstance(text, str):
        return "not a text"
    if len(text) > LONGEST_TEXT:
        return f"more than {LONGEST_TEXT} characters"
    return "a character that no message may have" if CONTROL.search(text) else None


def fingerprint(*roots: Path) -> str:
    """Differs whenever the files of one of these folders do."""
    digest = hashlib.blake2b(digest_size=16)
    for root in roots:
        for file in sorted(root.glob("*/*.json")) + sorted(root.glob("*.about.json")):
            digest.update(f"{file.relative_to(root)}\0".encode())
            try:
                digest.update(hashlib.blake2b(file.read_bytes()).digest())
            except OSError:
                digest.update(b"unreadable")
    return digest.hexdigest()


def parents(locale: str) -> list[str]:
    """The locale and those behind it by CLDR, the nearest first; none across scripts."""
    exceptions: Mapping[str, str] = get_global("parent_exceptions")
    chain, name = list[str](), locale.replace("-", "_")
    while name and name != "root" and len(chain) < 5:
        chain.append(name.replace("_", "-"))
        head, _, last = name.rpartition("_")
        # What stands before a script is the language in another script.
        name = exceptions.get(name) or ("" if len(last) == 4 and last.isalpha() else head)
    return chain


def fallback_chain(requested: str, default: str) -> list[str]:
    """Where to look for a message, best first: the locale and its parents, the instance's default and its parents, English."""
    return list(dict.fromkeys([*parents(requested), *parents(default), BASE]))


def choose_locale(accept_language: str | None, locales: Sequence[str], default: str) -> str:
    """The locale among `locales` that a browser's Accept-Language asks for first, or the default."""
    for wanted in _ranked(accept_language or ""):
        found = next((locale for locale in parents(wanted) if locale in locales), None)
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

"""Catalogs on disk: the shipped folder below, the instance's own above it. Nothing here knows the database."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from atrium.kit.ids import new_id
from atrium.kit.text import catalogs
from atrium.kit.text.catalogs import LocaleFiles, RefusedText
from atrium.product.localization.model import ExportedFile, ExportFailed

_LONGEST_ABOUT, _MOST_SCREENS = 2_000, 50


class About(msgspec.Struct, frozen=True):
    """What a translator is told of a message."""

    about: str = ""
    max_length: int | None = None
    screens: list[str] = msgspec.field(default_factory=list)


NOTHING_ABOUT = About()


@dataclass(slots=True)
class DiskSource:
    """The source on disk, what is said about it, and which other locales there are."""

    source: LocaleFiles
    keys: list[str]
    about: dict[str, About]
    locales: list[str]
    refused: list[RefusedText] = field(default_factory=list)


def read_source(roots: Sequence[Path], wanted: Sequence[str] | None) -> DiskSource:
    """The source, and the names of the locales that are wanted, or of all."""
    source = catalogs.read_files(roots, catalogs.BASE)
    refused = list(source.refused)
    names = [
        name for name in catalogs.available(*roots) if name != catalogs.BASE and (wanted is None or name in wanted)
    ]
    return DiskSource(source, sorted(source.messages), read_about(roots, refused), names, refused)


def read_texts(roots: Sequence[Path], locale: str, found: DiskSource) -> LocaleFiles:
    """The texts of a locale, none of one that has no folder; a key that the source has not is refused."""
    if locale not in found.locales:
        return LocaleFiles()
    files = catalogs.read_files(roots, locale)
    unknown = files.messages.keys() - found.source.messages.keys()
    files.refused += [RefusedText(locale, key, "unknown_key", "the source has no such key") for key in sorted(unknown)]
    return files


def read_about(roots: Sequence[Path], refused: list[RefusedText]) -> dict[str, About]:
    """What `<ns>.about.json` files say, by key."""
    found: dict[str, About] = {}
    for root in roots:
        for file in sorted(root.glob("*.about.json")):
            ns = file.name.partition(".")[0]
            try:
                said = msgspec.json.decode(file.read_bytes(), type=dict[str, About])
            except (OSError, msgspec.DecodeError) as error:
                refused.append(RefusedText("", file.name, "bad_file", str(error)[:300]))
                continue
            if catalogs.is_namespace(ns):
                found |= {f"{ns}.{name}": _bounded(one) for name, one in said.items()}
    return found


def _bounded(one: About) -> About:
    longest = one.max_length if one.max_length and 0 < one.max_length <= catalogs.LONGEST_TEXT else None
    return About(one.about[:_LONGEST_ABOUT], longest, [*map(_line, one.screens[:_MOST_SCREENS])])


def _line(screen: str) -> str:
    return " ".join(screen.split())[:200]


def as_file(texts: Mapping[str, str]) -> bytes:
    """A catalog file: sorted, the same bytes for the same texts."""
    return (json.dumps(dict(sorted(texts.items())), ensure_ascii=False, indent=2) + "\n").encode()


def write_locale(root: Path, locale: str, messages: Mapping[str, str]) -> list[ExportedFile]:
    """Write a locale's catalogs, each file replaced whole or not at all, and only those of namespaces that have a text."""
    if not catalogs.is_locale(locale):
        raise ValueError(locale)
    folder, by_namespace = root / locale, dict[str, dict[str, str]]()
    for key, text in messages.items():
        ns, _, name = key.partition(".")
        if catalogs.is_namespace(ns):
            by_namespace.setdefault(ns, {})[name] = text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.is_symlink():
            raise OSError("the folder is a link")
        return [_replace(folder, ns, texts) for ns, texts in sorted(by_namespace.items())]
    except OSError as error:
        raise ExportFailed(
            f"{locale}: {error.strerror or error}; free the disk or the folder and export again"
        ) from error


def _replace(folder: Path, ns: str, texts: Mapping[str, str]) -> ExportedFile:
    file, body = folder / f"{ns}.json", as_file(texts)
    made = ExportedFile(f"{folder.name}/{file.name}", len(texts), hashlib.sha256(body).hexdigest())
    if not file.is_symlink() and _content(file) == body:
        return made
    beside = folder / f".{ns}.json.{new_id().hex}.part"
    try:
        with beside.open("wb") as out:
            out.write(body)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    return made


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def as_json(value: Any) -> bytes:
    """JSON for people: indented, sorted, ending with a line feed."""
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()

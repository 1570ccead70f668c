"""The labelled set for relevance, out of Debian's packages: a manual page's description asks, the page and its SEE ALSO answer."""

import gzip
import io
import random
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

PACKAGES = (
    "manpages",
    "manpages-dev",
    "coreutils",
    "git-man",
    "perl-doc",
    "libssl-doc",
    "tcl8.6-doc",
    "systemd",
    "util-linux",
)
# What is downloaded stays here.
FOLDER = Path(tempfile.gettempdir()) / "atrium-man-pages"
_PAGE = re.compile(r".*/man/man([1-9]\w*)/(.+)\.(\w+)\.gz")
_HEADING = re.compile(r'[.\']S[Hh]\s+"?([^"]*)"?')
_REQUEST = re.compile(r"^[.']\s*([A-Za-z]+)\s*(.*)")
_NAME = re.compile(r"\s*(.*?)\s+-{1,2}\s+(.*)")
_REFERENCE = re.compile(r"([A-Za-z0-9_.:+-]+)\s*\(\s*[1-9]\w*\s*\)")
# Requests that lay out the page and say nothing.
_SILENT = frozenset(
    [
        "de",
        "ds",
        "nr",
        "if",
        "ie",
        "el",
        "ig",
        "TH",
        "Dd",
        "Dt",
        "Os",
        "ta",
        "ad",
        "ne",
        "nh",
        "ps",
        "tr",
        "rm",
        "rr",
        "so",
        "hy",
    ]
)
_LEFT_OUT = frozenset(
    ("", "NAME", "SEE ALSO", "AUTHOR", "AUTHORS", "COPYRIGHT", "REPORTING BUGS", "COLOPHON", "HISTORY")
)
_LEAST, _MOST = 300, 20_000
# How well something answers: the page itself, and one that it refers to.
_ITSELF, _RELATED = 3, 1


class ManPage(msgspec.Struct, frozen=True):
    """A manual page: its name, the line that describes it, its text without that line, and the names it refers to."""

    name: str
    description: str
    body: str
    see: tuple[str, ...]

    @property
    def title(self) -> str:
        """The name as words."""
        return re.sub(r"[_:.-]+", " ", self.name).strip()


class Question(msgspec.Struct, frozen=True):
    """What is asked by somebody who reads a language, and how well each page answers it."""

    text: str
    answers: dict[int, int]
    locale: str = "en"


def download(folder: Path, packages: tuple[str, ...] = PACKAGES) -> list[Path]:
    """The packages' archives; those that are there already are not asked for again."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in packages if not any(folder.glob(f"{name}_*.deb"))]
    if missing:
        subprocess.run(["apt-get", "download", "-qq", *missing], cwd=folder, check=True, capture_output=True)
    return [next(folder.glob(f"{name}_*.deb")) for name in packages]


def read_pages(archives: list[Path]) -> list[ManPage]:
    """Every page of these archives that describes itself, each text once, in the order of their names."""
    found: dict[str, ManPage] = {}
    for archive in archives:
        for name, raw in _sources(archive):
            page = _page(name, raw)
            if page is not None:
                found.setdefault(page.body[:2000], page)
    return sorted(found.values(), key=lambda page: (page.name, page.description))


def questions_of(pages: list[ManPage], most: int, seed: int = 7) -> list[Question]:
    """Descriptions of pages that refer to others of the set, in an order that stays the same."""
    at: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        at.setdefault(page.name, []).append(number)
    asked = []
    for number, page in enumerate(pages):
        related = {other for name in page.see for other in at.get(name, ()) if other != number}
        if related and len(page.description.split()) > 2:
            answers = dict.fromkeys(related, _RELATED) | {number: _ITSELF}
            asked.append(Question(page.description[:200], answers))
    random.Random(seed).shuffle(asked)
    return asked[:most]


def _sources(archive: Path) -> Iterator[tuple[str, str]]:
    unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(archive)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as files:
        for member in files:
            named = _PAGE.fullmatch(member.name)
            content = files.extractfile(member) if named and member.isfile() and "/man/man" in member.name else None
            if named and content is not None:
                yield named[2], gzip.decompress(content.read()).decode(errors="replace")


def _page(name: str, raw: str) -> ManPage | None:
    sections = _sections(raw)
    described = _NAME.match(" ".join(" ".join(sections.get("NAME", ())).split()))
    body = " ".join(
        " ".join(" ".join(lines) for heading, lines in sections.items() if heading not in _LEFT_OUT).split()
    )
    if described is None or len(body) < _LEAST:
        return None
    see = tuple(sorted(set(_REFERENCE.findall(" ".join(sections.get("SEE ALSO", ()))))))
    return ManPage(name, described[2].strip(), body[:_MOST].replace("\0", ""), see)


def _sections(raw: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in raw.splitlines():
        begins = _HEADING.match(line)
        if begins:
            heading = _plain(begins[1]).strip().upper()
            continue
        if line.startswith(("'\\\"", '.\\"')):
            continue
        request = _REQUEST.match(line)
        if request and request[1] in _SILENT:
            continue
        sections.setdefault(heading, []).append(_plain(request[2].replace('"', " ") if request else line))
    return sections


def _plain(text: str) -> str:
    """A line of the page's source without its marks."""
    text = re.sub(r"\\f(?:\[[^\]]*\]|\(..|.)", "", text)
    text = text.replace(r"\-", "-").replace(r"\&", "").replace(r"\e", "\\").replace(r"\(aq", "'")
    text = re.sub(r"\\s[+-]?\d+", "", text)
    return re.sub(r"\\\*?\(..|\\\[[^\]]*\]|\\.", " ", text)

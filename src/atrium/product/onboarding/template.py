"""Templates: HTML of an operator's own with marks for texts and files, which are always escaped. There is no engine."""

import re
from collections.abc import Callable, Iterator
from html import escape
from html.parser import HTMLParser

from atrium.seams.onboarding import Experience

LARGEST = 256 << 10
# What a page says about its language: `<html lang="{{locale}}" dir="{{direction}}">`.
PAGE = frozenset({"locale", "direction"})
_MARK = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_COPY = re.compile(r"copy\.([a-z][a-z0-9_]{0,39})")
_FIELD = re.compile(r"fields\.([a-z][a-z0-9_]{0,39})\.(label|help)")
_ASSET = re.compile(r"asset\.(logo|hero|font)")
# Where a mark's text would be code or an address instead of text, however it is escaped.
_RAW = frozenset(
    {
        "script",
        "style",
        "iframe",
        "noembed",
        "noframes",
        "noscript",
        "plaintext",
        "textarea",
        "title",
        "xmp",
        "svg",
        "math",
    }
)
_PLAIN = frozenset({"textarea", "title"})
_ADDRESSES = frozenset(
    {"src", "href", "action", "formaction", "srcset", "poster", "data", "ping", "background", "cite", "manifest"}
)


class _ScriptFinder(HTMLParser):
    """Finds scripts that have text, and marks where no escaping helps."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _RAW:
            self._open.append(tag)
        for name, value in attrs:
            self._judge_attribute(tag, name, value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            self._judge_attribute(tag, name, value or "")
        if tag in _RAW:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        if inside == "script" and data.strip():
            self.problems.append("a script element has text; scripts come from files of this server alone")
        elif inside and inside not in _PLAIN and _MARK.search(data):
            self.problems.append(f"a mark inside of {inside} cannot be filled in safely")

    def handle_comment(self, data: str) -> None:
        if _MARK.search(data):
            self.problems.append("a mark inside of a comment cannot be filled in safely")

    def _judge_attribute(self, tag: str, name: str, value: str) -> None:
        if _MARK.search(name):
            self.problems.append(f"a mark stands for the name of an attribute of {tag}")
        marks = _MARK.findall(value)
        if not marks:
            return
        if name.startswith("on") or name in ("style", "srcdoc"):
            self.problems.append(f"a mark in the attribute {name} cannot be filled in safely")
        elif name in _ADDRESSES and not all(map(_ASSET.fullmatch, marks)):
            self.problems.append(f"the attribute {name} takes {{{{asset.…}}}} and no other mark")


def problems_with(template: str, experience: Experience) -> Iterator[str]:
    """What is wrong with a template; nothing when it can be shown."""
    if len(template.encode()) > LARGEST:
        yield f"it has more than {LARGEST} bytes"
        return
    yield from (
        f"{{{{{mark[:60]}}}}} stands for nothing here"
        for mark in _MARK.findall(template)
        if not _is_known(mark, experience)
    )
    reader = _ScriptFinder()
    reader.feed(template)
    reader.close()
    yield from dict.fromkeys(reader.problems)
    if re.search(r"=\s*[^\s\"'>]*\{\{", template):
        yield "a mark in an attribute stands between quotes"


def fill(template: str, text_of: Callable[[str, str], str]) -> str:
    """The template with every mark replaced by what `text_of` says for it (kind, name), escaped."""
    return _MARK.sub(lambda found: escape(text_of(*_parts(found[1])), quote=True), template)


def _parts(mark: str) -> tuple[str, str]:
    if mark in PAGE:
        return "page", mark
    if found := _COPY.fullmatch(mark):
        return "copy", found[1]
    if found := _FIELD.fullmatch(mark):
        return found[2], found[1]
    if found := _ASSET.fullmatch(mark):
        return "asset", found[1]
    return "", ""


def _is_known(mark: str, experience: Experience) -> bool:
    kind, name = _parts(mark)
    if kind == "copy":
        return name in experience.copy
    return bool(kind) and (kind in ("asset", "page") or experience.field(name) is not None)

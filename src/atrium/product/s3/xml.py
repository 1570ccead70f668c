"""XML as S3 writes and reads it: a few elements, no attributes that matter, no entities of anybody's own."""

import re
from collections.abc import Iterator
from xml.parsers import expat

from atrium.product.s3.model import S3Error

_SPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# XML cannot hold most control characters, not even by number; keys of old that have such are told to those who ask for encoded ones.
_SPECIAL = re.compile('[&<>"\r\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]')
# Ten thousand parts with all that can be said about each have fewer tags, and a key written in references is shorter.
_MOST_TAGS, _LONG, _DEEPEST, _PIECE = 200_000, re.compile(rb"<[^<]{8192}"), 10, 32 << 10
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}


def text_of(value: object) -> str:
    """A value as it stands between two tags."""
    text = str(value)
    return _SPECIAL.sub(_escaped, text) if _SPECIAL.search(text) else text


def element(name: str, *inside: str) -> str:
    """An element around others that are written already."""
    return f"<{name}>{''.join(inside)}</{name}>"


def leaf(name: str, value: object) -> str:
    """An element around a value; a flag is written in lower case."""
    return f"<{name}>{text_of(str(value).lower() if isinstance(value, bool) else value)}</{name}>"


def optional(name: str, value: object | None) -> str:
    """A leaf, or nothing at all."""
    return "" if value is None else leaf(name, value)


def document(name: str, *inside: str) -> bytes:
    """A whole document in S3's namespace."""
    body = "".join(inside)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name} xmlns="{_SPACE}">{body}</{name}>'.encode(
        "utf-8", "replace"
    )


class Element:
    """An element that was read, whatever namespace it came in; those inside it that hold nothing but text are `leaves`."""

    __slots__ = ("inner", "leaves", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.inner: list[Element] = []
        self.leaves: list[tuple[str, str]] = []

    def all(self, name: str) -> Iterator["Element"]:
        """The elements of this name inside it."""
        yield from (one for one in self.inner if one.name == name)
        yield from (Element(name) for one, _ in self.leaves if one == name)

    def first(self, name: str) -> "Element | None":
        """The first of this name inside it."""
        return next(self.all(name), None)

    def texts(self, name: str) -> list[str]:
        """The texts of this name inside it."""
        return [text for one, text in self.leaves if one == name]

    def text(self, name: str) -> str | None:
        """The first text of this name inside it; None when there is none."""
        return next((text for one, text in self.leaves if one == name), None)


def read(raw: bytes, name: str) -> Element:
    """The document, whose outermost element must be this one."""
    if b"\0" in raw or not _is_utf8(raw):
        # In another encoding a declaration would not be seen here; the parser would take one that a mark at the front names.
        raise S3Error("MalformedXML", "the document must be UTF-8")
    if b"<!" in raw:
        # Neither S3 nor its clients write declarations; without any there is nothing to expand.
        raise S3Error("MalformedXML", "the document must not declare anything")
    if raw.count(b"<") > _MOST_TAGS or _LONG.search(raw):
        raise S3Error("MalformedXML", "the document has too many elements, or one that is too long")
    root = _ElementReader().read(raw)
    if root is None or root.name != name:
        raise S3Error("MalformedXML", f"the document must be a {name}")
    return root


class _ElementReader:
    """Keeps names and texts of a shallow document and nothing else of it."""

    def __init__(self) -> None:
        # Whatever the document says about itself.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.ordered_attributes = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._open: list[tuple[Element, list[str]]] = []
        self._root: Element | None = None

    def read(self, raw: bytes) -> Element | None:
        try:
            for start in range(0, len(raw), _PIECE):
                # By pieces, because the parser lets no other thread work before it has read what it was given.
                self._parser.Parse(raw[start : start + _PIECE], False)
            self._parser.Parse(b"", True)
        except (expat.ExpatError, ValueError) as error:
            raise S3Error("MalformedXML", "the body is not XML") from error
        finally:
            # The handlers and the parser hold each other.
            self._parser.StartElementHandler = self._parser.EndElementHandler = self._parser.CharacterDataHandler = None
        return self._root

    def _begin(self, name: str, attributes: list[str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise S3Error("MalformedXML", "the document is nested too deeply")
        self._open.append((Element(name.rpartition(":")[2]), []))

    def _text(self, text: str) -> None:
        self._open[-1][1].append(text)

    def _end(self, name: str) -> None:
        ended, texts = self._open.pop()
        if not self._open:
            self._root = ended
        elif ended.inner or ended.leaves:
            self._open[-1][0].inner.append(ended)
        else:
            self._open[-1][0].leaves.append((ended.name, "".join(texts)))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _escaped(found: re.Match[str]) -> str:
    return _NAMED.get(found[0], "\ufffd")

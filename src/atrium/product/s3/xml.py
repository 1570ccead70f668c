"""XML as S3 writes and reads it: a few elements, no attributes that matter, no entities of anybody's own."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from atrium.product.s3.model import Refusal

_SPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# The control characters too, which XML cannot hold: clients that ask for such keys ask for encoded ones.
_SPECIAL = re.compile('[&<>"\r\x00-\x08\x0b\x0c\x0e-\x1f]')
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


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
    """An element that was read, whatever namespace it came in."""

    __slots__ = ("_tree",)

    def __init__(self, tree: ElementTree.Element) -> None:
        self._tree = tree

    @property
    def name(self) -> str:
        """Its name without a namespace."""
        return str(self._tree.tag).rpartition("}")[2]

    def all(self, name: str) -> Iterator["Element"]:
        """Its children of this name."""
        return (child for child in map(Element, self._tree) if child.name == name)

    def first(self, name: str) -> "Element | None":
        """Its first child of this name."""
        return next(self.all(name), None)

    def text(self, name: str) -> str | None:
        """The text of its first child of this name; None when there is none."""
        found = self.first(name)
        return None if found is None else found.content

    @property
    def content(self) -> str:
        """Its own text."""
        return self._tree.text or ""


def read(raw: bytes, name: str) -> Element:
    """The document, whose outermost element must be this one."""
    if b"<!" in raw:
        # Neither S3 nor its clients write declarations; without any there is nothing to expand.
        raise Refusal("MalformedXML", "the document must not declare anything")
    try:
        root = Element(ElementTree.fromstring(raw))  # noqa: S314 - no declarations, bounded size
    except (ElementTree.ParseError, ValueError) as error:
        raise Refusal("MalformedXML", "the body is not XML") from error
    if root.name != name:
        raise Refusal("MalformedXML", f"the document must be a {name}")
    return root


def _escaped(found: re.Match[str]) -> str:
    return _NAMED.get(found[0]) or f"&#{ord(found[0])};"

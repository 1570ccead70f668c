"""HTML as units of prose: tags are held, code and scripts are never sent, and words of a reply are escaped."""

import html
import re
from collections.abc import Iterator

from atrium.product.translation.units.placeholders import (
    OrderedPlaceholder,
    Piece,
    Placeholder,
    margins,
    pieces_of,
    sentences,
    unit_of,
)

_TAG_START = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")
_ATTRIBUTES = re.compile(r"""(?:[^"'>]|"[^"]*+"|'[^']*+')*+>""")
_KEPT = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.I)


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# With everything in them: what is in some of these is no prose, and the others are never words of a sentence.
_WHOLE = _names("script style template textarea svg math iframe object canvas noscript head title")
_CODE = _names("code kbd samp var pre tt")
_INLINE = _names(
    "a abbr acronym b bdi bdo big br cite data del dfn em font i img ins mark q s small span strike strong sub sup time u wbr"
)


def html_units(text: str) -> OrderedPlaceholder:
    """The units of a document; a tag that is none of the inline ones ends a unit."""
    made, pieces, raw = OrderedPlaceholder(), list[Piece](), list[str]()
    for token, block in _tokens(text):
        if block:
            _emit(made, pieces, "".join(raw))
            pieces, raw = [], []
            made.keep(token.source if isinstance(token, Placeholder) else token)
            continue
        raw.append(token.source if isinstance(token, Placeholder) else token)
        pieces += [token] if isinstance(token, Placeholder) else _decoded(token)
    _emit(made, pieces, "".join(raw))
    return made


def _decoded(text: str) -> list[Piece]:
    """The words that the source stands for; addresses and placeholders are held."""
    return [
        Placeholder(html.escape(piece.source, quote=False)) if isinstance(piece, Placeholder) else piece
        for piece in pieces_of(html.unescape(text))
    ]


def _emit(made: OrderedPlaceholder, pieces: list[Piece], raw: str) -> None:
    lead, core, trail = margins(raw)
    made.keep(lead)
    if not core:
        return
    if isinstance(pieces[0], str):
        pieces[0] = pieces[0].lstrip()
    if isinstance(pieces[-1], str):
        pieces[-1] = pieces[-1].rstrip()
    pieces = [piece for piece in pieces if piece]
    if all(isinstance(piece, str) for piece in pieces):
        # Nothing is held, so that a long text may be cut anywhere.
        for part in sentences(core):
            _add(made, [html.unescape(part)], part)
    else:
        _add(made, pieces, core)
    made.keep(trail)


def _add(made: OrderedPlaceholder, pieces: list[Piece], source: str) -> None:
    lead, core, trail = margins(source)
    made.keep(lead)
    cut = [piece.strip() if isinstance(piece, str) and len(pieces) == 1 else piece for piece in pieces]
    made.add(unit_of(cut, core, escape=_escaped), core)
    made.keep(trail)


def _escaped(words: str) -> str:
    return html.escape(words, quote=False)


def _tokens(text: str) -> Iterator[tuple[Piece, bool]]:
    """Words, and tags with whether each ends a unit; joined they are the text."""
    lower, at = text.lower(), 0
    if len(lower) != len(text):
        lower = text
    while at < len(text):
        start = text.find("<", at)
        if start < 0:
            break
        end, whole = _end_of_tag(text, lower, start)
        if end is None:
            # A sign among the words.
            yield text[at : start + 1], False
            at = start + 1
            continue
        if start > at:
            yield text[at:start], False
        yield Placeholder(text[start:end], ordered=True), not whole
        at = end
    if at < len(text):
        yield text[at:], False


def _end_of_tag(text: str, lower: str, start: int) -> tuple[int | None, bool]:
    """Where the tag, comment or kept element ends, and whether it may stand in a sentence; None when there is none."""
    for opening, closing in (("<!--", "-->"), ("<!", ">"), ("<?", ">")):
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            return (len(text) if end < 0 else end + len(closing)), opening == "<!--"
    tag = _TAG_START.match(text, start)
    if tag is None:
        return None, False
    closed = _ATTRIBUTES.match(text, tag.end())
    if closed is None:
        # To a browser everything to the end is part of this tag.
        return len(text), False
    name, end = tag[2].lower(), closed.end()
    if tag[1] or text[end - 2] == "/":
        return end, name in _INLINE or name in _CODE
    kept = name in _CODE or _KEPT.search(text, tag.end(), end) is not None
    if name in _WHOLE or (kept and name not in ("br", "img", "wbr")):
        return _end_of_element(text, lower, name, end), kept and name != "pre" and (name in _INLINE or name in _CODE)
    return end, name in _INLINE


def _end_of_element(text: str, lower: str, name: str, at: int) -> int:
    """After the closing tag; without one everything to the end belongs to the element."""
    depth = 1
    for found in re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])").finditer(lower, at):
        depth += -1 if found[1] else 1
        if not depth:
            end = text.find(">", found.end())
            return len(text) if end < 0 else end + 1
    return len(text)

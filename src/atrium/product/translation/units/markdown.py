"""Markdown as units of prose, block by block: code, definitions and raw HTML blocks are never sent; whatever else is syntax is held."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from atrium.product.translation.units.markdown_spans import Labels, spans_of
from atrium.product.translation.units.placeholders import (
    OrderedPlaceholder,
    Piece,
    Placeholder,
    held_in,
    lines_of,
    margins,
    unit_of,
)

# `>`, `-`, `1.` and `- [ ]` before the content of a line, however many.
_PREFIX = re.compile(r"(?:[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?))*+[ \t]*")
_MARKER = re.compile(r"[-*+>]|\d[.)]")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_FENCE = re.compile(r"(`{3,}+)[^`]*$|(~{3,}+)")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}$")
_UNDERLINE = re.compile(r"(?:=+|-+)$")
_DEFINITION = re.compile(r"\[([^\]\[^][^\]\[]{0,998})\]:")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]:[ \t]*")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|===|:::)(?:\s|$)")
_DELIMITERS = re.compile(r"[ \t]*:?-+:?[ \t]*")
_PIPE = re.compile(r"(?<!\\)\|")
_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol "
    "optgroup option p param search section summary table tbody td tfoot th thead title tr track ul"
).replace(" ", "|")
_HTML_BLOCK = re.compile(rf"</?(?:{_BLOCK_TAGS})(?:[\s/>]|$)|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>\s*$", re.I)
# Raw HTML that runs to its own end, through blank lines.
_RAW_HTML = re.compile(r"<(script|pre|style|textarea)(?:[\s>]|$)|(<!--)|(<\?)|(<![A-Za-z])|(<!\[CDATA\[)", re.I)


def markdown_units(text: str) -> OrderedPlaceholder:
    """The units of a document."""
    return _Blocks(_labels(text)).cut(text)


def _labels(text: str) -> Labels:
    found = (_DEFINITION.match(line.lstrip()) for line in lines_of(text))
    return frozenset(" ".join(one[1].split()).casefold() for one in found if one)


def _broken(content: str) -> tuple[str, str]:
    """A line's words, and what makes its end a hard break: two spaces or a backslash; nothing where none is."""
    if content.endswith("\\"):
        return content[:-1], "\\"
    words = content.rstrip(" ")
    return (words, content[len(words) :]) if len(content) - len(words) > 1 else (content, "")


def _is_prose(content: str) -> bool:
    """Whether a line's content is words, and begins no block of another kind."""
    bare = content.strip()
    prefix = _PREFIX.match(content)
    return bool(bare) and not (
        (prefix is not None and prefix[0].strip())
        or re.match(r"(?:[-*+]|\d{1,9}[.)]|#{1,6})$", bare)
        or any(one.match(bare) for one in (_HEADING, _FENCE, _RULE, _UNDERLINE, _DEFINITION, _FOOTNOTE, _ADMONITION))
        or _HTML_BLOCK.match(bare)
        or _RAW_HTML.match(bare)
    )


def _end_of_raw(found: re.Match[str]) -> str:
    if found[1]:
        return f"</{found[1].lower()}>"
    return "-->" if found[2] else "?>" if found[3] else ">" if found[4] else "]]>"


@dataclass(slots=True)
class _MarkdownLine:
    prefix: str
    content: str
    end: str

    @property
    def raw(self) -> str:
        return self.prefix + self.content + self.end


def _line_of(raw: str) -> _MarkdownLine:
    body = raw.rstrip("\r\n")
    bare = body.strip()
    # A rule such as `- - -` looks like lists in lists.
    found = None if _RULE.match(bare) else _PREFIX.match(body)
    prefix = found[0] if found else body[: len(body) - len(body.lstrip())]
    return _MarkdownLine(prefix, body[len(prefix) :], raw[len(body) :])


@dataclass(slots=True)
class _Blocks:
    """One pass over the lines of a document."""

    labels: Labels
    made: OrderedPlaceholder = field(default_factory=OrderedPlaceholder)
    paragraph: list[_MarkdownLine] = field(default_factory=list)
    # What ends the block that is being kept whole, if one is.
    until: Callable[[str], bool] | None = None
    # How far the text of the list item is indented that may go on.
    indent: int = 0
    after_blank: bool = True

    def cut(self, text: str) -> OrderedPlaceholder:
        lines = lines_of(text)
        at = self._front_matter(lines)
        while at < len(lines):
            at = self._table(lines, at) or self._line(lines[at], at)
        self._flush()
        return self.made

    def _front_matter(self, lines: list[str]) -> int:
        if not lines or lines[0].rstrip() != "---":
            return 0
        for number, line in enumerate(lines[1:200], 1):
            if line.rstrip() in ("---", "..."):
                self.made.keep("".join(lines[: number + 1]))
                return number + 1
        return 0

    def _line(self, raw: str, at: int) -> int:
        if self.until is not None:
            if self.until(raw):
                self.until = None
            self.made.keep(raw)
            return at + 1
        line = _line_of(raw)
        if not line.content.strip():
            self._flush()
            self.made.keep(raw)
            self.after_blank = True
        elif self._is_code(line):
            self.made.keep(raw)
        else:
            self._content(line)
            self.after_blank = False
        return at + 1

    def _is_code(self, line: _MarkdownLine) -> bool:
        """Whether a line is indented so far that it is code."""
        width = len(line.prefix.expandtabs(4))
        if _MARKER.search(line.prefix):
            spaces = len(line.prefix) - len(line.prefix.lstrip(" "))
            return self.after_blank and not self.paragraph and spaces >= self.indent + 4
        return self.after_blank and not self.paragraph and width >= self.indent + 4

    def _content(self, line: _MarkdownLine) -> None:
        bare = line.content.rstrip()
        marked = _MARKER.search(line.prefix) is not None
        if marked and line.prefix.strip(" \t>"):
            self.indent = len(line.prefix.expandtabs(4))
        elif self.after_blank and len(line.prefix.expandtabs(4)) < self.indent:
            self.indent = 0
        if self._opens(bare):
            self._flush()
            self.made.keep(line.raw)
        elif heading := _HEADING.match(bare):
            self._flush()
            self._heading(line, heading.end())
        elif self.paragraph and not (marked and line.prefix.strip(" \t>")):
            self.paragraph.append(line)
        else:
            self._flush()
            self.paragraph.append(line)

    def _heading(self, line: _MarkdownLine, at: int) -> None:
        lead, core, trail = margins(line.content[at:])
        closed = core.rstrip("#")
        if closed != core and closed.endswith((" ", "\t")):
            core, trail = closed.rstrip(), core[len(closed.rstrip()) :] + trail
        self.made.keep(line.prefix + line.content[:at] + lead)
        pieces = spans_of(core, self.labels)
        self.made.add(unit_of(pieces, core, fits=_SameLine(pieces, self.labels)) if core else None, core)
        self.made.keep(trail + line.end)

    def _opens(self, bare: str) -> bool:
        """Whether the line is no prose; remembers what ends the block when it goes on."""
        if fence := _FENCE.match(bare):
            sign = fence[1] or fence[2]
            closing = re.compile(rf"[\s>]*{re.escape(sign[0])}{{{len(sign)},}}\s*$")
            self.until = lambda raw: closing.match(raw) is not None
        elif found := _RAW_HTML.match(bare):
            end = _end_of_raw(found)
            if end not in bare[found.end() :].lower():
                self.until = lambda raw: end in raw.lower()
        elif _HTML_BLOCK.match(bare) and not (self.paragraph and not bare.lower().startswith(("<p", "<d", "</"))):
            self.until = lambda raw: not raw.strip(" \t\r\n>")
        elif _ADMONITION.match(bare):
            self.indent = max(self.indent, 4)
        elif self.paragraph and _UNDERLINE.match(bare):
            return True
        else:
            return bool(_RULE.match(bare) or _DEFINITION.match(bare))
        return True

    def _flush(self) -> None:
        if self.paragraph:
            lines, self.paragraph = self.paragraph, []
            self._emit(lines[0].prefix, lines)

    def _emit(self, prefix: str, lines: list[_MarkdownLine]) -> None:
        """One block of prose after its prefix; soft line breaks become spaces, hard ones are held."""
        if note := _FOOTNOTE.match(lines[0].content):
            prefix += note[0]
            lines = [_MarkdownLine("", lines[0].content[note.end() :], lines[0].end), *lines[1:]]
        raw = lines[0].content + "".join(before.end + line.prefix + line.content for before, line in pairwise(lines))
        pieces, joined = list[Piece](), ""
        for number, line in enumerate(lines):
            if number + 1 == len(lines):
                joined += line.content
                break
            words, ending = _broken(line.content)
            joined += words if ending else line.content.rstrip()
            if ending:
                pieces += [
                    *spans_of(joined, self.labels),
                    Placeholder(ending + line.end + lines[number + 1].prefix, ordered=True),
                ]
                joined = ""
            else:
                joined += " "
        pieces += spans_of(joined, self.labels)
        self._add(prefix, raw, pieces, lines[-1].end)

    def _add(self, prefix: str, raw: str, pieces: list[Piece], end: str) -> None:
        self.made.keep(prefix)
        lead, core, trail = margins(raw)
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] = pieces[-1].rstrip()
        if pieces and isinstance(pieces[0], str):
            pieces[0] = pieces[0].lstrip()
        self.made.keep(lead)
        self.made.add(unit_of(pieces, core, fits=_SameBlock(pieces, self.labels)) if core else None, core)
        self.made.keep(trail + end)

    def _table(self, lines: list[str], at: int) -> int | None:
        """Keep a table's frame and cut its cells; where it ends, None when there is no table."""
        if self.until is not None or self.paragraph or at + 1 >= len(lines) or "|" not in lines[at]:
            return None
        delimiters = lines[at + 1].strip().strip("|").split("|")
        if "|" not in lines[at + 1] or not all(map(_DELIMITERS.fullmatch, delimiters)):
            return None
        self._row(lines[at])
        self.made.keep(lines[at + 1])
        at += 2
        while at < len(lines) and "|" in lines[at]:
            self._row(lines[at])
            at += 1
        self.after_blank = False
        return at

    def _row(self, raw: str) -> None:
        body = raw.rstrip("\r\n")
        at = 0
        for found in [*_PIPE.finditer(body), None]:
            cell = body[at : found.start() if found else len(body)]
            lead, core, trail = margins(cell)
            self.made.keep(lead)
            if core:
                pieces = spans_of(core, self.labels)
                self.made.add(unit_of(pieces, core, fits=_SameCell(pieces, self.labels)), core)
            self.made.keep(trail + (found[0] if found else ""))
            at = found.end() if found else at
        self.made.keep(raw[len(body) :])


@dataclass(frozen=True, slots=True)
class _SameSpans:
    """Whether a new text, read again, has the same spans, those that nest in the same order."""

    pieces: Sequence[Piece]
    labels: Collection[str]

    def __call__(self, new: str) -> bool:
        wanted = [piece for piece in self.pieces if isinstance(piece, Placeholder) and "\n" not in piece.source]
        found: list[Piece] = []
        for line in lines_of(new):
            found += spans_of(_broken(line.rstrip("\r\n"))[0], self.labels)
        held = [piece for piece in found if isinstance(piece, Placeholder)]
        return held_in(held) == held_in(wanted) and _ordered(held) == _ordered(wanted)


def _ordered(held: Sequence[Placeholder]) -> list[Placeholder]:
    return [piece for piece in held if piece.ordered]


@dataclass(frozen=True, slots=True)
class _SameBlock(_SameSpans):
    """The same for a block of prose: it has the same line breaks, and no line of it begins a block of another kind."""

    def __call__(self, new: str) -> bool:
        breaks = [piece.source for piece in self.pieces if isinstance(piece, Placeholder) and "\n" in piece.source]
        for one in dict.fromkeys(breaks):
            new = new.replace(one, "\n")
        return new.count("\n") == len(breaks) and all(map(_is_prose, lines_of(new))) and _SameSpans.__call__(self, new)


@dataclass(frozen=True, slots=True)
class _SameLine(_SameSpans):
    """The same for a heading, which is one line."""

    def __call__(self, new: str) -> bool:
        return "\n" not in new and not re.search(r"(?:^|[ \t])#+$", new) and _SameSpans.__call__(self, new)


@dataclass(frozen=True, slots=True)
class _SameCell(_SameLine):
    """The same for a cell of a table."""

    def __call__(self, new: str) -> bool:
        return not _PIPE.search(new) and _SameLine.__call__(self, new)

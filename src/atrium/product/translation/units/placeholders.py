"""The shield around machine translation: a model sees words and opaque marks, and its reply is taken whole or refused, never repaired.

A document is cut into units of prose. What must come back as it is (arguments, tags, addresses, code) becomes a mark such as `⟦0⟧`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

_MARK = re.compile(r"⟦(\d{1,5})⟧")
# Characters of the marks themselves, controls, line separators, those that turn the direction of what follows, halves of characters.
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff"
_ODD = re.compile(rf"[⟦⟧{_CONTROL}]+")
_LETTER = re.compile(r"[^\W\d_]")
# Patterns meet texts of any kind: each gives up after a bounded number of characters.
ADDRESS = (
    r"(?:https?|ftp)://[^\s<>\"'`{}|\\^⟦⟧]{0,2000}[^\s<>\"'`{}|\\^⟦⟧.,;:!?)\]*_~]"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
)
# `{{name}}`, `{name}`, `${name}`, `%s` and `%(name)s` of programs.
PLACEHOLDER = r"\{\{[^{}\n]{1,100}\}\}|\$?\{[\w.]{1,100}\}|%(?:\(\w{1,100}\))?[sdif](?!\w)"
_PROSE = re.compile(rf"{ADDRESS}|{PLACEHOLDER}")
# A unit that is longer is cut at the ends of sentences.
LONGEST_UNIT = 3_000


Fault = Literal["no_text", "too_long", "marks", "tag_order", "stray", "empty", "structure"]


class ReplyBroken(ValueError):
    """The reply for a unit cannot be taken."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault: Fault = fault


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What a mark stands for; ordered ones keep their order among themselves, because they nest."""

    source: str
    ordered: bool = False


Piece = str | Placeholder


@dataclass(frozen=True, slots=True)
class Unit:
    """Prose to be translated in one go."""

    source: str
    sent: str
    held: tuple[Placeholder, ...]
    # Turns words of a reply into source of the format. Both cross to other processes: functions of a module, or objects.
    escape: Callable[[str], str] = str
    # Whether the new source of this unit still reads as what it was.
    fits: Callable[[str], bool] | None = None
    # What the model should know about it, such as the plural form.
    note: str = ""

    def restored(self, reply: object) -> str:
        """The reply as source of the format, with everything that was held; refused unless all of it came back."""
        if not isinstance(reply, str):
            raise ReplyBroken("no_text")
        reply = reply.strip()
        if len(reply) > 4 * len(self.sent) + 200:
            raise ReplyBroken("too_long")
        parts = _MARK.split(reply)
        numbers = [int(number) for number in parts[1::2]]
        if Counter(numbers) != Counter(range(len(self.held))):
            raise ReplyBroken("marks")
        ordered = [number for number in numbers if self.held[number].ordered]
        if ordered != sorted(ordered):
            raise ReplyBroken("tag_order")
        words = parts[::2]
        if any(map(_ODD.search, words)):
            raise ReplyBroken("stray")
        if not any(word.strip() for word in words):
            raise ReplyBroken("empty")
        new = "".join(
            self.held[int(part)].source if number % 2 else self.escape(part) for number, part in enumerate(parts)
        )
        if self.fits is not None and not self.fits(new):
            raise ReplyBroken("structure")
        return new


class Template(Protocol):
    """A document cut into units, to be put together again."""

    units: list[Unit]

    def filled(self, texts: Sequence[str | None]) -> str:
        """The document with a new source for each unit; None leaves one as it was."""


@dataclass(slots=True)
class OrderedPlaceholder:
    """A document whose units stand one after the other, between parts that no model sees."""

    parts: list[str | int] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)

    def keep(self, literal: str) -> None:
        """Add what stays as it is."""
        if literal:
            self.parts.append(literal)

    def add(self, unit: Unit | None, source: str) -> None:
        """Add a unit; without one the source stays as it is."""
        if unit is None:
            self.keep(source)
        else:
            self.parts.append(len(self.units))
            self.units.append(unit)

    def filled(self, texts: Sequence[str | None]) -> str:
        """The document with a new source for each unit; None leaves one as it was."""
        return "".join(part if isinstance(part, str) else self._text(part, texts[part]) for part in self.parts)

    def _text(self, number: int, text: str | None) -> str:
        return self.units[number].source if text is None else text


def unit_of(
    pieces: Sequence[Piece],
    source: str,
    *,
    escape: Callable[[str], str] = str,
    fits: Callable[[str], bool] | None = None,
    note: str = "",
) -> Unit | None:
    """A unit of these pieces; None when there is no word in it."""
    sent, held = list[str](), list[Placeholder]()
    words = False
    for piece in pieces:
        for part in split_odd(piece) if isinstance(piece, str) else (piece,):
            if isinstance(part, Placeholder):
                sent.append(f"⟦{len(held)}⟧")
                held.append(part)
            else:
                sent.append(part)
                words = words or _LETTER.search(part) is not None
    return Unit(source, "".join(sent), tuple(held), escape, fits, note) if words else None


def split_odd(text: str) -> Iterator[Piece]:
    """Text, with characters that a reply may not contain held back."""
    at = 0
    for found in _ODD.finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        yield Placeholder(found[0])
        at = found.end()
    if at < len(text):
        yield text[at:]


def pieces_of(text: str, pattern: re.Pattern[str] = _PROSE, *, ordered: bool = False) -> list[Piece]:
    """Text, with what the pattern finds held back."""
    pieces, at = list[Piece](), 0
    for found in pattern.finditer(text):
        pieces += [text[at : found.start()], Placeholder(found[0], ordered)]
        at = found.end()
    pieces.append(text[at:])
    return [piece for piece in pieces if piece]


def text_units(text: str) -> OrderedPlaceholder:
    """Plain text, paragraph by paragraph; addresses and placeholders are held back."""
    made, paragraph = OrderedPlaceholder(), list[str]()
    for line in [*lines_of(text), ""]:
        if line.strip():
            paragraph.append(line)
            continue
        for source in sentences("".join(paragraph)):
            lead, core, trail = margins(source)
            made.keep(lead)
            if core:
                pieces = pieces_of(core)
                made.add(unit_of(pieces, core, fits=_SameText(held_in(pieces))), core)
            made.keep(trail)
        made.keep(line)
        paragraph.clear()
    return made


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


@dataclass(frozen=True, slots=True)
class _SameText:
    """Whether a new text is one paragraph with the same things held back."""

    wanted: Counter[Placeholder]

    def __call__(self, new: str) -> bool:
        return all(map(str.strip, lines_of(new))) and held_in(pieces_of(new)) == self.wanted


def held_in(pieces: Sequence[Piece]) -> Counter[Placeholder]:
    """How often each thing is held back."""
    return Counter(piece for piece in pieces if isinstance(piece, Placeholder))


def margins(text: str) -> tuple[str, str, str]:
    """The white space before, the text, the white space after."""
    core = text.strip()
    at = text.find(core) if core else len(text)
    return text[:at], core, text[at + len(core) :]


_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++(?=\s)|[\u3002\uff01\uff1f]++|\n")


def sentences(text: str, longest: int = LONGEST_UNIT) -> Iterator[str]:
    """The text in parts of bounded length, cut at the ends of sentences where there are any; joined they are the text."""
    start = end = 0
    ends = [*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)] if len(text) > longest else [len(text)]
    for next_end in ends:
        if next_end - start > longest and end > start:
            yield text[start:end]
            start = end
        while next_end - start > longest:
            yield text[start : start + longest]
            start += longest
        end = next_end
    if start < len(text):
        yield text[start:]


def divide(unit: Unit, longest: int = LONGEST_UNIT) -> OrderedPlaceholder:
    """A long unit as a document of its own: its units are parts that end with sentences, and filled it is a reply for the whole."""
    made = OrderedPlaceholder()
    for part in _between_marks(sentences(unit.sent, longest)):
        lead, core, trail = margins(part)
        made.keep(lead)
        made.add(unit_of([*_marks_held(core, unit.held)], core, note=unit.note), core)
        made.keep(trail)
    return made


def _between_marks(parts: Iterator[str]) -> Iterator[str]:
    """The same text, no mark cut in two."""
    rest = ""
    for part in parts:
        text = rest + part
        cut = text.rfind("⟦")
        cut = cut if cut > text.rfind("⟧") else len(text)
        rest = text[cut:]
        if cut:
            yield text[:cut]


def _marks_held(sent: str, held: Sequence[Placeholder]) -> Iterator[Piece]:
    """What a model is sent, with its marks held back under numbers of their own."""
    for number, part in enumerate(_MARK.split(sent)):
        if number % 2:
            yield Placeholder(f"⟦{part}⟧", held[int(part)].ordered)
        elif part:
            yield part

"""Snippets: the piece of a text where most of what was asked for stands, as plain text with marks."""

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice, takewhile

import msgspec

from atrium.kit.work.compute import heavy
from atrium.product.search.words import LONGEST_WORD, beginning_with, compose, fold, is_spaced, spans

LONGEST = 240
_BEFORE, _NEAR = 40, 20
# A text is read as far as it takes to find so many places.
_MOST_PLACES = 50
_SPACE = re.compile(r"\s")
# Characters that change how the text around them is shown.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]")

# A word has a stem when it is the stem and an ending of so many letters.
_LONGEST_ENDING, _LEAST_STEM = 6, 3

Mark = tuple[int, int]


class MarkedWords(dict[str, bool]):
    """Whether each folded word is marked: words that were asked for, words that begin so, and words with one of these stems.

    Each word is decided once, since a page of results has most of its words many times.
    """

    def __init__(self, words: Collection[str], beginning: str = "", stems: tuple[str, ...] = ()) -> None:
        super().__init__(dict.fromkeys(words, True))
        self._beginning, self._stems = beginning, stems
        # Most words of a text begin otherwise and are not looked at.
        self._likely = beginning_with({*words, *stems, *([beginning] if beginning else [])})

    def spans_in(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The marked words of a composed text, folded, each with where it begins and ends."""
        plain = fold(text)
        if not is_spaced(plain):
            yield from (span for span in spans(text) if self[span[0]])
            return
        for found in self._likely.finditer(plain):
            word = found[0][:LONGEST_WORD]
            if self[word]:
                yield word, found.start(), found.end()

    def __missing__(self, word: str) -> bool:
        begun = bool(self._beginning) and word.startswith(self._beginning)
        self[word] = marked = begun or any(
            word.startswith(stem) and len(word) <= len(stem) + _LONGEST_ENDING for stem in self._stems
        )
        return marked


def asked_for(words: Collection[str], beginning: str, stems: Iterable[str]) -> MarkedWords:
    """What to mark for these; a stem that ends otherwise than its words (`directori`) counts without that letter."""
    shorter = {stem.removesuffix("i") for stem in stems}
    return MarkedWords(words, beginning, tuple(sorted(stem for stem in shorter if len(stem) >= _LEAST_STEM)))


class SnippetSource(msgspec.Struct, frozen=True):
    """What a result is cut from."""

    title: str
    key: str | None
    text: str


class Cut(msgspec.Struct, frozen=True):
    """A result's piece of text with its marks, and whether title and key have one of the words."""

    snippet: str
    marks: list[Mark]
    in_title: bool = False
    in_key: bool = False


@heavy
def cut(words: Collection[str], beginning: str, stems: Collection[str], sources: list[SnippetSource]) -> list[Cut]:
    """The pieces of a page of results."""
    asked = asked_for(words, beginning, stems)
    return [
        Cut(
            *snippet_of(one.text, asked), has_words(one.title, asked), one.key is not None and has_words(one.key, asked)
        )
        for one in sources
    ]


def beginnings(sources: list[SnippetSource]) -> list[Cut]:
    """How the texts begin, without a mark: what is shown where cutting takes too long."""
    return [Cut(_plain(one.text[:LONGEST]), []) for one in sources]


def snippet_of(text: str, asked: MarkedWords) -> tuple[str, list[Mark]]:
    """At most 240 characters around the best place, and the spans in them that match."""
    text = compose(text)
    places = _places(text, asked)
    start, stop = _window(text, places)
    marks = [(begin - start, min(end, stop) - start) for begin, end, _ in places if start <= begin < stop]
    return _plain(text[start:stop]), marks


def _plain(piece: str) -> str:
    return _SPACE.sub(" ", _HIDDEN.sub(" ", piece))


def has_words(text: str, asked: MarkedWords) -> bool:
    """Whether any of the words is in the text."""
    return next(asked.spans_in(compose(text)), None) is not None


def _places(text: str, asked: MarkedWords) -> list[tuple[int, int, str]]:
    return [(begin, end, word) for word, begin, end in islice(asked.spans_in(text), _MOST_PLACES)]


def _window(text: str, places: list[tuple[int, int, str]]) -> Mark:
    best = max(range(len(places)), key=lambda at: (_different(places, at), -at), default=None)
    if best is None:
        return 0, min(len(text), LONGEST)
    start = max(0, places[best][0] - _BEFORE)
    if start:
        # At the beginning of a word, where one is near.
        near = max(0, start - _NEAR)
        spaces = [near + found.end() for found in _SPACE.finditer(text[near : start + 1])]
        start = spaces[-1] if spaces else start
    return start, min(len(text), start + LONGEST)


def _different(places: list[tuple[int, int, str]], at: int) -> int:
    last = places[at][0] + LONGEST - _BEFORE
    return len({word for _, _, word in takewhile(lambda place: place[1] <= last, islice(places, at, None))})

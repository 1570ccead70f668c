"""Snippets: the piece of a text where most of what was asked for stands, as plain text with marks."""

import re
from collections.abc import Collection, Iterable

from atrium.product.search.words import composed, spans

LONGEST = 240
_BEFORE = 40
# A text is read as far as it takes to find so many places.
_MOST_PLACES = 50
_SPACE = re.compile(r"\s")
# Characters that change how the text around them is shown.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]")

Mark = tuple[int, int]


def snippet_of(text: str, words: Collection[str], beginning: str) -> tuple[str, list[Mark]]:
    """At most 240 characters around the best place, and the spans in them that match."""
    text = _SPACE.sub(" ", _HIDDEN.sub(" ", composed(text)))
    places = _places(text, words, beginning)
    start, stop = _window(text, places)
    marks = [(begin - start, min(end, stop) - start) for begin, end, _ in places if start <= begin < stop]
    return text[start:stop], marks


def has_words(text: str, words: Collection[str], beginning: str) -> bool:
    """Whether any of the words is in the text."""
    return any(_is_asked(word, words, beginning) for word, _, _ in spans(composed(text)))


def _places(text: str, words: Collection[str], beginning: str) -> list[tuple[int, int, str]]:
    found = []
    for word, begin, end in spans(text):
        if _is_asked(word, words, beginning):
            found.append((begin, end, word))
            if len(found) == _MOST_PLACES:
                break
    return found


def _is_asked(word: str, words: Collection[str], beginning: str) -> bool:
    return word in words or bool(beginning and word.startswith(beginning))


def _window(text: str, places: list[tuple[int, int, str]]) -> Mark:
    best = max(places, key=lambda place: (_different(places, place[0]), -place[0]), default=None)
    if best is None:
        return 0, min(len(text), LONGEST)
    start = max(0, best[0] - _BEFORE)
    if start:
        # At the beginning of a word, where one is near.
        start = text.rfind(" ", start - 20, start + 1) + 1 or start
    return start, min(len(text), start + LONGEST)


def _different(places: Iterable[tuple[int, int, str]], start: int) -> int:
    return len({word for begin, end, word in places if start <= begin and end <= start + LONGEST - _BEFORE})

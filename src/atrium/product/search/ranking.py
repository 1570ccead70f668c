"""Ranking: BM25 over title, head and whole text, added up; how rare a word is comes from the instance or from what matches."""

import math
from itertools import pairwise
from uuid import UUID

import msgspec

from atrium.product.search.model import Candidate
from atrium.product.search.queries import Phrase, Query
from atrium.product.search.words import HEAD, REST, TITLE, Places

_K1, _B = 1.2, 0.75
# What title, head and whole text count for, and how many words each usually has. The usual lengths are constants: averages would tell of
# rows that the reader may not read.
_SHARES, _USUAL = (0.3, 1.0, 1.0), (3, 60, 800)
_OWN, _COMPLETE, _JOINED = 1.05, 1.2, 2.0
_FORGIVEN = 4

Counts = tuple[int, int, int]
# The ways in which a row is found, the best one first.
TITLED, WITH_ALL, NEARLY, WITH_ANY, LIKE = range(5)
# How well something fits, worst-to-best reversed: by which way it was found, score, age, id.
Position = tuple[int, float, float, UUID]


class RankedRow(msgspec.Struct, frozen=True):
    """A candidate with its place in the order."""

    candidate: Candidate
    way: int
    score: float

    @property
    def position(self) -> Position:
        """Sorts the best first: the title itself, all words, a misspelt title, any word, likeness; then by score, then the newest."""
        return self.way, -self.score, -self.candidate.updated_at.timestamp(), self.candidate.id

    @property
    def relaxed(self) -> bool:
        """Whether it has not every word."""
        return not self.candidate.complete


class Scorer:
    """How well rows answer one question."""

    def __init__(self, query: Query, reader: UUID) -> None:
        self._reader = reader
        # Of a single word, all that the index may have of it.
        self._terms = [
            (phrase, query.variants(phrase[0]) if len(phrase) == 1 else None, query.is_begun(phrase))
            for phrase in query.phrases
        ]

    def score(self, candidate: Candidate) -> float:
        """How well a row answers; rounded, so that it says little about anything else."""
        found = candidate.found
        standing = [_ends(found, phrase, variants) for phrase, variants, _ in self._terms]
        total, places = _joined(candidate, standing), _places(candidate)
        for (_, variants, begun), ends, rarity in zip(self._terms, standing, candidate.rarity, strict=True):
            if ends:
                total += rarity * _matched(candidate, places.counts(ends))
            elif begun and variants is not None:
                total += rarity * _matched(candidate, _begun(candidate))
        total *= _OWN if candidate.owner_id == self._reader else 1
        return round(total * (_COMPLETE if candidate.complete else 1), 2)


def rarities(query: Query) -> list[float] | None:
    """What each phrase counts for by the instance's statistics; None while there are none."""
    if query.rarities is None:
        return None
    return [math.log(1 + 2.0 ** query.rarity(phrase)) for phrase in query.phrases]


def is_titled(candidate: Candidate, query: Query) -> bool:
    """Whether the row's title is what was asked for, word by word."""
    return _places(candidate).is_title(list(query.asked), candidate.found)


def is_excluded(candidate: Candidate, query: Query) -> bool:
    """Whether the row has what was not to be there."""
    return any(_ends(candidate.found, phrase, None) for phrase in query.without)


def without_excluded(candidate: Candidate, query: Query) -> Candidate:
    """The row without the places of words that are only excluded, alone or in a phrase."""
    if not query.without:
        return candidate
    found = {word: places for word, places in candidate.found.items() if word in query.lexemes}
    return msgspec.structs.replace(candidate, found=found)


def is_nearly_titled(candidate: Candidate, triples: int) -> bool:
    """Whether the row's title is what was asked for but for one typing error: one letter changes at most four triples."""
    return max(triples, candidate.triples) - candidate.common <= min(_FORGIVEN, 2 * candidate.common)


def is_in_text(candidate: Candidate) -> bool:
    """Whether a word is in the row's text."""
    places = sorted(place for found in candidate.found.values() for place in found)
    _, _, whole = _places(candidate).counts(places)
    return (
        whole > sum(place <= _places(candidate).title_end for place in places)
        or HEAD in candidate.begun
        or REST in candidate.begun
    )


def _places(candidate: Candidate) -> Places:
    return Places(candidate.title_words, candidate.head_words, candidate.text_words)


def _joined(candidate: Candidate, standing: list[list[int]]) -> float:
    """What it counts for that words stand together as they were asked for, with one word in between at most."""
    total = 0.0
    for at, (before, behind) in enumerate(pairwise(standing)):
        if not before or not behind:
            continue
        first = set(before)
        count = sum(place - 1 in first or place - 2 in first for place in behind)
        rarity = min(candidate.rarity[at], candidate.rarity[at + 1])
        total += _JOINED * rarity * _saturated(count, candidate.text_words, _USUAL[-1])
    return total


def _begun(candidate: Candidate) -> Counts:
    """A longer word that begins as the one that was asked for counts once in each field."""
    begun = candidate.begun
    return int(TITLE in begun), int(HEAD in begun), int(TITLE in begun or HEAD in begun or REST in begun)


def _ends(found: dict[str, list[int]], phrase: Phrase, variants: list[str] | None) -> list[int]:
    """Where the last word of a phrase stands behind the others; a single word, where it or another word of its stem does."""
    if variants is not None:
        # A word with another stem stands at the places of that as well.
        standing = [found[one] for one in variants if one in found]
        return standing[0] if len(standing) == 1 else sorted({place for places in standing for place in places})
    before = [(len(phrase) - 1 - at, set(found.get(word, ()))) for at, word in enumerate(phrase[:-1])]
    return [place for place in found.get(phrase[-1], ()) if all(place - back in places for back, places in before)]


def _matched(candidate: Candidate, counts: Counts) -> float:
    lengths = (candidate.title_words, candidate.head_words, candidate.text_words)
    total = 0.0
    for share, usual, length, count in zip(_SHARES, _USUAL, lengths, counts, strict=True):
        total += share * _saturated(count, length, usual)
    return total


def _saturated(count: int, length: int, usual: int) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / usual))

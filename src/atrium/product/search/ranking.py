"""Ranking: BM25 over title, head and whole text, added up; how rare a word is comes from the instance or from what was found."""

import math
from collections.abc import Mapping, Sequence
from uuid import UUID

from atrium.product.search.model import Candidate
from atrium.product.search.queries import Phrase, Query
from atrium.product.search.words import HEAD, KEY, REST, TITLE

_K1, _B = 1.2, 0.75
# Field: what it counts for, the weights of places in it, and how many words it usually has. The usual lengths are constants: averages
# would tell of rows that the reader may not read.
_FIELDS = (
    (0.3, TITLE + KEY, "title_words", 6),
    (1.0, HEAD, "head_words", 40),
    (1.0, TITLE + HEAD + REST, "text_words", 200),
)
# A word that the statistics do not know is in fewer rows than one of a thousand.
_UNKNOWN = 10
_OWN = 1.05


def score(candidate: Candidate, query: Query, rarity: Mapping[str, float], reader: UUID) -> float:
    """How well a row answers; rounded, so that it says little about anything else."""
    found = candidate.found or {}
    total = sum(rarity[phrase[-1]] * _matched(candidate, _weights_of(phrase, query, found)) for phrase in query.phrases)
    return round(total * (_OWN if candidate.owner_id == reader else 1), 2)


def rarities(query: Query, known: Mapping[str, int], found: Sequence[Candidate]) -> dict[str, float]:
    """What each phrase's last word counts for: by the instance's statistics where there are some, else by what was found."""
    if known:
        return {
            phrase[-1]: math.log(1 + 2.0 ** min(known.get(phrase[-1], _UNKNOWN), _UNKNOWN)) for phrase in query.phrases
        }
    return {phrase[-1]: _rarity_in(phrase, query, found) for phrase in query.phrases}


def _rarity_in(phrase: Phrase, query: Query, found: Sequence[Candidate]) -> float:
    having = sum(1 for one in found if _weights_of(phrase, query, one.found or {}))
    return math.log(1 + (len(found) - having + 0.5) / (having + 0.5)) + 0.1


def _weights_of(phrase: Phrase, query: Query, found: Mapping[str, str]) -> str:
    """The places of a phrase's rarest-looking word, its last; nothing when one of its words is not there."""
    last = phrase[-1]
    if any(word not in found for word in phrase[:-1]):
        return ""
    if last == query.beginning and phrase == query.groups[-1][-1]:
        exact = found.get(last, "")
        # A longer word that begins so counts for less than the word itself.
        return exact or max((weights for word, weights in found.items() if word.startswith(last)), key=len, default="")
    return found.get(last, "")


def _matched(candidate: Candidate, weights: str) -> float:
    total = 0.0
    for share, fields, length, usual in _FIELDS:
        count = sum(weights.count(field) for field in fields)
        norm = 1 - _B + _B * getattr(candidate, length) / usual
        total += share * count * (_K1 + 1) / (count + _K1 * norm)
    return total

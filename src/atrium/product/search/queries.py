"""What was asked for: words, phrases, alternatives and exclusions, as PostgreSQL and the ranking take them."""

import math
import re

import msgspec

from atrium.product.search.model import Known, SearchEmpty
from atrium.product.search.words import TITLE, words_of

_PART = re.compile(r'(-?)"([^"]*)"?|(\S+)')
_MOST_WORDS = 32
# How rare a word is that the statistics do not have: in one of 2^n rows.
RAREST = 10
# Rows that have one of 2^n are few enough to be collected out of the index; others are met soon from the newest row on.
COLLECTED = 6
# Rows with any of several are collected while those are in one of 2^n together.
_FEW_TOGETHER = 8
Phrase = tuple[str, ...]


class Query(msgspec.Struct, frozen=True):
    """One phrase out of each of `groups` and none of `without`; `beginning` is the last word where it may be the start of one.

    `asked` are all words in their order, `stems` those of words in the reader's language, `rarities` how rare words are if that is known,
    `begun` how rare words are that begin with `beginning`, all of them together.
    """

    groups: tuple[tuple[Phrase, ...], ...]
    without: tuple[Phrase, ...] = ()
    beginning: str = ""
    asked: tuple[str, ...] = ()
    stems: dict[str, str] = {}
    rarities: dict[str, int] | None = None
    begun: int = RAREST

    @property
    def phrases(self) -> list[Phrase]:
        """Everything that is looked for."""
        return [phrase for group in self.groups for phrase in group]

    @property
    def words(self) -> list[str]:
        """Every word that was asked for, once."""
        return list(dict.fromkeys(self.asked))

    @property
    def lexemes(self) -> list[str]:
        """Everything that the index may have of those words."""
        return list(dict.fromkeys(one for word in self.words for one in self.variants(word)))

    def variants(self, word: str) -> list[str]:
        """A word as the index has it: itself, its stem as a word, and as the stem of others."""
        stem = self.stems.get(word)
        return [word] if stem is None else list(dict.fromkeys((word, stem, f"={stem}")))

    def is_begun(self, phrase: Phrase) -> bool:
        """Whether the phrase's last word may be the start of one."""
        return bool(self.beginning) and phrase == self.groups[-1][-1] and phrase[-1] == self.beginning

    def rarity(self, phrase: Phrase) -> int:
        """How rare a phrase is: as its rarest word. A word that the statistics do not have is in fewer rows than one of a thousand."""
        known = self.rarities or {}
        return max(known.get(word, RAREST) for word in phrase)

    def spread(self, *, exact: bool = False) -> int:
        """In how many rows every group is: one of 2^n, if words were strewn by chance. If `exact`, the last word is complete."""
        return sum(min(self._spread(one, exact=exact) for one in group) for group in self.groups)

    def least_spread(self) -> int:
        """The same for the most frequent phrase."""
        return min(self._spread(one, exact=False) for one in self.phrases)

    def is_complete(self) -> bool:
        """Whether the last word is better looked for as one that is complete: it is frequent, or only others that begin so are."""
        known = self.beginning in (self.rarities or {})
        return bool(self.beginning) and self.spread(exact=True) > COLLECTED and (self.begun <= COLLECTED or known)

    def begins_others(self) -> bool:
        """Whether words that begin with the last one are in more rows than itself."""
        return self.begun < (self.rarities or {}).get(self.beginning, RAREST)

    def all_of(self, *, exact: bool = False) -> str:
        """Asks PostgreSQL for every group; if `exact`, for the last word as one that is complete."""
        groups = (" | ".join(self.term(one, exact=exact) for one in group) for group in self.groups)
        return " & ".join(f"({group})" for group in groups) + self._excluded()

    def any_of(self) -> str:
        """Asks PostgreSQL for any of the phrases."""
        return f"({' | '.join(map(self.term, self.phrases))})" + self._excluded()

    def rarest_of(self) -> str:
        """Asks PostgreSQL for any of the rarest phrases, as many as are in few rows together; empty when none is."""
        exact = self.begun <= COLLECTED or self.beginning in (self.rarities or {})
        rare: list[str] = []
        share = 0.0
        for phrase in sorted(self.phrases, key=lambda one: -self._spread(one, exact=exact)):
            spread = self._spread(phrase, exact=exact)
            share += 0.5**spread
            if spread <= COLLECTED or (rare and share > 0.5**_FEW_TOGETHER):
                break
            rare.append(self.term(phrase, exact=exact))
        return f"({' | '.join(rare)})" + self._excluded() if rare else ""

    def in_title(self) -> str:
        """Asks PostgreSQL for all words in the title."""
        return " & ".join(f"'{word}':{TITLE}" for word in self.asked)

    def term(self, phrase: Phrase, *, exact: bool = False) -> str:
        """Asks PostgreSQL for one phrase; for a single word also by its stem."""
        *before, last = phrase
        start = ":*" if self.is_begun(phrase) and not exact else ""
        if before:
            return "('" + "' <-> '".join(phrase) + f"'{start})"
        first, *others = self.variants(last)
        return " | ".join([f"('{first}'{start}", *(f"'{one}'" for one in others)]) + ")"

    def _spread(self, phrase: Phrase, *, exact: bool) -> int:
        """In how many rows all words of a phrase are, somewhere: one of 2^n, if they were strewn by chance."""
        known = self.rarities or {}
        *before, last = (known.get(word, RAREST) for word in phrase)
        return sum(before) + (min(last, self.begun) if self.is_begun(phrase) and not exact else last)

    def _excluded(self) -> str:
        return "".join(" & !('" + "' <-> '".join(phrase) + "')" for phrase in self.without)


def understood(query: Query, known: list[Known]) -> Query:
    """The question with what PostgreSQL knows of its words: words that every text has are asked for only where there are no others."""
    empty = {one.word for one in known if one.stems == []}
    groups = tuple(
        group for group in query.groups if not all(len(phrase) == 1 and phrase[0] in empty for phrase in group)
    )
    stems = {one.word: one.stems[0] for one in known if one.stems}
    measured = any(one.measured for one in known)
    rarities = {one.word: one.rarity for one in known if one.rarity is not None} if measured else None
    share = sum(one.begun or 0 for one in known)
    begun = max(0, math.floor(-math.log2(share))) if share else RAREST
    return msgspec.structs.replace(query, groups=groups or query.groups, stems=stems, rarities=rarities, begun=begun)


def read_query(text: str) -> Query:
    """What a person typed; refused when it has no word to look for."""
    groups: list[list[Phrase]] = []
    without: list[Phrase] = []
    joins, quoted, left = False, False, _MOST_WORDS
    for minus, inside, plain in _PART.findall(text):
        if plain.lower() == "or":
            joins = bool(groups)
            continue
        excluded = bool(minus) or plain.startswith("-")
        phrase = tuple(words_of(plain or inside, left))
        left -= len(phrase)
        if not phrase:
            continue
        if excluded:
            without.append(phrase)
        elif joins:
            groups[-1].append(phrase)
        else:
            groups.append([phrase])
        joins, quoted = False, not plain
    if not groups:
        raise SearchEmpty("write at least one word to look for")
    beginning = "" if quoted else groups[-1][-1][-1]
    found = tuple(map(tuple, groups))
    return Query(
        found, tuple(without), beginning, tuple(word for group in found for phrase in group for word in phrase)
    )

"""What was asked for: words, phrases, alternatives and exclusions, as PostgreSQL and the ranking take them."""

import re

import msgspec

from atrium.product.search.model import SearchEmpty
from atrium.product.search.words import TITLE, words_of

_PART = re.compile(r'(-?)"([^"]*)"?|(\S+)')
_MOST_WORDS = 32
Phrase = tuple[str, ...]


class Query(msgspec.Struct, frozen=True):
    """One phrase out of each of `groups` and none of `without`; `beginning` is the last word where it may be the start of one."""

    groups: tuple[tuple[Phrase, ...], ...]
    without: tuple[Phrase, ...] = ()
    beginning: str = ""

    @property
    def phrases(self) -> list[Phrase]:
        """Everything that is looked for."""
        return [phrase for group in self.groups for phrase in group]

    @property
    def words(self) -> list[str]:
        """Every word that is looked for, once."""
        return list(dict.fromkeys(word for phrase in self.phrases for word in phrase))

    def all_of(self, weight: str = "") -> str:
        """Asks PostgreSQL for every group; with a weight, in that field."""
        groups = (" | ".join(self._phrase(phrase, weight) for phrase in group) for group in self.groups)
        return " & ".join(f"({group})" for group in groups) + self._excluded()

    def in_titles(self) -> str:
        """Asks PostgreSQL for every group in the title."""
        return self.all_of(TITLE)

    def any_of(self) -> str:
        """Asks PostgreSQL for any of the phrases."""
        return f"({' | '.join(map(self._phrase, self.phrases))})" + self._excluded()

    def _phrase(self, phrase: Phrase, weight: str = "") -> str:
        marks = [f":{weight}" if weight else ""] * len(phrase)
        if self.beginning and phrase == self.groups[-1][-1]:
            marks[-1] = f":*{weight}"
        words = [f"'{word}'{mark}" for word, mark in zip(phrase, marks, strict=True)]
        return f"({' <-> '.join(words)})"

    def _excluded(self) -> str:
        return "".join(" & !('" + "' <-> '".join(phrase) + "')" for phrase in self.without)


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
    return Query(tuple(map(tuple, groups)), tuple(without), beginning)

"""Words: how a text is folded and cut, and what the index keeps of it."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

import msgspec

from atrium.kit.work.compute import heavy
from atrium.product.search.languages import languages_of

# Letters and digits; every character of a script without spaces is a word of its own.
_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"(?:(?![{_SINGLE}])[^\W_])"
_WORD = re.compile(rf"[{_SINGLE}]|{_LETTER}+")
# The same words of a text that has no such script, and of one that is plain ASCII: found several times as fast.
_SPACED_WORD, _ASCII_WORD = re.compile(r"[^\W_]+"), re.compile(r"[a-z0-9]+")
_SINGLE_CHARACTER, _NEVER = re.compile(f"[{_SINGLE}]"), re.compile(r"(?!)")
_PICKED = re.compile(r"'([^']+)':(\S+)")
LONGEST_WORD = 64
# Characters whose folding is remembered: more than any people write in, far fewer than there are.
_MOST_FOLDED = 20_000
HEAD_WORDS = 60
# What a tsvector can hold: so many positions, so many of one word, and a megabyte of words and positions together.
_LAST_POSITION, _MOST_OF_A_WORD, _MOST_BYTES = 16_383, 255, 500_000
_MOST_WORDS = 100_000
# Letter triples that one typing error changes, and pieces of a word's triples that are looked for.
_CHANGED, _PIECES = 4, 3
# So that no phrase reaches from one field into the next.
_GAP = 10
# The words of a key weigh what those of a title do; the third weight stays free for the statement that picks words out of a row.
TITLE, HEAD, KEY, REST = "A", "B", "A", "D"


class _Folding(dict[int, int]):
    """What each character becomes: one character, so that places in a folded text are places in the text."""

    def __missing__(self, code: int) -> int:
        base = unicodedata.normalize("NFKD", chr(code))
        lower = (base[0] if len(base) == 1 or unicodedata.combining(base[1]) else chr(code)).lower()
        folded = ord(lower) if len(lower) == 1 else code
        if len(self) < _MOST_FOLDED:
            self[code] = folded
        return folded


_FOLDING = _Folding()


class IndexEntry(msgspec.Struct, frozen=True):
    """What the index keeps of a title, a key and a text: words with their places as PostgreSQL reads them, the languages in which they have
    stems, and the title's triples."""

    lexemes: str
    languages: str
    triples: str
    title_words: int
    head_words: int
    text_words: int


def compose(text: str) -> str:
    """The text with each letter and its accents as one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """A composed text in lower case without accents, as long as before."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a composed text, folded, each with where it begins and ends."""
    for found in _WORD.finditer(fold(text)):
        yield found[0][:LONGEST_WORD], found.start(), found.end()


def beginning_with(beginnings: Iterable[str]) -> re.Pattern[str]:
    """Finds the words of a folded and spaced text that begin with one of these folded words."""
    escaped = [re.escape(one) for one in sorted(beginnings)]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(escaped)})[^\W_]*") if escaped else _NEVER


def is_spaced(text: str) -> bool:
    """Whether no character of the text is a word of its own."""
    return text.isascii() or not _SINGLE_CHARACTER.search(text)


def words_of(text: str, most: int = _MOST_WORDS) -> list[str]:
    """The first words of a text, folded."""
    plain = fold(compose(text))
    several = _SPACED_WORD if is_spaced(plain) else _WORD
    word = _ASCII_WORD if plain.isascii() else several
    found = word.findall(plain) if len(plain) <= most else [one[0] for one in islice(word.finditer(plain), most)]
    return [one if len(one) <= LONGEST_WORD else one[:LONGEST_WORD] for one in found]


def triples_of(words: list[str]) -> list[str]:
    """Letters of each word in threes, its beginning and its end marked."""
    padded = (f"__{word}_" for word in words)
    return sorted({word[at : at + 3] for word in padded for at in range(len(word) - 2)})


def chunks_of(word: str) -> list[list[str]]:
    """Triples of a word, some of them: of a word with one typing error, at least one of these is whole. None for a short word.

    An error changes four triples in a row at most: of three pieces one stays whole, or what is left around those four.
    """
    padded = f"__{word}_"
    triples = [padded[at : at + 3] for at in range(len(padded) - 2)]
    size = len(triples)
    if size >= _PIECES * (_CHANGED - 1):
        cuts = [size * at // _PIECES for at in range(_PIECES + 1)]
        return [triples[start:stop] for start, stop in pairwise(cuts)]
    return [triples[:at] + triples[at + _CHANGED :] for at in range(size - _CHANGED + 1)] if size > _CHANGED + 1 else []


@heavy
def index(title: str, key: str, text: str) -> IndexEntry:
    """What the index keeps; of a very long text, its beginning."""
    titled, keyed, written = words_of(title), words_of(key), words_of(text)
    head, rest = written[:HEAD_WORDS], written[HEAD_WORDS:]
    return IndexEntry(
        lexemes=_lexemes(((titled, TITLE), (head, HEAD), (rest, REST), (keyed, KEY))),
        languages=languages_of([*titled, *written]),
        triples=" ".join(triples_of(titled[:50] or keyed[:50])),
        title_words=len(titled),
        head_words=len(head),
        text_words=len(written),
    )


class Places(msgspec.Struct, frozen=True):
    """Where the fields of a row stand: its title, the head of its text, the rest, and behind them its key."""

    title_words: int
    head_words: int
    text_words: int

    @property
    def title_end(self) -> int:
        """The last place of the title."""
        return _GAP + self.title_words

    def counts(self, places: list[int]) -> tuple[int, int, int]:
        """How many of these sorted places are in the title or the key, in the head, and in title and text together."""
        head = self.title_end + _GAP
        in_title = bisect_right(places, self.title_end)
        in_head = bisect_right(places, head + self.head_words) - bisect_right(places, head)
        in_key = len(places) - bisect_right(places, min(head + self.text_words, _LAST_POSITION))
        return in_title + in_key, in_head, len(places) - in_key

    def is_title(self, words: list[str], found: dict[str, list[int]]) -> bool:
        """Whether the title is these words and no more."""
        return len(words) == self.title_words and all(
            at in found.get(word, ()) for at, word in enumerate(words, _GAP + 1)
        )


def places_in(picked: str | None) -> dict[str, list[int]]:
    """Words and where they stand, out of a tsvector as PostgreSQL writes it that has one weight."""
    return {word: [int(place[:-1]) for place in places.split(",")] for word, places in _PICKED.findall(picked or "")}


def _lexemes(fields: tuple[tuple[list[str], str], ...]) -> str:
    if sum(len(words) for words, _ in fields) <= _MOST_OF_A_WORD:
        return _few_lexemes(fields)
    places: dict[str, list[str]] = {}
    size, at = 0, 0
    for words, weight in fields:
        # The rest of a text follows its head at once: a phrase may begin in one and end in the other.
        at += 0 if weight == REST else _GAP
        for at, word in enumerate(words, at + 1):  # noqa: B020 - the count goes on with the next field
            found = places.get(word)
            if found is None:
                if size > _MOST_BYTES:
                    continue
                size += len(word.encode()) + 8
                found = places[word] = []
            if len(found) < _MOST_OF_A_WORD:
                size += 2
                found.append(f"{min(at, _LAST_POSITION)}{weight}")
    return " ".join(f"'{word}':{','.join(found)}" for word, found in places.items())


def _few_lexemes(fields: tuple[tuple[list[str], str], ...]) -> str:
    """The same for so few words that nothing reaches what a tsvector can hold."""
    places: dict[str, str] = {}
    at = 0
    for words, weight in fields:
        at += 0 if weight == REST else _GAP
        for at, word in enumerate(words, at + 1):  # noqa: B020 - the count goes on with the next field
            earlier = places.get(word)
            places[word] = f"'{word}':{at}{weight}" if earlier is None else f"{earlier},{at}{weight}"
    return " ".join(places.values())

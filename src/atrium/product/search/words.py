"""Words: how a text is folded and cut, and what the index keeps of it."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

import msgspec

# Letters and digits; every character of a script without spaces is a word of its own.
_SINGLE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_SINGLE}]|(?:(?![{_SINGLE}])[^\W_])+")
LONGEST_WORD = 64
HEAD_WORDS = 40
# What a tsvector can hold: so many positions, so many of one word, and a megabyte of words and positions together.
_LAST_POSITION, _MOST_OF_A_WORD, _MOST_BYTES = 16_383, 255, 500_000
_MOST_WORDS = 100_000
# So that no phrase reaches from one field into the next.
_GAP = 10
TITLE, HEAD, KEY, REST = "A", "B", "C", "D"


class _Folding(dict[int, int]):
    """What each character becomes: one character, so that places in a folded text are places in the text."""

    def __missing__(self, code: int) -> int:
        base = unicodedata.normalize("NFKD", chr(code))
        lower = (base[0] if len(base) == 1 or unicodedata.combining(base[1]) else chr(code)).lower()
        self[code] = folded = ord(lower) if len(lower) == 1 else code
        return folded


_FOLDING = _Folding()


class Indexed(msgspec.Struct, frozen=True):
    """What the index keeps of a title, a key and a text: words with their places as PostgreSQL reads them, and the title's triples."""

    lexemes: str
    triples: str
    title_words: int
    head_words: int
    text_words: int


def composed(text: str) -> str:
    """The text with each letter and its accents as one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """A composed text in lower case without accents, as long as before."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a composed text, folded, each with where it begins and ends."""
    for found in _WORD.finditer(folded(text)):
        yield found[0][:LONGEST_WORD], found.start(), found.end()


def words_of(text: str, most: int = _MOST_WORDS) -> list[str]:
    """The first words of a text, folded."""
    found = islice(_WORD.finditer(folded(composed(text))), most)
    return [one[0][:LONGEST_WORD] for one in found]


def triples_of(words: list[str]) -> list[str]:
    """Letters of each word in threes, its beginning and its end marked."""
    padded = (f"__{word}_" for word in words)
    return sorted({word[at : at + 3] for word in padded for at in range(len(word) - 2)})


def index(title: str, key: str, text: str) -> Indexed:
    """What the index keeps; of a very long text, its beginning."""
    titled, keyed, written = words_of(title), words_of(key), words_of(text)
    head, rest = written[:HEAD_WORDS], written[HEAD_WORDS:]
    return Indexed(
        lexemes=_lexemes(((titled, TITLE), (head, HEAD), (rest, REST), (keyed, KEY))),
        triples=" ".join(triples_of(titled[:50] or keyed[:50])),
        title_words=len(titled),
        head_words=len(head),
        text_words=len(written),
    )


def _lexemes(fields: tuple[tuple[list[str], str], ...]) -> str:
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

"""Languages: which one a text seems to be in, and by which of PostgreSQL's dictionaries a reader's words are stemmed."""

from collections.abc import Sequence

# Words that nearly every text of a language has, folded; those that two languages share tell nothing.
_TELLING = {
    "english": frozenset(["the", "and", "of", "to", "that", "for", "with", "this", "are", "was", "be", "not", "or", "you", "it"]),
    "spanish": frozenset(["el", "los", "las", "del", "que", "por", "para", "con", "una", "se", "como", "su", "es", "la", "un"]),
    "dutch": frozenset(["het", "een", "van", "dat", "voor", "niet", "zijn", "met", "aan", "ook", "naar", "bij", "wordt", "op", "te"]),
    "": frozenset(["og", "að", "sem", "er", "við", "til", "um", "ekki", "fyrir", "var", "það", "thad", "eru", "hann", "þetta"]),
}  # fmt: skip
_TOLD = {word: language for language, telling in _TELLING.items() for word in telling}
_STEMMED = ("english", "spanish", "dutch")
# A text of more words that tells no language is no prose.
_LOOKED_AT, _FEW_WORDS, _LEAST = 400, 30, 3
_DICTIONARIES = {"en": "english_stem", "es": "spanish_stem", "nl": "dutch_stem"}


def languages_of(words: Sequence[str]) -> str:
    """The language whose stems a text's words have; all of them while a short text tells none."""
    counts = dict.fromkeys(_TELLING, 0)
    for word in words[:_LOOKED_AT]:
        if word in _TOLD:
            counts[_TOLD[word]] += 1
    best = max(counts, key=counts.__getitem__)
    if counts[best] >= _LEAST and counts[best] >= 2 * sorted(counts.values())[-2]:
        return best
    return " ".join(_STEMMED) if len(words) <= _FEW_WORDS else ""


def dictionary_of(locale: str) -> str:
    """The dictionary for a reader's words; a language without one has its words as they are."""
    return _DICTIONARIES.get(locale.partition("-")[0], "simple")

"""Which terms of a glossary occur in a text, and whether its translation has the words the team wants."""

import re
from collections.abc import Iterable

from atrium.product.translation.model import GlossaryTerm

# Of one turn; the longest come first.
MOST_SENT = 200
_WORD = re.compile(r"\w+")
_NONE: dict[tuple[int, int], dict[str, list[GlossaryTerm]]] = {}
# Writing without spaces between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def fold_case(text: str) -> str:
    """The text without a difference of case, every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


class Glossary:
    """The terms of a team for one language, ready to be looked for."""

    def __init__(self, terms: Iterable[GlossaryTerm], targets: list[str]) -> None:
        """`targets` are the language's tags, the narrower first: its terms come before those of a wider one."""
        chosen: dict[str, GlossaryTerm] = {}
        for one in sorted(terms, key=lambda one: targets.index(one.target), reverse=True):
            chosen[one.term] = one
        # By their first word, then by where it stands in them and how long they are, so that thousands which begin alike
        # cost no more than a few; without a word to look for, by their text.
        self._by_word: dict[str, dict[tuple[int, int], dict[str, list[GlossaryTerm]]]] = {}
        self._others: list[tuple[GlossaryTerm, str]] = []
        for one in chosen.values():
            plain = fold_case(one.term)
            first = _WORD.search(plain)
            if first is None or _UNSPACED.search(plain):
                self._others.append((one, plain))
            else:
                shapes = self._by_word.setdefault(first[0], {})
                shapes.setdefault((first.start(), len(plain)), {}).setdefault(plain, []).append(one)

    def occurring(self, text: str) -> list[GlossaryTerm]:
        """The terms that occur as whole words, longest first."""
        plain, found = fold_case(text), dict[str, GlossaryTerm]()
        if self._by_word:
            for word in _WORD.finditer(plain):
                for (offset, length), terms in self._by_word.get(word[0], _NONE).items():
                    start = word.start() - offset
                    for one in terms.get(plain[max(start, 0) : start + length], ()):
                        if one.term not in found and _stands(text, plain, one, start, start + length):
                            found[one.term] = one
        if self._others:
            letters = set(plain)
            for one, wanted in self._others:
                if letters.issuperset(wanted) and (one.term if one.case_sensitive else wanted) in (
                    text if one.case_sensitive else plain
                ):
                    found[one.term] = one
        return sorted(found.values(), key=lambda one: (-len(one.term), one.term))


def _stands(text: str, plain: str, one: GlossaryTerm, start: int, end: int) -> bool:
    """Whether the term that reads like this place stands there between the borders of words, in its case if that counts."""
    if start < 0 or (one.case_sensitive and text[start:end] != one.term):
        return False
    before, after = plain[start - 1 : start] if start else "", plain[end : end + 1]
    return not (_joins(before, plain[start]) or _joins(plain[end - 1], after))


def _joins(one: str, other: str) -> bool:
    return bool(one and other) and _WORD.match(one) is not None and _WORD.match(other) is not None


def is_followed(one: GlossaryTerm, result: str) -> bool:
    """Whether a translation has the wanted words; endings may follow them, as languages inflect."""
    wanted, text = (one.wanted, result) if one.case_sensitive else (fold_case(one.wanted), fold_case(result))
    at = text.find(wanted)
    while at >= 0:
        if _UNSPACED.search(wanted) or not _joins(text[at - 1 : at] if at else "", wanted[0]):
            return True
        at = text.find(wanted, at + 1)
    return False

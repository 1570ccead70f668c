"""How many tokens a text is, without anybody's tokenizer; rather too many than too few."""

import math
import re
import string
from collections.abc import Hashable

# Letters that one token holds on average: of ordinary words, and of identifiers, shouting and base64.
_PER_WORD, _PER_CODE = 4.5, 2
# Looked at in pieces of this size, so that a thread that estimates lets the others have their turn in between.
_PIECE = 8 * 1024
_LETTERS, _SPACES = string.ascii_letters.encode(), b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
_FOREIGN = bytes(range(128, 256))
# Lower case, or with a capital first; of up to four letters such a word is one token.
_SHORT_WORDS = re.compile(rb"(?<![A-Za-z])[A-Za-z][a-z]{0,3}+(?![A-Za-z])")
_LONG_WORDS = re.compile(rb"(?<![A-Za-z])[A-Za-z][a-z]{4,}+(?![A-Za-z])")
# A single space belongs to the word that follows it.
_GAPS = re.compile(rb"[\t\n\x0b\x0c\r\x1c-\x1f ]{2,}|[\t\n\x0b\x0c\r\x1c-\x1f]")


def estimate_tokens(text: str) -> int:
    """Tokens of a text, by what its pieces are made of: dividing bytes by four falls far short on digits and identifiers."""
    raw = text.encode("utf-8", "replace")
    return math.ceil(sum(_tokens(raw[start : start + _PIECE]) for start in range(0, len(raw), _PIECE)))


class TokenRatios:
    """How far estimates were from what machines reported, learned from every reply that came with its count."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._ratios: dict[Hashable, float] = {}

    def of(self, machine: Hashable, unknown: float = 1.0) -> float:
        """What to multiply an estimate by."""
        return self._ratios.get(machine, unknown)

    def learn(self, machine: Hashable, reported: int, estimated: int) -> None:
        """Take one reply into account, within a factor of ten."""
        if not estimated:
            return
        ratio = min(10.0, max(0.1, reported / estimated))
        before = self._ratios.pop(machine, ratio)
        self._ratios[machine] = 0.8 * before + 0.2 * ratio
        if len(self._ratios) > self._most:
            del self._ratios[next(iter(self._ratios))]


def _tokens(raw: bytes) -> float:
    letters = len(raw) - len(raw.translate(None, _LETTERS))
    foreign = len(raw) - len(raw.translate(None, _FOREIGN))
    signs = len(raw.translate(None, _LETTERS + _SPACES + _FOREIGN))
    short, long = _SHORT_WORDS.findall(raw), sum(map(len, _LONG_WORDS.findall(raw)))
    code = letters - long - sum(map(len, short))
    return len(short) + long / _PER_WORD + code / _PER_CODE + signs + foreign / 2 + len(_GAPS.findall(raw))

"""How many tokens a text is, without anybody's tokenizer; rather too many than too few."""

import math
import re
import string

# Letters that one token holds on average: of ordinary words, and of identifiers, shouting and base64.
_PER_WORD, _PER_CODE = 4.5, 2
# Looked at in pieces of this size, so that a thread that estimates lets the others have their turn in between.
_PIECE = 65_536
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


def _tokens(raw: bytes) -> float:
    letters = len(raw) - len(raw.translate(None, _LETTERS))
    foreign = len(raw) - len(raw.translate(None, _FOREIGN))
    signs = len(raw.translate(None, _LETTERS + _SPACES + _FOREIGN))
    short, long = _SHORT_WORDS.findall(raw), sum(map(len, _LONG_WORDS.findall(raw)))
    code = letters - long - sum(map(len, short))
    return len(short) + long / _PER_WORD + code / _PER_CODE + signs + foreign / 2 + len(_GAPS.findall(raw))

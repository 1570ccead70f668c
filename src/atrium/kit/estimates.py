"""How many tokens a text is, without anybody's tokenizer; rather too many than too few."""

import math
import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|[^\sA-Za-z0-9\x80-\U0010ffff]|[\x80-\U0010ffff]+|\s+")
# Letters that one token holds on average: of ordinary words, and of identifiers, shouting and base64.
_PER_WORD, _PER_CODE = 4.5, 2


def estimate_tokens(text: str) -> int:
    """Tokens of a text, by what its pieces are made of: dividing bytes by four falls far short on digits and identifiers."""
    return math.ceil(sum(map(_weight, _PIECES.findall(text))))


def _weight(piece: str) -> float:
    first = piece[0]
    if not first.isascii():
        return len(piece.encode("utf-8", "replace")) / 2
    if first.isalpha():
        return max(1, len(piece) / (_PER_WORD if piece.islower() or piece.istitle() else _PER_CODE))
    if first.isspace():
        return 0 if piece == " " else 1
    return 1

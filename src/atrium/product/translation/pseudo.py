"""What stands for a translation where no model is configured: the same text accented and a third longer, marks whole."""

import re

_MARKS = re.compile(r"(⟦\d+⟧)")
_ACCENTED = str.maketrans(
    "AaCcEeGgIiKkLlNnOoRrSsTtUuYyZz",
    "ÀàĈĉÈèĜĝÌìĶķĻļŃńÒòŔŕŚśŤťÙùŶŷŹź",
)


def pseudo_translation(sent: str) -> str:
    """The text as everybody can read it, and see that it is not in any language."""
    parts = _MARKS.split(sent)
    words = sum(map(len, parts[::2]))
    accented = "".join(part if number % 2 else part.translate(_ACCENTED) for number, part in enumerate(parts))
    return f"{accented} {'·' * -(-words // 3)}"

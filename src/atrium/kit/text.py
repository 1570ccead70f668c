"""Small rules about text that several rooms share."""

import re
import unicodedata


def slug_of(name: str, otherwise: str = "company") -> str:
    """A lower-case slug of at most 63 characters made from a name; never empty."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:63].strip("-") or otherwise


def contains_pattern(search: str) -> str:
    """The LIKE pattern of whatever contains these words, taken literally."""
    escaped = search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"

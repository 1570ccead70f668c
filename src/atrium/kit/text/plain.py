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


# What models' own chat formats mark their turns with.
_MARKS = re.compile(
    r"<(?=\|[^|<>\n]{1,60}\|>)|<(?=/?(?:s|start_of_turn|end_of_turn|tool_call|tool_response|think)>)|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|TOOL_CALLS)\])"
)

# Characters that people do not see and models read: control and formatting characters, fillers, variation selectors, tags.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible_text(text: str) -> str:
    """The same words without characters that people do not see and models read."""
    return _UNSEEN.sub("", text)


def inert(text: str) -> str:
    """The same words, in which nothing reads as the marks that a model's chat format sets between its turns."""
    return _MARKS.sub(lambda found: f"{found[0]}\u200b", text)

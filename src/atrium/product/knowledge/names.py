"""Names of entities: which two are one without being asked, and the id that follows from that."""

import hashlib
import re
import unicodedata
from uuid import UUID

_SPACE = re.compile(r"\s+")
_TITLE = re.compile(r"^(?:the|mr|mrs|ms|dr|prof) ")
_FORM = re.compile(r" (?:inc|ltd|llc|plc|gmbh|ag|bv|nv|sa|sl|ehf|hf|oy|ab|as|corp|co|company|limited)$")


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return _SPACE.sub(" ", text).strip()


def fold_text(text: str) -> str:
    """A text as it is searched by: without case, compatibility forms, punctuation and invisible characters."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(" " if _separates(character) else character for character in plain if not _is_invisible(character))
    return one_line(kept)


def normalise_name(name: str, type: str) -> str:
    """What two spellings of one entity have in common; an organisation's legal form and a title do not count."""
    bare = fold_text(name)
    bare = _TITLE.sub("", bare) or bare
    return (_FORM.sub("", bare) or bare) if type == "organisation" else bare


def entity_id(salt: UUID, type: str, name: str) -> UUID:
    """The id of what this name means in the team with this salt."""
    text = f"{type}\n{normalise_name(name, type)}".encode("utf-8", "replace")
    return UUID(bytes=hashlib.blake2b(text, digest_size=16, key=salt.bytes).digest(), version=5)


def _separates(character: str) -> bool:
    return unicodedata.category(character)[0] in "PSZC"


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) == "Cf"

"""Keys of objects: which ones there may be, and what a key says about its folder and its name."""

import re

from atrium.kit.errors import Invalid

LONGEST_KEY = 1024
# What XML 1.0 has no way to write, and the second half of Latin-1's controls: text that was never UTF-8, taken for it.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x80-\x9f\ufffe\uffff]")


class BadKey(Invalid):
    """Not a key."""

    code = "repository.bad_key"
    title = "Not a key"


def require_key(key: str) -> str:
    """A key of 1 to 1,024 bytes of UTF-8 that every listing can carry, or a refusal."""
    try:
        length = len(key.encode())
    except UnicodeEncodeError as error:
        raise BadKey("a key is UTF-8") from error
    if not 1 <= length <= LONGEST_KEY:
        raise BadKey(f"a key has 1 to {LONGEST_KEY} bytes of UTF-8; this one has {length}")
    if not is_writable(key):
        raise BadKey("a key has no control characters but tabs and line breaks")
    return key


def require_plain(key: str) -> str:
    """A key that is also a path: no segment of it means "here" or "one up"; S3 clients may write others."""
    if any(part in (".", "..") for part in key.split("/")):
        raise BadKey("no part of a key between slashes is `.` or `..`")
    return key


def is_writable(key: str) -> bool:
    """Whether XML, and so every S3 client, could be told of this key."""
    return not _CONTROL.search(key)


def after_all_with(prefix: str) -> str | None:
    """The first text, by bytes, that is after everything beginning with the prefix; None when nothing is."""
    for index in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[index]) + 1
        if following <= 0x10FFFF:
            # The surrogates are no characters, and U+E000 is the next one in bytes too.
            return prefix[:index] + chr(0xE000 if 0xD800 <= following <= 0xDFFF else following)
    return None


def name_in(key: str) -> str:
    """The last part of a key, as a file would be called."""
    return key.rstrip("/").rpartition("/")[2][-255:] or "object"

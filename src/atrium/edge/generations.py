"""Entity tags across restores: each carries the instance's generation, so that one from before a restore never matches.

Tags that are digests of bytes, as S3 has them, stay as they are: the same digest means the same bytes in every generation.
The console makes tags out of the versions it shows, without a generation; from a request of its cookie they count.
"""

import re
from typing import Any

_TAG = re.compile(rb'"([^"]*)"')
_DIGEST = re.compile(rb"[0-9a-f]{32}(?:-\d+)?")
_MARKED = re.compile(rb"g\d+-")
_EARLIER = b'"of an earlier generation"'
_CONDITIONS = (b"if-match", b"if-none-match", b"if-range")
Header = tuple[bytes, bytes]


def bare(headers: dict[bytes, bytes], generation: int) -> None:
    """Take the generation off the tags that a request names; a tag of another one becomes one that nothing has."""
    console = b"cookie" in headers and b"authorization" not in headers
    for name in _CONDITIONS:
        if name in headers:
            headers[name] = _TAG.sub(lambda found: _bare(found, generation, console=console), headers[name])


def mark_tag(headers: list[Header], generation: int) -> list[Header]:
    """The headers of a reply, its tag with the generation."""
    return [(name, mark(value, generation)) if name == b"etag" else (name, value) for name, value in headers]


def mark_facts(facts: dict[str, Any], generation: int) -> None:
    """The same for a refusal that names the current tag."""
    if isinstance(facts.get("current"), str):
        facts["current"] = mark(facts["current"].encode(), generation).decode()


def mark(tag: bytes, generation: int) -> bytes:
    """A tag with the generation, unless it is a digest."""
    if not generation:
        return tag
    return _TAG.sub(lambda found: found[0] if _DIGEST.fullmatch(found[1]) else _with(found[1], generation), tag)


def _bare(found: re.Match[bytes], generation: int, *, console: bool) -> bytes:
    beginning = b"g%d-" % generation
    if found[1].startswith(beginning):
        return b'"%s"' % found[1].removeprefix(beginning)
    stays = _DIGEST.fullmatch(found[1]) or (console and not _MARKED.match(found[1]))
    return found[0] if stays else _EARLIER


def _with(tag: bytes, generation: int) -> bytes:
    return b'"g%d-%s"' % (generation, tag)

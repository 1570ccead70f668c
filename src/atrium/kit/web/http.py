"""HTTP's rules for content: ranges, conditions, dates, names and the policy it is shown under. Touches no bytes."""

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import quote

import msgspec

from atrium.kit.errors import AppError, Kind

# What each kind of refusal is over HTTP.
STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.SUSPENDED: 402,
    Kind.FORBIDDEN: 403,
    Kind.MISSING: 404,
    Kind.METHOD: 405,
    Kind.CONFLICT: 409,
    Kind.STALE: 412,
    Kind.TOO_LARGE: 413,
    Kind.MEDIA: 415,
    Kind.RANGE: 416,
    Kind.MOVED: 421,
    Kind.REFUSED: 422,
    Kind.EXHAUSTED: 429,
    Kind.HEAD: 431,
    Kind.UPSTREAM: 502,
    Kind.UNAVAILABLE: 503,
}
# Types a browser shows without being able to run anything in them; never HTML, SVG or XML.
INLINE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"})
OCTETS = "application/octet-stream"
_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*;[ -~]*)?")
_RANGE = re.compile(r"[ \t]*bytes[ \t]*=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*", re.IGNORECASE)
_TAG = re.compile(r'(?:W/)?"[^"]*"')
_MOST_DIGITS = 100
_SHOWN = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
_SANDBOXED = f"{_SHOWN}; sandbox"


class RangeUnsatisfiable(AppError):
    """The range lies outside of the bytes."""

    kind, code, title = Kind.RANGE, "repository.range", "Outside of the content"


class ContentRange(msgspec.Struct, frozen=True):
    """The bytes to send, from `start` up to `stop`; `whole` unless the caller asked for a range."""

    start: int
    stop: int
    whole: bool


class RangeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The headers that decide how much of the content is sent."""

    range: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None
    if_modified_since: str | None = None


def clean_type(content_type: str) -> str:
    """A media type that is safe in a header; anything else is bytes."""
    text = content_type.strip()
    return text if len(text) <= 255 and _TYPE.fullmatch(text) else OCTETS


def is_inline(content_type: str) -> bool:
    """Whether a browser may show it in place."""
    return content_type.partition(";")[0].strip().lower() in INLINE


def is_pdf(content_type: str) -> bool:
    """Whether this is the one type whose viewer a browser brings along, and which it will not run in a sandbox."""
    return content_type.partition(";")[0].strip().lower() == "application/pdf"


def begins_pdf(first: bytes) -> bool:
    """Whether these first bytes are a PDF's."""
    return first.startswith(b"%PDF-")


def disposition(content_type: str, filename: str, *, shown: bool = True) -> str:
    """Content-Disposition with an ASCII name for old clients and the true one for the others (RFC 6266, RFC 8187)."""
    kind = "inline" if shown and is_inline(content_type) else "attachment"
    plain = "".join(c if " " <= c <= "~" and c not in '"\\%/' else "_" for c in filename)
    header = f'{kind}; filename="{plain}"'
    if plain == filename:
        return header
    encoded = quote(filename.encode("utf-8", "replace"), safe="!#$&+.^_`|~")
    return f"{header}; filename*=UTF-8''{encoded}"


def policy_of(*, shows_pdf: bool) -> str:
    """The content policy a browser holds the bytes to, should it show them as a page.

    A browser's own PDF viewer does not work inside a sandbox and runs nothing on our origin. So the sandbox is left out
    when the bytes were stored as a PDF, begin like one and are sent as one, and never for what could be a page.
    """
    return _SHOWN if shows_pdf else _SANDBOXED


def is_unchanged(asked: RangeRequest, etag: str, modified: datetime) -> bool:
    """Whether the caller has these bytes already; a tag outweighs a date."""
    if asked.if_none_match is not None:
        return names_tag(asked.if_none_match, etag)
    since = http_moment(asked.if_modified_since)
    return since is not None and modified.replace(microsecond=0) <= since


def part_of(asked: RangeRequest, size: int, etag: str, modified: datetime) -> ContentRange:
    """Which bytes to send; a range of several parts or of nonsense is answered with everything, as HTTP allows."""
    whole = ContentRange(0, size, whole=True)
    found = _RANGE.fullmatch(asked.range or "")
    if found is None or not _range_applies(asked.if_range, etag, modified):
        return whole
    first, last = _number(found[1]), _number(found[2])
    if first is None and last is None:
        return whole
    if first is not None and last is not None and last < first:
        return whole
    start, stop = _bounds(first, last, size)
    if start >= stop:
        raise RangeUnsatisfiable(f"the content has {size} bytes", content_range=f"bytes */{size}")
    return ContentRange(start, stop, whole=False)


def names_tag(header: str, etag: str) -> bool:
    """Whether a list of entity tags has this one; weak ones count as well, since the bytes behind a tag never change."""
    if header.strip() == "*":
        return True
    return etag in (tag.removeprefix("W/") for tag in _TAG.findall(header))


def http_date(at: datetime) -> str:
    """A moment as HTTP writes it."""
    return format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)


def _number(digits: str) -> int | None:
    # More digits than any size has mean "beyond the end", however many there are.
    digits = digits.lstrip("0") or digits[:1]
    return (int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS) if digits else None


def _bounds(first: int | None, last: int | None, size: int) -> tuple[int, int]:
    if first is None:
        return max(0, size - (last or 0)), size
    return first, size if last is None else min(last + 1, size)


def _range_applies(if_range: str | None, etag: str, modified: datetime) -> bool:
    if if_range is None:
        return True
    if if_range.lstrip().startswith(('"', "W/")):
        return if_range.strip() == etag
    return http_moment(if_range) == modified.replace(microsecond=0)


def http_moment(header: str | None) -> datetime | None:
    """A moment as HTTP writes it, read; None for what is none."""
    if header is None:
        return None
    try:
        found = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found

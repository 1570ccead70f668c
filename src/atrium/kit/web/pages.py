"""Keyset cursors: opaque, tamper-evident, and good only for the listing, the caller and the filters they came from."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Annotated, Generic, TypeVar
from uuid import UUID

import msgspec

from atrium.kit.crypto.keys import Keyring
from atrium.kit.errors import Invalid

T = TypeVar("T")
K = TypeVar("K")
Limit = Annotated[int, msgspec.Meta(ge=1, le=200)]
Cursor = Annotated[str, msgspec.Meta(max_length=1024)]
# A page ends once it holds so many bytes of text: encoding more would keep everybody else waiting.
MOST_TEXT = 2_000_000
_TAG = 16


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of many, `limit` at most; where to go on, when there are more."""

    items: list[T]
    next_cursor: str | None = None


def count_fitting(texts: Sequence[str]) -> int:
    """How many of these fit on one page, one at least: whatever begins before the page holds `MOST_TEXT` bytes as they are sent."""
    # A character has six bytes at most once it is escaped, and nearly every page is short.
    if 6 * sum(map(len, texts)) < MOST_TEXT:
        return len(texts)
    totals = list(accumulate(len(msgspec.json.encode(text)) for text in texts))
    return next((count for count, total in enumerate(totals, 1) if total >= MOST_TEXT), len(totals))


class BadCursor(Invalid):
    """Not a cursor of this listing."""

    code = "paging.bad_cursor"


class Pager:
    """Writes and reads the cursors of one listing for one caller."""

    def __init__(self, keys: Keyring, listing: str, caller: UUID, *filters: object) -> None:
        self._keys = keys
        # A restore begins a new generation, and what was listed before it may not be there any more.
        generation = (keys.generation,) if keys.generation else ()
        self._bound = msgspec.json.encode((listing, caller, filters, *generation))

    def read(self, cursor: str | None, shape: type[K]) -> K | None:
        """The position a cursor stands for; None at the start."""
        if cursor is None:
            return None
        try:
            raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            # The decoder skips what is not base64 and ignores spare bits; a cursor has one spelling.
            if _text_of(raw) != cursor:
                raise BadCursor("this cursor is damaged; start again without it")
            if not self._keys.verify("cursor", self._bound + raw[_TAG:], raw[:_TAG]):
                raise BadCursor("this cursor does not belong to this listing; start again without it")
            return msgspec.json.decode(raw[_TAG:], type=shape)
        except (Error, ValueError, msgspec.DecodeError) as error:
            raise BadCursor("this cursor is damaged; start again without it") from error

    def page(self, found: Sequence[T], limit: int, position: Callable[[T], object]) -> Page[T]:
        """The first `limit` of the rows found; fetch one more than the limit so that the end is known."""
        items = list(found[:limit])
        if len(found) <= limit:
            return Page(items)
        return Page(items, self._write(position(items[-1])))

    def _write(self, position: object) -> str:
        raw = msgspec.json.encode(position)
        return _text_of(self._keys.sign("cursor", self._bound + raw) + raw)


def _text_of(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()

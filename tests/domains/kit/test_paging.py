"""Cursors: they come back as they went out, for the same listing, caller and filters, and in no other form."""

from dataclasses import dataclass
from datetime import UTC, datetime
from string import ascii_letters, digits
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.crypto.keys import Keyring
from atrium.kit.web.pages import BadCursor, Pager

keys = Keyring("a key for cursors that is long enough")
CALLER = UUID(int=1)
times = st.datetimes(timezones=st.just(UTC), min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1))
positions = st.tuples(times, st.uuids())
Position = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Row:
    position: Position


def pager(listing: str = "rows", caller: UUID = CALLER, *filters: object) -> Pager:
    return Pager(keys, listing, caller, *filters)


def read(of: Pager, cursor: str | None) -> Position | None:
    return of.read(cursor, tuple[datetime, UUID])


def cursor_of(position: Position, of: Pager) -> str:
    page = of.page([Row(position), Row(position)], 1, lambda row: row.position)
    assert page.next_cursor is not None
    return page.next_cursor


@given(positions)
def test_a_cursor_comes_back_as_the_position_it_was(position: Position) -> None:
    assert read(pager(), cursor_of(position, pager())) == position


def test_no_cursor_is_the_start() -> None:
    assert read(pager(), None) is None


@given(positions, st.data())
def test_a_changed_character_is_refused(position: Position, data: st.DataObject) -> None:
    cursor = cursor_of(position, pager())
    at = data.draw(st.integers(0, len(cursor) - 1))
    changed = cursor[:at] + data.draw(st.characters().filter(lambda one: one != cursor[at])) + cursor[at + 1 :]

    with pytest.raises(BadCursor):
        read(pager(), changed)


@given(positions, st.data())
def test_a_shorter_or_longer_cursor_is_refused(position: Position, data: st.DataObject) -> None:
    cursor = cursor_of(position, pager())
    at = data.draw(st.integers(0, len(cursor)))
    added = data.draw(st.text(min_size=1, max_size=4))

    for changed in (cursor[:at] + added + cursor[at:], cursor[: max(0, at - 1)]):
        if changed != cursor:
            with pytest.raises(BadCursor):
                read(pager(), changed)


@pytest.mark.parametrize("added", ["!!!!", "====", "\n\n\n\n", "    ", "++++"])
@pytest.mark.parametrize("at", [0, 7, None])
def test_what_a_lenient_decoder_would_skip_is_refused(added: str, at: int | None) -> None:
    cursor = cursor_of((datetime(2024, 1, 1, tzinfo=UTC), CALLER), pager())
    at = len(cursor) if at is None else at

    with pytest.raises(BadCursor):
        read(pager(), cursor[:at] + added + cursor[at:])


def test_spare_bits_of_the_last_character_are_not_spare() -> None:
    cursor = cursor_of((datetime(2024, 1, 1, tzinfo=UTC), CALLER), pager())
    assert len(cursor) % 4 == 2
    spellings = [cursor[:-1] + last for last in ascii_letters + digits + "-_" if last != cursor[-1]]

    for spelling in spellings:
        with pytest.raises(BadCursor):
            read(pager(), spelling)


@given(st.text(max_size=200))
def test_text_that_is_no_cursor_is_refused(junk: str) -> None:
    with pytest.raises(BadCursor):
        read(pager(), junk)


@given(positions)
def test_a_cursor_is_worth_nothing_elsewhere(position: Position) -> None:
    cursor = cursor_of(position, pager("rows", CALLER, "open", None))

    for other in (
        pager("lines", CALLER, "open", None),
        pager("rows", UUID(int=2), "open", None),
        pager("rows", CALLER, "open", "x"),
        pager("rows", CALLER, "closed", None),
        pager("rows", CALLER, "open"),
        pager("rows", CALLER),
        Pager(Keyring("another key that is long enough to be one"), "rows", CALLER, "open", None),
    ):
        with pytest.raises(BadCursor):
            read(other, cursor)


@given(st.text(max_size=20), st.text(max_size=20))
def test_filters_do_not_run_into_each_other(first: str, second: str) -> None:
    cursor = cursor_of((datetime(2024, 1, 1, tzinfo=UTC), CALLER), pager("rows", CALLER, first, second))

    with pytest.raises(BadCursor):
        read(pager("rows", CALLER, first + second), cursor)


def test_a_cursor_of_another_shape_is_refused() -> None:
    page = pager().page(["a", "b"], 1, lambda row: row)

    with pytest.raises(BadCursor):
        read(pager(), page.next_cursor)


def test_a_cursor_survives_the_keys_renewal() -> None:
    position = (datetime(2024, 1, 1, tzinfo=UTC), CALLER)
    cursor = cursor_of(position, pager())

    renewed = Keyring("a newer key for cursors and long enough too,a key for cursors that is long enough")

    assert read(Pager(renewed, "rows", CALLER), cursor) == position


@given(st.integers(0, 12), st.integers(1, 12))
def test_a_page_has_a_next_one_exactly_when_more_was_found(found: int, limit: int) -> None:
    page = pager().page(list(range(found)), limit, lambda row: row)

    assert page.items == list(range(min(found, limit)))
    assert (page.next_cursor is not None) == (found > limit)

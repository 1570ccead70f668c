"""Ranges, names and conditions, for anything a client may send."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.web.http import (
    OCTETS,
    RangeRequest,
    RangeUnsatisfiable,
    clean_type,
    disposition,
    http_date,
    is_unchanged,
    names_tag,
    part_of,
)

AT = datetime(2026, 5, 1, 12, 0, 0, 5, UTC)
ETAG = '"abc"'


@given(st.text(), st.integers(0, 2**63))
def test_any_header_gives_a_part_inside_or_a_refusal(header: str, size: int) -> None:
    try:
        part = part_of(RangeRequest(range=header), size, ETAG, AT)
    except RangeUnsatisfiable:
        return

    assert 0 <= part.start <= part.stop <= size
    assert not part.whole or (part.start, part.stop) == (0, size)


@given(st.integers(0, 10**25), st.integers(0, 10**25), st.integers(1, 2**63))
def test_a_closed_range_is_what_slicing_gives(first: int, last: int, size: int) -> None:
    asked = RangeRequest(range=f"bytes={first}-{last}")
    if last < first:
        assert part_of(asked, size, ETAG, AT).whole
    elif first >= size:
        with pytest.raises(RangeUnsatisfiable):
            part_of(asked, size, ETAG, AT)
    else:
        part = part_of(asked, size, ETAG, AT)
        assert (part.start, part.stop, part.whole) == (first, min(last + 1, size), False)


@given(st.integers(1, 10**25), st.integers(1, 2**63))
def test_a_suffix_is_the_end_of_the_content(count: int, size: int) -> None:
    part = part_of(RangeRequest(range=f"bytes=-{count}"), size, ETAG, AT)

    assert (part.start, part.stop) == (max(0, size - count), size)


@given(st.text(max_size=300))
def test_a_disposition_is_one_line_of_ascii_whatever_the_name(name: str) -> None:
    header = disposition("text/plain", name)

    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2


@given(st.text(max_size=300))
def test_a_clean_type_is_safe_in_a_header(content_type: str) -> None:
    cleaned = clean_type(content_type)

    assert cleaned.isascii()
    assert "\r" not in cleaned
    assert "\n" not in cleaned
    assert "/" in cleaned


@pytest.mark.parametrize(
    "content_type", ["", "text", "text/", "/plain", "text/plain\r\nx: y", "text/plä", "a/b" + ";" * 300]
)
def test_what_is_no_type_is_plain_bytes(content_type: str) -> None:
    assert clean_type(content_type) == OCTETS


@pytest.mark.parametrize(
    ("header", "known"), [("*", True), (ETAG, True), (f'W/{ETAG}, "x"', True), ('"x"', False), ("abc", False)]
)
def test_a_list_of_tags_is_searched(header: str, known: bool) -> None:
    assert names_tag(header, ETAG) is known


@given(st.text())
def test_any_date_header_is_read_or_ignored(header: str) -> None:
    assert is_unchanged(RangeRequest(if_modified_since=header), ETAG, AT) in (True, False)


def test_a_date_reads_back() -> None:
    assert is_unchanged(RangeRequest(if_modified_since=http_date(AT)), ETAG, AT)
    assert not is_unchanged(RangeRequest(if_modified_since="Fri, 01 May 2026 11:59:59 GMT"), ETAG, AT)

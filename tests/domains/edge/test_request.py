"""Reading a request: its body within limits of size and time, its query and headers without surprises."""

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.edge.request import BodyTooSlow, Request
from atrium.kit.errors import Invalid, TooLarge
from atrium.seams.routes import Disconnected

CHUNKED = (b"transfer-encoding", b"chunked")


def request_of(
    *messages: dict[str, Any], headers: list[tuple[bytes, bytes]] | None = None, query: bytes = b""
) -> Request:
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    scope = {
        "method": "POST", "path": "/", "scheme": "http", "query_string": query, "client": ("192.0.2.1", 1), "headers": headers or [],
    }  # fmt: skip
    return Request(scope, receive, "fresh")


def in_pieces(*pieces: bytes, ended: bool = True) -> list[dict[str, Any]]:
    return [
        {"type": "http.request", "body": piece, "more_body": not ended or number < len(pieces)}
        for number, piece in enumerate(pieces, 1)
    ]


def announced(length: int) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", str(length).encode())]


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=8), st.integers(0, 40))
async def test_a_body_is_read_whole_or_refused_however_it_is_cut(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces)
    request = request_of(*in_pieces(*pieces), headers=[CHUNKED])

    if len(whole) > limit:
        with pytest.raises(TooLarge):
            await request.body(limit, 1)
    else:
        assert await request.body(limit, 1) == whole


async def test_a_first_piece_over_the_limit_is_refused_though_only_an_empty_one_follows() -> None:
    request = request_of(*in_pieces(b"x" * 11, b""), headers=[CHUNKED])

    with pytest.raises(TooLarge):
        await request.body(10, 1)


async def test_an_announced_length_over_the_limit_is_refused_before_a_byte_is_read() -> None:
    with pytest.raises(TooLarge) as refused:
        await request_of(headers=announced(11)).body(10, 0.01)

    assert refused.value.facts == {"limit": 10}


async def test_a_body_longer_than_announced_is_still_held_to_the_limit() -> None:
    with pytest.raises(TooLarge):
        await request_of(*in_pieces(b"x" * 11), headers=announced(1)).body(10, 1)


@pytest.mark.parametrize("headers", [[], announced(0)])
async def test_without_a_body_nothing_is_waited_for(headers: list[tuple[bytes, bytes]]) -> None:
    assert await request_of(headers=headers).body(10, 0.01) == b""


async def test_a_body_that_does_not_arrive_is_refused_in_time() -> None:
    with pytest.raises(BodyTooSlow):
        await request_of(headers=announced(5)).body(10, 0.01)


async def test_a_dribbling_body_is_refused_in_time() -> None:
    with pytest.raises(BodyTooSlow):
        await request_of(*in_pieces(b"a", b"b", ended=False), headers=[CHUNKED]).body(10, 0.01)


@pytest.mark.parametrize("before", [[], in_pieces(b"a", ended=False), in_pieces(b"a", b"b", ended=False)])
async def test_a_client_that_leaves_midway_is_noticed(before: list[dict[str, Any]]) -> None:
    request = request_of(*before, {"type": "http.disconnect"}, headers=announced(5))

    with pytest.raises(Disconnected):
        await request.body(10, 1)


async def test_pieces_come_as_they_arrive_without_the_empty_ones() -> None:
    request = request_of(*in_pieces(b"a", b"", b"b", b""))

    assert [piece async for piece in request.chunks()] == [b"a", b"b"]


@pytest.mark.parametrize(
    ("value", "length"), [(b"0", 0), (b"17", 17), (b"-1", None), (b"1e3", None), (b"", None), (b"\xb2", None)]
)
def test_a_length_is_digits_or_unknown(value: bytes, length: int | None) -> None:
    assert request_of(headers=[(b"content-length", value)]).length == length


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=12), max_size=6))
def test_a_query_reads_back_as_it_was_written(fields: dict[str, str]) -> None:
    assert request_of(query=urlencode(fields).encode()).query() == fields


@pytest.mark.parametrize(
    "query", [b"a=1&a=2", b"a&a", b"a=%ff", b"%ff=1", b"a=\xff", "ä=1".encode(), b"&".join(b"a%d" % n for n in range(101))]
)  # fmt: skip
def test_a_query_that_cannot_be_one_is_refused(query: bytes) -> None:
    with pytest.raises(Invalid):
        request_of(query=query).query()


@given(st.binary(max_size=40))
def test_any_bytes_are_a_query_or_refused(query: bytes) -> None:
    try:
        request_of(query=query).query()
    except Invalid:
        return


def test_a_repeated_header_keeps_its_last_value() -> None:
    assert request_of(headers=[(b"accept", b"a"), (b"accept", b"b")]).header(b"accept") == "b"


def test_a_header_may_hold_any_byte() -> None:
    assert request_of(headers=[(b"accept", b"\xff")]).header(b"accept") == "\xff"


@pytest.mark.parametrize(
    ("given_id", "kept"),
    [
        (b"abc-1.2_3", "abc-1.2_3"),
        (b"x" * 64, "x" * 64),
        (b"x" * 65, "fresh"),
        (b"a b", "fresh"),
        (b"a\n", "fresh"),
        (b"", "fresh"),
        (b"\xff", "fresh"),
    ],
)
def test_a_request_id_is_kept_when_it_is_plain(given_id: bytes, kept: str) -> None:
    assert request_of(headers=[(b"x-request-id", given_id)]).id == kept


def test_a_request_without_a_peer_has_no_address() -> None:
    scope: dict[str, Any] = {
        "method": "GET",
        "path": "/",
        "scheme": "https",
        "query_string": b"",
        "client": None,
        "headers": [],
    }

    request = Request(scope, None, "fresh")

    assert (request.address, request.secure) == ("", True)

"""Framed bodies: the same bytes come out however the network cut them, and nothing comes out of what is malformed."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.product.s3.chunks import UNSIGNED_TRAILER, read_chunks
from atrium.product.s3.model import S3Error


async def pieces_of(whole: bytes, sizes: list[int]) -> AsyncIterator[bytes]:
    at = 0
    for size in sizes:
        if at < len(whole):
            yield whole[at : at + size]
            at += size
    if at < len(whole):
        yield whole[at:]


def framed(parts: list[bytes]) -> bytes:
    frames = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part)
    return frames + b"0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 17), max_size=60))
async def test_the_cuts_of_the_network_do_not_matter(parts: list[bytes], sizes: list[int]) -> None:
    trailers: dict[str, str] = {}

    found = [piece async for piece in read_chunks(pieces_of(framed(parts), sizes), UNSIGNED_TRAILER, None, trailers)]

    assert b"".join(found) == b"".join(parts)
    assert trailers == {"x-amz-checksum-crc32": "AAAAAA=="}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"5\r\nabc",
        b"5\r\nabcde",
        b"5\r\nabcdefg\r\n0\r\n\r\n",
        b"zz\r\n",
        b"-1\r\n",
        b"3\r\nabc\r\n",
        b"0\r\n",
        b"f" * 9000,
    ],
)
async def test_a_body_that_is_cut_off_or_malformed_is_refused(body: bytes) -> None:
    with pytest.raises(S3Error):
        async for _ in read_chunks(pieces_of(body, []), UNSIGNED_TRAILER, None, {}):
            pass

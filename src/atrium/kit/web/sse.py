"""Server-sent events as bytes."""

import msgspec

_encode = msgspec.json.Encoder().encode


def sse_frame(id: str, name: str, data: object) -> bytes:
    """One event as it stands in a stream."""
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (id.encode(), name.encode(), _encode(data))

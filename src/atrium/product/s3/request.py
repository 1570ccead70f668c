"""A request as S3 reads it: which bucket and key, which sub-resource, which headers."""

from collections.abc import AsyncIterator, Iterable, Mapping
from copy import copy
from urllib.parse import unquote_to_bytes

from atrium.product.s3.model import S3Error
from atrium.seams.routes import Wire

_MOST_PARAMETERS = 100


class S3Request:
    """One request; header names are lower case, a repeated header's values are joined as signing joins them."""

    __slots__ = ("bucket", "headers", "key", "method", "query", "raw_path", "raw_query", "taken", "wire")

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.method = wire.method
        self.raw_path = wire.raw_path.decode("latin-1")
        # Some clients write a space in a query as forms do, and sign it as a space.
        self.raw_query = wire.query.decode("latin-1").replace("+", "%20")
        self.headers = _joined(wire.headers)
        self.query = _parameters(self.raw_query)
        self.bucket, self.key = _address(wire)
        self.taken = False

    def has(self, *names: str) -> bool:
        """Whether a sub-resource is named in the query."""
        return any(name in self.query for name in names)

    def text(self, name: str) -> str | None:
        """A header's value as the text its sender meant; None when absent."""
        value = self.headers.get(name)
        if value is None or value.isascii():
            return value
        return value.encode("latin-1").decode("utf-8", "replace")

    @property
    def length(self) -> int | None:
        """The body's announced length on the wire."""
        value = self.headers.get("content-length", "")
        return int(value) if value.isascii() and value.isdigit() else None

    @property
    def has_body(self) -> bool:
        """Whether bytes come behind the head."""
        return bool(self.length) or "transfer-encoding" in self.headers

    def posted(self, key: str, fields: Mapping[str, str]) -> "S3Request":
        """The request a form stands for: its fields are what a PUT's headers would have been."""
        posted = copy(self)
        posted.key = key
        posted.headers = {name: value.encode("utf-8", "replace").decode("latin-1") for name, value in fields.items()}
        if "acl" in fields:
            posted.headers["x-amz-acl"] = fields["acl"]
        return posted

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body; from here on the connection can only be used again once it was read to its end."""
        async for chunk in self.wire.chunks:
            yield chunk
        self.taken = True


def _joined(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    repeated: dict[str, list[str]] = {}
    for raw_name, raw in headers:
        name, value = raw_name.decode("latin-1"), raw.decode("latin-1")
        if name in found:
            repeated.setdefault(name, [found[name]]).append(value)
        else:
            found[name] = value
    for name, values in repeated.items():
        found[name] = ",".join(values)
    return found


def _parameters(raw: str) -> dict[str, str]:
    found: dict[str, str] = {}
    parts = raw.split("&") if raw else []
    if len(parts) > _MOST_PARAMETERS:
        raise S3Error("InvalidURI", "too many query parameters")
    for part in parts:
        name, _, value = part.partition("=")
        if name:
            found.setdefault(_decoded(name), _decoded(value))
    return found


def _address(wire: Wire) -> tuple[str | None, str | None]:
    path = wire.raw_path[len(wire.prefix) :].decode("latin-1").removeprefix("/")
    if wire.bucket_host is not None:
        return wire.bucket_host, _key_in(path)
    bucket, _, key = path.partition("/")
    return _decoded(bucket) or None, _key_in(key)


def _key_in(text: str) -> str | None:
    key = _decoded(text)
    if "\0" in key:
        raise S3Error("InvalidURI", "Couldn't parse the specified URI.")
    return key or None


def _decoded(text: str) -> str:
    if "%" not in text and text.isascii():
        return text
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeDecodeError as error:
        raise S3Error("InvalidURI", "the address is not percent-encoded UTF-8") from error

"""Checksums by name, all fed and read alike: hashlib's, and the cyclic ones it does not have."""

import hashlib
import zlib
from collections.abc import Callable
from typing import Protocol

from awscrt import checksums as crt


class Hasher(Protocol):
    """Takes bytes, gives their digest; a hash or a cyclic checksum."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes."""

    def digest(self) -> bytes:
        """The digest of everything taken."""


class _Cyclic:
    __slots__ = ("_advance", "_value", "_width")

    def __init__(self, advance: Callable[[bytes, int], int], width: int) -> None:
        self._advance, self._width, self._value = advance, width, 0

    def update(self, data: bytes, /) -> None:
        self._value = self._advance(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._width, "big")


_CYCLIC: dict[str, tuple[Callable[[bytes, int], int], int]] = {
    "crc32": (zlib.crc32, 4),
    "crc32c": (crt.crc32c, 4),
    "crc64nvme": (crt.crc64nvme, 8),
}


def new_hasher(name: str) -> Hasher:
    """A fresh checksum: `crc32`, `crc32c`, `crc64nvme`, or whatever hashlib knows; none of them guards a secret."""
    if name in _CYCLIC:
        return _Cyclic(*_CYCLIC[name])
    return hashlib.new(name, usedforsecurity=False)

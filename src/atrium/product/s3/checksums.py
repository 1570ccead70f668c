"""Checksums as S3 spells them: which one a request names, whether it holds, and what becomes of the parts' together."""

import hashlib
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from atrium.kit.crypto.checksums import new_hasher
from atrium.kit.files.staging_area import Digests
from atrium.product.s3.model import S3Error
from atrium.product.s3.request import S3Request

Kind = Literal["COMPOSITE", "FULL_OBJECT"]
LENGTHS = {"crc32": 4, "crc32c": 4, "crc64nvme": 8, "sha1": 20, "sha256": 32}
_PREFIX = "x-amz-checksum-"
# Part by part is what a hash of hashes is made for; CRC64NVME is defined for whole objects only.
_DEFAULT_KIND: dict[str, Kind] = {"crc64nvme": "FULL_OBJECT"}


class Checksum(msgspec.Struct, frozen=True):
    """One checksum of some bytes, in base64."""

    algorithm: str
    value: str
    kind: Kind = "FULL_OBJECT"

    def headers(self) -> list[tuple[str, str]]:
        """As reply headers."""
        return [(_PREFIX + self.algorithm, self.value), ("x-amz-checksum-type", self.kind)]


class ChecksumClaim(msgspec.Struct, frozen=True):
    """What a request says its body's checksum is, or in which trailer it will say so."""

    algorithm: str | None = None
    value: str | None = None
    trailing: bool = False
    md5: bytes | None = None
    sha256: str | None = None

    @property
    def hashes(self) -> tuple[str, ...]:
        """What must be computed on the way in besides SHA-256; the MD5 is for the entity tag."""
        named = self.algorithm
        return ("md5",) if named in (None, "sha256") else ("md5", named or "")

    def settle(self, staged: Digests, trailers: Mapping[str, str]) -> Checksum | None:
        """Refuse unless every claim holds; the checksum to keep, when one was named."""
        if self.md5 is not None and staged.hashes["md5"] != self.md5:
            raise S3Error("BadDigest", "Content-MD5 is not the body's")
        if self.sha256 is not None and staged.sha256.hex() != self.sha256:
            raise S3Error("XAmzContentSHA256Mismatch", "x-amz-content-sha256 is not the body's")
        if self.algorithm is None:
            return None
        found = encode_checksum(staged, self.algorithm)
        claimed = trailers.get(_PREFIX + self.algorithm) if self.trailing else self.value
        if self.trailing and claimed is None:
            raise S3Error("MalformedTrailerError", "the trailer that was announced did not come")
        if claimed is not None and claimed != found:
            raise S3Error("BadDigest", f"the {self.algorithm} that was sent is not the body's")
        return Checksum(self.algorithm, found)


def claim_of(request: S3Request, payload: str = "", fallback: str | None = None) -> ChecksumClaim:
    """The claim in a request's headers; a checksum that is only in the query is of the empty body it was signed with."""
    named = value_in(request.headers)
    trailer = request.headers.get("x-amz-trailer", "").strip().lower()
    trailing = trailer.startswith(_PREFIX)
    if trailing:
        named = (_known(trailer.removeprefix(_PREFIX)), "")
    algorithm, value = named or (algorithm_of(request, "x-amz-sdk-checksum-algorithm") or fallback, None)
    return ChecksumClaim(
        algorithm,
        None if trailing else value or None,
        trailing,
        _md5_of(request.headers.get("content-md5")),
        digest_in(payload),
    )


def digest_in(payload: str) -> str | None:
    """The body's SHA-256, when that is what x-amz-content-sha256 says."""
    return payload if len(payload) == 64 else None


def value_in(fields: Mapping[str, str]) -> tuple[str, str] | None:
    """The algorithm and value of a checksum header."""
    found = [(name.removeprefix(_PREFIX), value) for name, value in fields.items() if name.startswith(_PREFIX)]
    found = [one for one in found if one[0] in LENGTHS]
    if not found:
        return None
    if len(found) > 1:
        raise S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header")
    algorithm, value = found[0]
    if _decoded_length(value) != LENGTHS[algorithm]:
        raise S3Error("BadDigest", f"Value for {_PREFIX}{algorithm} header is invalid.")
    return algorithm, value


def algorithm_of(request: S3Request, header: str) -> str | None:
    """The algorithm a header names."""
    value = request.headers.get(header)
    return None if not value else _known(value.strip().lower())


def kind_of(request: S3Request, algorithm: str) -> Kind:
    """Whether a multipart upload's checksum is of the whole, or made from its parts'."""
    named = request.headers.get("x-amz-checksum-type", "").upper()
    if named not in ("", "COMPOSITE", "FULL_OBJECT"):
        raise S3Error("InvalidRequest", "Value for x-amz-checksum-type header is invalid.")
    kind: Any = named or _DEFAULT_KIND.get(algorithm, "COMPOSITE")
    if (kind == "FULL_OBJECT") and algorithm in ("sha1", "sha256"):
        raise S3Error("InvalidRequest", f"{algorithm} has no checksum of the full object made in parts")
    if kind == "COMPOSITE" and algorithm == "crc64nvme":
        raise S3Error("InvalidRequest", "crc64nvme has no composite checksum")
    return "COMPOSITE" if kind == "COMPOSITE" else "FULL_OBJECT"


def encode_checksum(staged: Digests, algorithm: str) -> str:
    """A checksum of staged bytes, as it is written."""
    return b64encode(staged.sha256 if algorithm == "sha256" else staged.hashes[algorithm]).decode()


def composite_of(algorithm: str, values: Sequence[str]) -> str:
    """The checksum of the parts' checksums, and how many there were."""
    whole = new_hasher(algorithm)
    for value in values:
        whole.update(b64decode(value))
    return f"{b64encode(whole.digest()).decode()}-{len(values)}"


def tag_of(etags: Iterable[str]) -> str:
    """The entity tag of an object made of parts."""
    digests = [bytes.fromhex(etag) for etag in etags]
    return f"{hashlib.md5(b''.join(digests), usedforsecurity=False).hexdigest()}-{len(digests)}"


def _known(algorithm: str) -> str:
    if algorithm not in LENGTHS:
        raise S3Error("InvalidRequest", f"checksum algorithm {algorithm[:20]} is not one of {', '.join(LENGTHS)}")
    return algorithm


def _md5_of(header: str | None) -> bytes | None:
    if header is None:
        return None
    try:
        found = b64decode(header, validate=True)
    except (Error, ValueError):
        found = b""
    if len(found) != 16:
        raise S3Error("InvalidDigest", "Content-MD5 is 16 bytes in base64")
    return found


def _decoded_length(value: str) -> int:
    try:
        return len(b64decode(value, validate=True))
    except (Error, ValueError):
        return -1

"""The archive: one file with a signed manifest, the rows of each table and the bytes by digest. Nothing in it names a path."""

import contextlib
import hashlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from atrium.admin.moving.model import FORMAT, PURPOSE, MoveManifest, MoveRefused
from atrium.kit.crypto.keys import Keyring

MANIFEST, BLOBS = "manifest.json", "blobs.txt"
_LARGEST_MANIFEST, _PIECE = 64 << 20, 1 << 20


def rows_name(table: str) -> str:
    """Where the rows of a table are."""
    return f"rows/{table}"


def blob_name(sha256: str) -> str:
    """Where bytes are."""
    return f"blobs/{sha256}"


class Draft:
    """An archive in the making, beside its place and readable by its owner alone; it has its name once it is whole."""

    def __init__(self, place: Path) -> None:
        self._place, self._near = place, place.with_name(f".{place.name}.making")
        self.files: dict[str, str] = {}
        self.sizes: dict[str, int] = {}

    def __enter__(self) -> "Draft":
        if self._place.exists():
            raise MoveRefused(f"{self._place} exists already; an archive is never overwritten")
        try:
            self._near.unlink(missing_ok=True)
            descriptor = os.open(self._near, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise MoveRefused(f"{self._place} cannot be written: {error.strerror}") from error
        self._file = os.fdopen(descriptor, "w+b")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED, allowZip64=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._file.closed:
            with contextlib.suppress(OSError, ValueError):
                self._zip.close()
            self._file.close()
        self._near.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        """Whether this was written already."""
        return name in self.files

    def forget_blobs(self, needed: set[str]) -> None:
        """Bytes that went before the company was read-only, and that no row of the archive names, must not be there."""
        extra = [name for name in self.files if _is_blob(name) and name.removeprefix("blobs/") not in needed]
        for name in extra:
            del self.files[name], self.sizes[name]
            # Without its entry in the directory nothing reads it; the bytes stay as slack in the file.
            info = self._zip.NameToInfo.pop(name)
            self._zip.filelist.remove(info)

    def adding(self, name: str) -> "Adding":
        """A file to be written piece by piece."""
        return Adding(self, name, self._zip.open(name, "w", force_zip64=True))

    def add(self, name: str, content: bytes) -> None:
        """A file at once."""
        with self.adding(name) as one:
            one.write(content)

    def finish(self, manifest: MoveManifest, transfer: Keyring) -> str:
        """Sign, have everything on disk, then give the name; the digest of the manifest, which names this archive."""
        raw = encode_manifest(sign_manifest(manifest, transfer))
        self._zip.writestr(MANIFEST, raw)
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._near.rename(self._place)
        return hashlib.sha256(raw).hexdigest()


class Adding:
    """One file of an archive, hashed on the way in."""

    def __init__(self, draft: Draft, name: str, file: IO[bytes]) -> None:
        self._draft, self._name, self._file = draft, name, file
        self._hashed, self._size = hashlib.sha256(), 0

    def __enter__(self) -> "Adding":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._draft.files[self._name] = self._hashed.hexdigest()
        self._draft.sizes[self._name] = self._size

    def write(self, piece: bytes) -> None:
        """So much more of it."""
        self._hashed.update(piece)
        self._size += len(piece)
        self._file.write(piece)


class Archive:
    """An archive that was written, and is trusted in nothing that was not checked."""

    def __init__(self, place: Path, transfer: Keyring) -> None:
        self._place = place
        try:
            self._zip = zipfile.ZipFile(place)
            self._length = place.stat().st_size
        except FileNotFoundError as error:
            raise MoveRefused(f"{place} is not there") from error
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise MoveRefused(f"{place} is not a company's archive, or it was cut: {error}") from error
        try:
            self.manifest, self.digest = self._read_manifest(transfer)
            self._require_contents()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def pieces(self, name: str) -> Iterator[bytes]:
        """A file's bytes, piece by piece; the last one only when all of them are those that were written."""
        hashed, size, last = hashlib.sha256(), 0, b""
        try:
            with self._zip.open(name) as file:
                while piece := file.read(_PIECE):
                    hashed.update(piece)
                    size += len(piece)
                    if last:
                        yield last
                    last = piece
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, KeyError, EOFError) as error:
            raise MoveRefused(f"{name} is damaged: {error}") from error
        if hashed.hexdigest() != self.manifest.files[name] or size != self.manifest.sizes[name]:
            raise MoveRefused(f"{name} is damaged: its bytes are not those that were written")
        if last:
            yield last

    def blobs(self) -> list[tuple[str, int]]:
        """Digest and size of all bytes."""
        return [(digest, size) for digest, size in self._listed if blob_name(digest) in self.manifest.files]

    def _read_manifest(self, transfer: Keyring) -> tuple[MoveManifest, str]:
        names = self._zip.namelist()
        if MANIFEST not in names or self._zip.getinfo(MANIFEST).file_size > _LARGEST_MANIFEST:
            raise MoveRefused(f"{self._place} has no {MANIFEST}: it is not a company's archive, or it was cut")
        try:
            raw = self._zip.read(MANIFEST)
            manifest = msgspec.json.decode(raw, type=MoveManifest)
        except (zipfile.BadZipFile, msgspec.DecodeError, UnicodeDecodeError, ValueError, NotImplementedError) as error:
            raise MoveRefused(f"{MANIFEST} is damaged: {error}") from error
        if manifest.key_id not in transfer.ids():
            raise MoveRefused("the archive was made with another SERVICE_TRANSFER_KEY; set the same on both sides")
        bare = encode_manifest(msgspec.structs.replace(manifest, signature=""))
        if raw != encode_manifest(manifest) or not transfer.verify(PURPOSE, bare, parse_signature(manifest.signature)):
            raise MoveRefused(f"{MANIFEST} was edited after the archive was made")
        if manifest.format != FORMAT:
            raise MoveRefused(f"the archive has format {manifest.format} and this program knows {FORMAT}")
        return manifest, hashlib.sha256(raw).hexdigest()

    def _require_contents(self) -> None:
        """Exactly the files that the manifest names, each once, as they were written and no longer than the archive."""
        manifest, infos = self.manifest, self._zip.infolist()
        found = [info.filename for info in infos]
        allowed = {MANIFEST, BLOBS, *(rows_name(table) for table in manifest.tables)}
        for name in {*found, *manifest.files} - allowed:
            if not _is_blob(name):
                raise MoveRefused(f"the archive holds {name!r}, which is no part of a company")
        twice = sorted({name for name in found if found.count(name) > 1}) if len(set(found)) < len(found) else []
        lacking = sorted(({*manifest.files, *allowed}) - set(found))
        for name in [*twice[:1], *lacking[:1]]:
            raise MoveRefused(f"{name} is {'there twice' if name in twice else 'missing'} in the archive")
        if {*found} - {MANIFEST} != {*manifest.files} or manifest.files.keys() != manifest.sizes.keys():
            raise MoveRefused(f"{MANIFEST} does not name every file of the archive")
        for info in infos:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise MoveRefused(f"{info.filename} is not as it was written")
            if info.file_size != manifest.sizes.get(info.filename, info.file_size):
                raise MoveRefused(
                    f"{info.filename} has {info.file_size} bytes, {manifest.sizes[info.filename]} were written"
                )
        if sum(info.file_size for info in infos) > self._length:
            raise MoveRefused("the archive says that it holds more than it does")
        self._listed = list(self._read_list())

    def _read_list(self) -> Iterator[tuple[str, int]]:
        text = b"".join(self.pieces(BLOBS)).decode("ascii", "replace")
        for line in text.splitlines():
            digest, _, size = line.partition(" ")
            name = blob_name(digest)
            if not _is_blob(name) or not size.isdigit():
                raise MoveRefused(f"{BLOBS} is damaged")
            if digest not in self.manifest.missing and (
                self.manifest.sizes.get(name) != int(size) or self.manifest.files.get(name) != digest
            ):
                raise MoveRefused(f"{name} is not what its name says")
            yield digest, int(size)


def sign_manifest(manifest: MoveManifest, transfer: Keyring) -> MoveManifest:
    """With the signature of the transfer key over everything else it says."""
    bare = msgspec.structs.replace(manifest, signature="")
    return msgspec.structs.replace(bare, signature=transfer.sign(PURPOSE, encode_manifest(bare)).hex())


def encode_manifest(value: msgspec.Struct) -> bytes:
    """In one spelling, so that every edit shows."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def parse_signature(text: str) -> bytes:
    """The bytes of a signature; none of what is no signature."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _is_blob(name: str) -> bool:
    digest = name.removeprefix("blobs/")
    return len(digest) == 64 and name == blob_name(digest) and not set(digest) - set("0123456789abcdef")

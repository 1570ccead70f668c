"""The instance's keys: secrets sealed at rest, values signed for the wire, both under a key that can be rotated."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_VERSION = b"\x01"
_ID, _NONCE, _SIGNATURE = 4, 12, 16
_KEY_FILE = "secret.key"


class Unsealable(Exception):
    """The sealed value was not made by any key this process has, or not with this binding."""


class Keyring:
    """Keys derived from SERVICE_SECRET_KEY, newest first: the first seals and signs, every one opens and verifies."""

    def __init__(self, secret: str) -> None:
        parts = [part.strip() for part in secret.split(",") if part.strip()]
        if not parts or min(map(len, parts)) < 32:
            raise ValueError("each key in SERVICE_SECRET_KEY must have at least 32 characters")
        # Of the database that the keys belong to; read once, when a process starts.
        self.generation = 0
        self._secrets = [part.encode() for part in parts]
        self._ids = [hashlib.sha256(b"atrium key id" + part).digest()[:_ID] for part in self._secrets]
        self._sealers = {
            key_id: AESGCM(_derived(part, b"seal")) for key_id, part in zip(self._ids, self._secrets, strict=True)
        }

    def seal(self, plain: bytes, binding: str) -> bytes:
        """Encrypt, bound to what the text names (AES-GCM's associated data); opened with another text it fails."""
        nonce = os.urandom(_NONCE)
        return _VERSION + self._ids[0] + nonce + self._sealers[self._ids[0]].encrypt(nonce, plain, binding.encode())

    def open(self, sealed: bytes, binding: str) -> bytes:
        """Decrypt what `seal` made with the same binding, under any key still on the ring."""
        sealer = self._sealers.get(sealed[1 : 1 + _ID])
        if sealed[:1] != _VERSION or sealer is None:
            raise Unsealable("sealed by a key that is not on the ring")
        try:
            return sealer.decrypt(sealed[1 + _ID : 1 + _ID + _NONCE], sealed[1 + _ID + _NONCE :], binding.encode())
        except (InvalidTag, ValueError) as error:
            raise Unsealable("sealed for another place, or damaged") from error

    def ids(self) -> list[str]:
        """What tells these keys from others, newest first; nothing can be opened with it."""
        return [key_id.hex() for key_id in self._ids]

    def is_current(self, sealed: bytes) -> bool:
        """Whether the newest key sealed this."""
        return sealed[: 1 + _ID] == _VERSION + self._ids[0]

    def reseal(self, sealed: bytes, binding: str) -> bytes | None:
        """The same under the newest key; None when that sealed it already."""
        return None if self.is_current(sealed) else self.seal(self.open(sealed, binding), binding)

    def sign(self, purpose: str, message: bytes) -> bytes:
        """A short tag that only this instance can make for this purpose."""
        return _tag(self._secrets[0], purpose, message)

    def verify(self, purpose: str, message: bytes, tag: bytes) -> bool:
        """Whether `sign` made the tag, under any key still on the ring."""
        return any(hmac.compare_digest(_tag(part, purpose, message), tag) for part in self._secrets)


def read_secret(configured: str, data_dir: Path) -> str:
    """The configured key, or the one kept in the data folder, made on first use."""
    found = find_secret(configured, data_dir)
    if found is None:
        data_dir.mkdir(parents=True, exist_ok=True)
        _write_once(data_dir / _KEY_FILE, urlsafe_b64encode(secrets.token_bytes(48)))
    return found or (data_dir / _KEY_FILE).read_text().strip()


def find_secret(configured: str, data_dir: Path) -> str | None:
    """The configured key, or the one kept in the data folder; None when there is none yet."""
    path = data_dir / _KEY_FILE
    return configured or (path.read_text().strip() if path.exists() else None)


def _write_once(path: Path, content: bytes) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        # Linking fails when another process was first; its key is then the instance's.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


@lru_cache(maxsize=64)
def _derived(secret: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=b"atrium", info=purpose).derive(secret)


def _tag(secret: bytes, purpose: str, message: bytes) -> bytes:
    # Keyed BLAKE2 is a MAC by design, and takes a tenth of the time that HMAC costs through OpenSSL.
    return hashlib.blake2b(message, digest_size=_SIGNATURE, key=_derived(secret, b"sign " + purpose.encode())).digest()

"""Password hashing: argon2id in one thread of its own, so that a burst of sign-ins cannot take the memory, and no other work the thread.

Companies take turns in it, and addresses as long as no company is known.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from atrium.kit.work.shares import account
from atrium.kit.work.threads import Threads

R = TypeVar("R")

KDF = "argon2id m=46MiB t=1 p=1"
_HASHER = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)
# Verified when the username is unknown, so that both answers take the same time: the hash of random bytes that were not kept,
# written down because making one takes a tenth of a second of every start.
_DECOY = "$argon2id$v=19$m=47104,t=1,p=1$FW6QnZScdQCwHgf/iM/dSQ$JEt+WG1vuBnzOGoRUtULDwsOgAq8WdIxK6OzeRUo2SU"


class Passwords:
    """Hashes and verifies; make one per process."""

    def __init__(self) -> None:
        self._thread = Threads(1, name="passwords")

    async def hash(self, password: str) -> str:
        """The stored form of a password."""
        return await self._run(_HASHER.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether the password is the stored one; takes the same time when there is none."""
        same = await self._run(_verify, stored or _DECOY, password)
        return same and stored is not None

    async def _run(self, function: Callable[..., R], *arguments: str) -> R:
        return await self._thread.run(account.get(), function, *arguments)

    def close(self) -> None:
        """Begin nothing more."""
        self._thread.close()

    def needs_rehash(self, stored: str) -> bool:
        """Whether the parameters have moved on since it was stored."""
        return _HASHER.check_needs_rehash(stored)


def is_common(password: str) -> bool:
    """Whether this is one of the ten thousand that anybody would try first, in any case and with spaces around it."""
    return password.strip().lower() in _common_passwords()


@cache
def _common_passwords() -> frozenset[str]:
    # A notice comes first, then an empty line, then one password a line.
    text = Path(__file__).with_name("common_passwords.txt").read_text("utf-8")
    return frozenset(text.partition("\n\n")[2].splitlines())


def _verify(stored: str, password: str) -> bool:
    try:
        return _HASHER.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False

"""The keys of the chains: kept sealed, made when there is none, sealed again when the instance's own key changes."""

import os
from uuid import UUID

from atrium.ground.audit import store
from atrium.ground.audit.model import KEY_ID, ChainKey, Head, key_id_of, sign_head
from atrium.kit.crypto.keys import Keyring, Unsealable
from atrium.kit.postgres.database import Database, Transaction

_SECRET = 32


class ChainKeys:
    """Every chain key that could be opened; the newest ties."""

    def __init__(self, keys: list[ChainKey]) -> None:
        self.newest = keys[0] if keys else None
        self._by_id = {key.id: key for key in keys}

    def of(self, hash: bytes) -> ChainKey | None:
        """The key that a link or a signature names; None when it cannot be opened."""
        return self._by_id.get(key_id_of(hash))

    def signed(self, head: Head) -> bool:
        """Whether this instance wrote the head."""
        key = self.of(head.signature) if head.signature is not None else None
        return key is not None and sign_head(key, head.org_id, head.seq, head.hash) == head.signature


async def read_keys(db: Transaction, keys: Keyring) -> ChainKeys:
    """The chain keys, newest first; those that this keyring cannot open are left out."""
    found = []
    for id, sealed in await store.list_keys(db):
        try:
            found.append(ChainKey(id, keys.open(sealed, _binding(id))))
        except Unsealable:
            continue
    return ChainKeys(found)


async def require_keys(db: Transaction, keys: Keyring) -> tuple[ChainKeys, ChainKey]:
    """The chain keys and the one to tie with; the first is made here, under the sealer's lock."""
    if not await store.list_keys(db):
        await make_key(db, keys)
    found = await read_keys(db, keys)
    if found.newest is None:
        raise Unsealable("the keys of the audit chains were sealed under a SERVICE_SECRET_KEY that this process lacks")
    return found, found.newest


async def make_key(db: Transaction, keys: Keyring) -> None:
    """A new key to tie with from now on."""
    id = os.urandom(KEY_ID)
    await store.insert_key(db, id, keys.seal(os.urandom(_SECRET), _binding(id)))


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal the chain keys under the newest of the instance's, and tie with a new one: the old ones may be known by now."""
    async with database.begin_system() as db:
        old = [(id, sealed) for id, sealed in await store.list_keys(db) if not keys.is_current(sealed)]
        for id, sealed in old:
            await store.replace_key(db, id, keys.seal(keys.open(sealed, _binding(id)), _binding(id)))
        if old:
            await make_key(db, keys)
    return len(old)


async def lend(db: Transaction, keys: Keyring, org_id: UUID) -> list[ChainKey]:
    """The keys that a company's chain is checked with, for the instance it moves to."""
    opened = await read_keys(db, keys)
    found = [(id, opened.of(id)) for id in await store.list_tying(db, org_id)]
    if any(key is None for _, key in found):
        raise Unsealable("a key of the audit chain was sealed under a SERVICE_SECRET_KEY that this process lacks")
    return [key for _, key in found if key is not None]


async def adopt(db: Transaction, keys: Keyring, lent: list[ChainKey]) -> None:
    """Keep keys of another instance to check with; nothing is tied with them here. Unsealable when an id means another key."""
    opened, _ = await require_keys(db, keys)
    for key in lent:
        known = opened.of(key.id)
        if known is None:
            await store.insert_old_key(db, key.id, keys.seal(key.secret, _binding(key.id)))
        elif known.secret != key.secret:
            raise Unsealable("a key of the audit chain has the id of another one here")


def _binding(id: bytes) -> str:
    return f"audit_keys|{id.hex()}"

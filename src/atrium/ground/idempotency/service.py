"""Claim a key before the work, keep the reply after it.

A request that is one transaction does both inside it. One that opens its own transactions claims first and keeps last, each on
its own: between them the key has no reply, and a request with the same key is refused meanwhile. When its process died there,
the same request may have the key again after five minutes.
"""

import hashlib
from math import ceil

import msgspec

from atrium.ground.idempotency import store
from atrium.ground.idempotency.model import KeyReused, StoredReply, Unfinished
from atrium.kit.crypto.keys import Unsealable
from atrium.kit.errors import Invalid
from atrium.seams.context import Context, Principal
from atrium.seams.wiring import Sealed

LONGEST_KEY = 255


async def claim(ctx: Context, key: str, *request: bytes) -> StoredReply | None:
    """The earlier reply when this request came before; None when it is new and now ours."""
    require_key(key)
    who, digest = ctx.who, digest_of(ctx.who, *request)
    if await store.insert_key(ctx.db, who.org_id, who.user_id, key, digest):
        return None
    found = await store.find_reply(ctx.db, who.org_id, who.user_id, key)
    if found is None or found[0] != digest:
        raise KeyReused("this key was used for a different request; take a new one")
    if found[1] is None:
        raise Unfinished(
            "the first request with this key is not answered yet; ask again later, and look first whether it took effect",
            retry_after=max(1, ceil(store.PATIENCE - found[2])),
        )
    try:
        return msgspec.json.decode(ctx.services.keys.open(found[1], _binding(ctx, key)), type=StoredReply)
    except Unsealable as error:
        # Kept under a key that was rotated away since; doing the work a second time would be worse than saying so.
        raise KeyReused("this request was answered before, and the reply can no longer be read") from error


def digest_of(who: Principal, *request: bytes) -> bytes:
    """What tells one request from another.

    The permissions of the credential are part of it: a narrow token must not be handed what a wide one was answered, nor a
    script in the browser what a program was.
    """
    permissions = ",".join((*sorted(who.permissions), "cookie" if who.cookie else "")).encode()
    return hashlib.sha256(b"\0".join((*request, permissions))).digest()


def require_key(key: str) -> None:
    """Refuse what cannot be a key."""
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise Invalid(f"an Idempotency-Key has 1 to {LONGEST_KEY} printable characters")


async def keep(ctx: Context, key: str, reply: StoredReply) -> None:
    """Remember the reply for 24 hours, sealed: it may hold a secret that is shown once."""
    sealed = ctx.services.keys.seal(msgspec.json.encode(reply), _binding(ctx, key))
    await store.write_reply(ctx.db, ctx.who.org_id, ctx.who.user_id, key, sealed)


async def release(ctx: Context, key: str) -> None:
    """Give a key back whose request was refused, so that a corrected one may use it."""
    await store.delete_unanswered(ctx.db, ctx.who.org_id, ctx.who.user_id, key)


def _binding(ctx: Context, key: str) -> str:
    return binding_of(ctx.who.org_id, ctx.who.user_id, key)


def binding_of(org_id: object, user_id: object, key: str) -> str:
    """What binds a kept reply to its key."""
    return f"{org_id}|idempotency_keys|{user_id}|{key}"


SEALED = (
    Sealed("idempotency_keys", "reply_sealed", lambda row: binding_of(row["org_id"], row["user_id"], row["key"])),
)

"""The verbs of S3: key pairs, links, and the gateway's entry point."""

import secrets
import string
from datetime import UTC, datetime, timedelta
from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.engine.repository.object_keys import require_key
from atrium.ground.access.model import NotPermitted
from atrium.ground.audit import service as audit
from atrium.ground.identity import members, role_changes
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import UserMissing
from atrium.kit.crypto.keys import Keyring
from atrium.kit.ids import new_id
from atrium.kit.postgres.database import Database
from atrium.product.s3 import credentials, sigv4, store
from atrium.product.s3.model import (
    KEY_LIMIT,
    AccessKeys,
    IssuedKey,
    KeyPairMissing,
    NoKeyPair,
    NotAddressable,
    Presigned,
    SealedKey,
    TooManyKeys,
)
from atrium.seams.context import Actor, Context, Operation

_SECRET_ALPHABET = string.ascii_letters + string.digits
_SECRET_LENGTH = 40


async def list_keys(ctx: Context, person_id: UUID | None, host: str | None) -> AccessKeys:
    """The key pairs of the caller, or of a person they manage, without secrets, and where to use them."""
    settings, owner_id = ctx.services.settings, person_id or ctx.who.user_id
    if owner_id != ctx.who.user_id:
        await members.read_managed(ctx, owner_id)
    found = await store.list_keys(ctx.db, ctx.who.org_id, owner_id, KEY_LIMIT)
    return AccessKeys(found, endpoint_of(ctx, host), settings.s3_bucket, settings.s3_region)


async def issue_key(
    ctx: Context, name: str, scope: list[str] | None, prefix: str | None, host: str | None
) -> IssuedKey:
    """A key pair with at most the permissions of the credential that asks for it; its secret is shown once."""
    narrowed, folder = role_changes.narrowed_scope(ctx.who, scope), _folder(prefix)
    if len(await store.list_keys(ctx.db, ctx.who.org_id, ctx.who.user_id, KEY_LIMIT)) >= KEY_LIMIT:
        raise TooManyKeys(f"at most {KEY_LIMIT} access keys a person; revoke one you no longer use")
    id, access_key_id = new_id(), credentials.new_access_key_id()
    secret = "".join(secrets.choice(_SECRET_ALPHABET) for _ in range(_SECRET_LENGTH))
    sealed = ctx.services.keys.seal(secret.encode(), credentials.secret_binding(ctx.who.org_id, id))
    key = SealedKey(id, ctx.who.org_id, ctx.who.user_id, access_key_id, sealed)
    await store.insert_key(ctx.db, key, name, narrowed, folder)
    facts = {"name": name, "scope": narrowed, "prefix": folder, "access_key_id": access_key_id}
    await audit.record(ctx, "s3.key_issued", id, **facts, **await role_changes.token_of(ctx))
    settings = ctx.services.settings
    place = endpoint_of(ctx, host), settings.s3_bucket, settings.s3_region
    return IssuedKey(id, access_key_id, secret, name, narrowed, folder, *place)


def _folder(prefix: str | None) -> str | None:
    """A prefix that names a folder and nothing beside it: `reports` is good for reports/x and not for reports-2/x."""
    if not prefix:
        return None
    return require_key(prefix if prefix.endswith("/") else f"{prefix}/")


async def revoke_key(op: Operation, id: UUID) -> None:
    """End a key pair of the caller or of a person they manage; the next request signed with it is refused, links included."""
    owner_id = await _owner_of(op, id)
    async with op.begin(ending=(owner_id,)) as ctx:
        if not await store.delete_key(ctx.db, ctx.who.org_id, owner_id, id):
            raise KeyPairMissing("there is no such access key of yours")
        await identity.tell_ended(ctx)
        await audit.record(ctx, "s3.key_revoked", id, owner=owner_id)


async def _owner_of(op: Operation, id: UUID) -> UUID:
    async with op.begin() as ctx:
        owner_id = await store.find_owner(ctx.db, ctx.who.org_id, id)
        if owner_id is not None and owner_id != ctx.who.user_id:
            try:
                await members.read_managed(ctx, owner_id)
            except (NotPermitted, UserMissing):
                owner_id = None
    if owner_id is None:
        raise KeyPairMissing("there is no such access key of yours")
    return owner_id


async def count_keys(ctx: Context, person_id: UUID) -> int:
    """How many key pairs a person of the caller's company has."""
    return await store.count_keys(ctx.db, ctx.who.org_id, person_id)


async def end_keys(ctx: Context, person_id: UUID) -> int:
    """End every key pair of a person; the transaction began with `ending` them."""
    ctx.require_ending(person_id)
    ended = await store.delete_keys(ctx.db, ctx.who.org_id, person_id)
    await identity.tell_ended(ctx)
    return ended


async def presign_object(ctx: Context, id: UUID, method: str, expires_in: int, host: str | None) -> Presigned:
    """A link to an object of the caller's bucket, signed with their newest key and dead when that is."""
    target = await repository.read_object(ctx, id)
    if method == "PUT":
        await repository.edit_object(ctx, id)
    if target.team_id != ctx.who.team_id:
        raise NotAddressable("this object is in another team's bucket; download it over the API instead")
    key = await store.find_newest(ctx.db, ctx.who.org_id, ctx.who.user_id, target.key)
    if key is None:
        raise NoKeyPair("first issue an access key that may read this object: POST /api/s3/credentials")
    endpoint, settings = endpoint_of(ctx, host), ctx.services.settings
    scheme, _, place = endpoint.partition("://")
    authority, _, base = place.partition("/")
    path = f"{f'/{base}' if base else ''}/{settings.s3_bucket}/{target.key}"
    now = datetime.now(UTC)
    pair = (key.access_key_id, credentials.open_secret(ctx.services.keys, key))
    url = sigv4.sign_link(sigv4.Link(method, scheme, authority, path), pair, settings.s3_region, now, expires_in)
    await audit.record(ctx, "s3.presigned", id, method=method, expires_in=expires_in)
    return Presigned(url, now + timedelta(seconds=expires_in))


def endpoint_of(acting: Actor, host: str | None) -> str:
    """Where S3 is spoken, as far as the settings say; the rest is taken from the address the caller used."""
    settings = acting.services.settings
    if settings.s3_url:
        return settings.s3_url.rstrip("/")
    scheme = "https" if acting.secure else "http"
    if settings.s3_domain:
        return f"{scheme}://{settings.s3_domain}"
    base = settings.base_url.rstrip("/") or f"{scheme}://{host or 'localhost'}"
    if settings.s3_port:
        return f"{base.rpartition(':')[0] if base.count(':') > 1 else base}:{settings.s3_port}"
    return base


async def list_standing(database: Database, ids: list[UUID]) -> set[UUID]:
    """Which of these key pairs still count."""
    async with database.begin_system() as db:
        return await store.list_standing(db, ids)


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every secret again under the newest key; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for key in await store.list_sealed(db):
            if (again := keys.reseal(key.secret_sealed, credentials.secret_binding(key.org_id, key.id))) is not None:
                changed += await store.reseal(db, key.id, key.secret_sealed, again)
    return changed

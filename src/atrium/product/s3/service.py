"""The verbs of S3: key pairs, links, and the gateway's one door."""

import secrets
import string
from datetime import UTC, datetime, timedelta
from uuid import UUID

from atrium.engine.repository import service as repository
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.kit.database import Database
from atrium.kit.ids import new_id
from atrium.kit.keys import Keyring
from atrium.product.s3 import credentials, sigv4, store
from atrium.product.s3.gateway import serve as serve
from atrium.product.s3.model import (
    KEY_LIMIT,
    AccessKeys,
    IssuedKey,
    KeyPairMissing,
    NoKeyPair,
    NotAddressable,
    Presigned,
    TooManyKeys,
)
from atrium.seams.context import Acting, Context

_SECRET_ALPHABET = string.ascii_letters + string.digits
_SECRET_LENGTH = 40


async def list_keys(ctx: Context, host: str | None) -> AccessKeys:
    """The caller's key pairs without their secrets, and where to use them."""
    settings = ctx.services.settings
    found = await store.list_keys(ctx.db, ctx.who.org_id, ctx.who.user_id, KEY_LIMIT)
    return AccessKeys(found, endpoint_of(ctx, host), settings.s3_bucket, settings.s3_region)


async def issue_key(ctx: Context, name: str, scope: list[str] | None, host: str | None) -> IssuedKey:
    """A key pair that reaches no further than the credential asking for it; its secret leaves here once."""
    narrowed = identity.narrowed_scope(ctx.who, scope)
    if len(await store.list_keys(ctx.db, ctx.who.org_id, ctx.who.user_id, KEY_LIMIT)) >= KEY_LIMIT:
        raise TooManyKeys(f"at most {KEY_LIMIT} access keys a person; revoke one you no longer use")
    id, access_key_id = new_id(), credentials.new_access_key_id()
    secret = "".join(secrets.choice(_SECRET_ALPHABET) for _ in range(_SECRET_LENGTH))
    sealed = ctx.services.keys.seal(secret.encode(), credentials.place_of(ctx.who.org_id, id))
    await store.insert_key(ctx.db, ctx.who, id, access_key_id, sealed, name, narrowed)
    await audit.record(ctx, "s3.key_issued", id, name=name, scope=narrowed, access_key_id=access_key_id)
    settings = ctx.services.settings
    return IssuedKey(
        id, access_key_id, secret, name, narrowed, endpoint_of(ctx, host), settings.s3_bucket, settings.s3_region
    )


async def revoke_key(ctx: Context, id: UUID) -> None:
    """End one of the caller's key pairs; the next request signed with it is refused, links included."""
    if not await store.delete_key(ctx.db, ctx.who.org_id, ctx.who.user_id, id):
        raise KeyPairMissing("you have no such access key")
    await audit.record(ctx, "s3.key_revoked", id)


async def presign_object(ctx: Context, id: UUID, method: str, expires_in: int, host: str | None) -> Presigned:
    """A link to an object of the caller's bucket, signed with their newest key and dead when that is."""
    target = await repository.read_object(ctx, id)
    if method == "PUT":
        await repository.edit_object(ctx, id)
    if target.team_id != ctx.who.team_id:
        raise NotAddressable("this object is in another team's bucket; download it over the API instead")
    key = await store.find_newest(ctx.db, ctx.who.org_id, ctx.who.user_id)
    if key is None:
        raise NoKeyPair("issue an access key first: POST /api/s3/credentials")
    endpoint, settings = endpoint_of(ctx, host), ctx.services.settings
    scheme, _, place = endpoint.partition("://")
    authority, _, base = place.partition("/")
    path = f"{f'/{base}' if base else ''}/{settings.s3_bucket}/{target.key}"
    now = datetime.now(UTC)
    pair = (key.access_key_id, credentials.open_secret(ctx.services.keys, key))
    url = sigv4.sign_link(method, scheme, authority, path, pair, settings.s3_region, now, expires_in)
    await audit.record(ctx, "s3.presigned", id, method=method, expires_in=expires_in, key=target.key)
    return Presigned(url, now + timedelta(seconds=expires_in))


def endpoint_of(acting: Acting, host: str | None) -> str:
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


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every secret again under the newest key; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for key in await store.list_sealed(db):
            if not keys.is_current(key.secret_sealed):
                place = credentials.place_of(key.org_id, key.id)
                sealed = keys.seal(keys.open(key.secret_sealed, place), place)
                changed += await store.reseal(db, key.id, key.secret_sealed, sealed)
    return changed

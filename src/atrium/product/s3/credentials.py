"""Key pairs at work: whom an access key id stands for, and whether a request was really signed with its secret."""

import re
import secrets
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from atrium.ground.identity import service as identity
from atrium.ground.tenancy import service as tenancy
from atrium.kit.crypto.keys import Keyring, Unsealable
from atrium.product.s3 import sigv2, sigv4, store
from atrium.product.s3.model import S3Error, SealedKey
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.request import S3Request
from atrium.seams.context import Operation, Principal
from atrium.seams.wiring import Sealed

_ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# What is no id of ours is refused without asking the database.
_ID = re.compile(f"AT[{_ID_ALPHABET}]{{18}}")


def new_access_key_id() -> str:
    """A fresh id, of the length clients expect."""
    return "AT" + "".join(secrets.choice(_ID_ALPHABET) for _ in range(18))


def secret_binding(org_id: UUID, id: UUID) -> str:
    """What binds a sealed secret to its key pair."""
    return f"s3:{org_id}:{id}"


SEALED = (Sealed("s3_keys", "secret_sealed", lambda row: secret_binding(UUID(row["org_id"]), UUID(row["id"]))),)


def moved_key(access_key_id: str) -> bytes:
    """How an access key is remembered after its company has moved."""
    return tenancy.moved_digest("s3", access_key_id.encode())


def open_secret(keys: Keyring, key: SealedKey) -> str:
    """The secret of a stored key pair."""
    return keys.open(key.secret_sealed, secret_binding(key.org_id, key.id)).decode()


async def admit(op: Operation, request: S3Request) -> S3Caller:
    """Find out who is asking and see that they signed it; afterwards `op` acts as them."""
    now, patience = datetime.now(UTC), op.services.settings.body_timeout
    authorization = request.headers.get("authorization")
    if "X-Amz-Signature" in request.query or sigv2.is_link(request):
        if authorization is not None:
            raise S3Error("InvalidArgument", "Only one auth mechanism allowed")
    elif request.wire.prefix and (person := await identity.identify_optional(op, authorization)) is not None:
        # Below the console's own address, which moves large files in parts with the session it has.
        op.who = person
        return S3Caller(request, sigv4.UNSIGNED, None, patience)
    elif authorization is None:
        raise S3Error("AccessDenied", "Access Denied")
    elif not authorization.startswith(sigv4.ALGORITHM + " "):
        raise S3Error("AccessDenied", "sign the request with AWS Signature Version 4")
    if sigv2.is_link(request):
        who, secret = await identify(op, request.query["AWSAccessKeyId"])
        sigv2.check_link(request, secret, now)
        op.who = who
        return S3Caller(request, sigv4.UNSIGNED, None, patience)
    presented = sigv4.from_header(request) if authorization is not None else sigv4.from_query(request)
    sigv4.require_timely(presented, now)
    sigv4.require_signed(request, presented)
    who, secret = await identify(op, presented.access_key_id)
    seal = sigv4.check(request, presented, secret)
    op.who = who
    return S3Caller(request, presented.payload, seal, patience)


async def identify(op: Operation, access_key_id: str) -> tuple[Principal, str]:
    """Whose key this is, and its secret, in one round trip; that they signed anything is still to be shown."""
    row = None
    if _ID.fullmatch(access_key_id):
        database = op.services.database
        async with database.borrow() as connection:
            row = await store.find_principal(database, connection, access_key_id)
        if row is None and (location := await tenancy.find_moved(database, [moved_key(access_key_id)])):
            raise S3Error("PermanentRedirect", f"this company has moved to {location}", Endpoint=location)
    if row is None:
        raise S3Error("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
    id, scope, prefix, sealed, *person = row
    who = identity.principal_of(person, "s3", id, scope)
    if prefix:
        who = msgspec.structs.replace(who, prefix=prefix)
    try:
        return who, op.services.keys.open(sealed, secret_binding(who.org_id, id)).decode()
    except Unsealable as error:
        raise S3Error(
            "InvalidAccessKeyId", "this key was sealed under a key that is gone; issue another one"
        ) from error

"""The wire of S3: four rows of the interface, and the rows that speak S3's own protocol."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.engine.repository.model import Prefix
from atrium.ground.identity.model import CurrentPassword
from atrium.product.s3 import gateway, service
from atrium.product.s3.model import AccessKeys, IssuedKey, Presigned
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Created, Download, Host, Wire

_HOUR, _WEEK = 3600, 604_800


async def list_keys(ctx: Context, *, user: UUID | None = None, host: Host | None = None) -> AccessKeys:
    """The caller's access keys, or a member's (`user`), without their secrets; endpoint, bucket and region."""
    return await service.list_keys(ctx, user, host)


class AccessKeyDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A name to tell keys apart, what the key may be used for, and below which prefix; everything the caller may, when not given."""

    name: Annotated[str, msgspec.Meta(max_length=100)] = ""
    scope: Annotated[list[str], msgspec.Meta(max_length=100)] | None = None
    prefix: Prefix | None = None
    password: CurrentPassword | None = None


async def issue_key(ctx: Context, body: AccessKeyDraft, *, host: Host | None = None) -> Created[IssuedKey]:
    """Issue an access key; its secret is shown this once."""
    return Created(await service.issue_key(ctx, body.name, body.scope, body.prefix, host))


class RevokedKey(msgspec.Struct, frozen=True):
    """The id of the access key that is gone."""

    id: UUID


async def revoke_key(op: Operation, id: UUID) -> RevokedKey:
    """Revoke an access key; links signed with it stop working."""
    await service.revoke_key(op, id)
    return RevokedKey(id)


class LinkDraft(msgspec.Struct, forbid_unknown_fields=True):
    """For how many seconds the link works, and what for."""

    expires_in: Annotated[int, msgspec.Meta(ge=1, le=_WEEK)] = _HOUR
    method: Literal["GET", "PUT"] = "GET"
    password: CurrentPassword | None = None


async def presign_object(ctx: Context, id: UUID, body: LinkDraft, *, host: Host | None = None) -> Presigned:
    """A time-boxed S3 link to an object, signed with the caller's newest access key."""
    return await service.presign_object(ctx, id, body.method, body.expires_in, host)


async def serve_wire(op: Operation, wire: Wire) -> Download:
    """S3's own protocol: every request is signed with an access key."""
    return await gateway.serve(op, wire)

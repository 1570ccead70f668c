"""Buckets: the team's own, and the extra ones, where they are allowed; what can be asked about each."""

import re

import msgspec

from atrium.engine.repository import service as repository
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.product.s3 import cors, payload, store, tags
from atrium.product.s3.model import Bucket, S3Error
from atrium.product.s3.payload import S3Caller
from atrium.product.s3.replies import Headers, empty, moment, xml_reply
from atrium.product.s3.request import S3Request
from atrium.product.s3.xml import document, element, leaf, read
from atrium.seams.context import ANONYMOUS, Context, Operation
from atrium.seams.routes import Download

_NAME = re.compile(r"(?!xn--)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# What S3 answers when a thing was never configured; nothing of this can be.
ABSENT = {
    "accelerate": None,
    "analytics": None,
    "encryption": "ServerSideEncryptionConfigurationNotFoundError",
    "intelligent-tiering": None,
    "inventory": None,
    "lifecycle": "NoSuchLifecycleConfiguration",
    "logging": None,
    "metrics": None,
    "notification": None,
    "object-lock": "ObjectLockConfigurationNotFoundError",
    "ownershipControls": "OwnershipControlsNotFoundError",
    "policy": "NoSuchBucketPolicy",
    "policyStatus": "NoSuchBucketPolicy",
    "publicAccessBlock": "NoSuchPublicAccessBlockConfiguration",
    "replication": "ReplicationConfigurationNotFoundError",
    "requestPayment": None,
    "website": "NoSuchWebsiteConfiguration",
}
_EMPTY = {
    "accelerate": "AccelerateConfiguration",
    "analytics": "ListBucketAnalyticsConfigurationResult",
    "intelligent-tiering": "ListBucketIntelligentTieringConfigurationsResult",
    "inventory": "ListInventoryConfigurationsResult",
    "logging": "BucketLoggingStatus",
    "metrics": "ListMetricsConfigurationsResult",
    "notification": "NotificationConfiguration",
}


async def open_bucket(ctx: Context, name: str | None) -> Bucket:
    """The bucket of this name that the caller's team has."""
    allowed = ctx.who.prefix
    if name == ctx.services.settings.s3_bucket:
        return Bucket(name, allowed_prefix=allowed)
    found = await store.find_bucket(ctx.db, ctx.who, name or "")
    if found is None:
        raise S3Error("NoSuchBucket", "The specified bucket does not exist", BucketName=name or "")
    return msgspec.structs.replace(found, allowed_prefix=allowed) if allowed else found


async def describe_bucket(ctx: Context, name: str | None) -> Bucket:
    """The same with its tags, and whether a client turned versioning on."""
    bucket = await open_bucket(ctx, name)
    if bucket.prefix:
        return bucket
    kept = await store.find_bucket(ctx.db, ctx.who, bucket.name)
    return bucket if kept is None else Bucket(bucket.name, "", kept.tags, kept.versioned, kept.created_at)


async def list_buckets(op: Operation, admitted: S3Caller) -> Download:
    """ListBuckets."""
    own = op.services.settings.s3_bucket
    async with op.begin() as ctx:
        found = {bucket.name: bucket for bucket in await store.list_buckets(ctx.db, ctx.who)}
    found.setdefault(own, Bucket(own))
    listed = "".join(
        element(
            "Bucket",
            leaf("Name", name),
            leaf("CreationDate", "1970-01-01T00:00:00.000Z" if one.created_at is None else moment(one.created_at)),
        )
        for name, one in sorted(found.items())
    )
    return xml_reply(document("ListAllMyBucketsResult", owner(ctx), element("Buckets", listed)))


async def head_bucket(op: Operation, admitted: S3Caller) -> Download:
    """HeadBucket."""
    async with op.begin() as ctx:
        access.note_checked(ctx, "files:read")
        await open_bucket(ctx, admitted.request.bucket)
    return empty(headers=[("x-amz-bucket-region", op.services.settings.s3_region)])


async def create_bucket(op: Operation, admitted: S3Caller) -> Download:
    """CreateBucket: an extra one, where the settings allow it."""
    request, settings = admitted.request, op.services.settings
    name = request.bucket or ""
    # An access list asked for here opens nothing and is not refused: who sees an object is settled object by object.
    if request.has_body:
        await payload.document(admitted)
    if name == settings.s3_bucket:
        raise S3Error("BucketAlreadyOwnedByYou", "this bucket is your team's", BucketName=name)
    if not settings.s3_extra_buckets:
        raise S3Error("AccessDenied", f"the only bucket here is {settings.s3_bucket}")
    if not _NAME.fullmatch(name) or ".." in name:
        raise S3Error("InvalidBucketName", "a name has 3 to 63 lower-case letters, digits, dots and hyphens")
    async with op.begin() as ctx:
        _require_whole(ctx)
        access.require(ctx, "files:write")
        if await store.insert_bucket(ctx.db, ctx.who, name):
            await audit.record(ctx, "s3.bucket_created", name)
    return empty(headers=[("location", f"/{name}")])


async def delete_bucket(op: Operation, admitted: S3Caller) -> Download:
    """DeleteBucket: an extra one that has no version of anything left."""
    async with op.begin() as ctx:
        _require_whole(ctx)
        bucket = await open_bucket(ctx, admitted.request.bucket)
        access.require(ctx, "files:write")
        if not bucket.prefix:
            raise S3Error("AccessDenied", "a team's own bucket cannot be deleted")
        if not await repository.is_empty(ctx, bucket.prefix):
            raise S3Error("BucketNotEmpty", "The bucket you tried to delete is not empty", BucketName=bucket.name)
        await store.delete_bucket(ctx.db, ctx.who, bucket.name)
        await audit.record(ctx, "s3.bucket_deleted", bucket.name)
    return empty(204)


async def read_setting(op: Operation, admitted: S3Caller) -> Download:
    """Every sub-resource of a bucket that can be asked for."""
    request = admitted.request
    async with op.begin() as ctx:
        access.note_checked(ctx, "files:read")
        bucket = await describe_bucket(ctx, request.bucket)
        rules = await store.list_cors_rules(ctx.db, ctx.who, bucket.name) if request.has("cors") else []
    if request.has("location"):
        return xml_reply(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"{ctx.services.settings.s3_region}</LocationConstraint>".encode()
        )
    if request.has("versioning"):
        return xml_reply(document("VersioningConfiguration", leaf("Status", "Enabled") if bucket.versioned else ""))
    if request.has("acl"):
        return xml_reply(access_list(ctx))
    if request.has("tagging"):
        if not bucket.tags:
            raise S3Error("NoSuchTagSet", "The TagSet does not exist")
        return xml_reply(tags.document_of(bucket.tags))
    if request.has("cors"):
        if not rules:
            raise S3Error("NoSuchCORSConfiguration", "The CORS configuration does not exist")
        return xml_reply(cors.document_of(rules))
    return _absent(request)


async def write_setting(op: Operation, admitted: S3Caller) -> Download:
    """Tags and CORS rules are kept; versioning is always on; access lists are what they are; the rest there is not."""
    request = admitted.request
    body = await payload.document(admitted) if request.has_body else b""
    if request.has("versioning"):
        return await _require_versioning(op, request, body)
    async with op.begin() as ctx:
        _require_whole(ctx)
        bucket = await open_bucket(ctx, request.bucket)
        access.require(ctx, "files:write")
        if request.has("tagging"):
            found = tags.in_document(body, tags.OF_BUCKET)
            await store.describe_bucket(ctx.db, ctx.who, bucket.name, found, None)
        elif request.has("cors"):
            await store.describe_bucket(ctx.db, ctx.who, bucket.name, None, cors.rules_in(body))
        elif request.has("acl"):
            require_private(request)
            return empty()
        else:
            raise not_here()
        await audit.record(ctx, "s3.bucket_changed", bucket.name)
    return empty(204 if request.has("tagging") else 200)


async def delete_setting(op: Operation, admitted: S3Caller) -> Download:
    """Remove tags or CORS rules; what cannot be there is gone already."""
    request = admitted.request
    async with op.begin() as ctx:
        _require_whole(ctx)
        bucket = await open_bucket(ctx, request.bucket)
        access.require(ctx, "files:write")
        if request.has("tagging"):
            await store.describe_bucket(ctx.db, ctx.who, bucket.name, {}, None)
        elif request.has("cors"):
            await store.describe_bucket(ctx.db, ctx.who, bucket.name, None, [])
        else:
            return empty(204)
        await audit.record(ctx, "s3.bucket_changed", bucket.name)
    return empty(204)


async def cors_headers(op: Operation, request: S3Request) -> Headers:
    """What lets the page that sent this request read its reply; nothing when no rule of the bucket does."""
    origin = request.headers.get("origin")
    if origin is None or request.method == "OPTIONS" or op.who is ANONYMOUS or request.bucket is None:
        return []
    async with op.begin() as ctx:
        rules = await store.list_cors_rules(ctx.db, ctx.who, request.bucket)
    return cors.headers_for(rules, origin, request.method)


def require_private(request: S3Request) -> None:
    """Refuse to say yes to an access list that would open something: sharing is done in the repository."""
    if request.headers.get("x-amz-acl", "private") not in ("private", "bucket-owner-full-control", "bucket-owner-read"):
        raise S3Error("AccessControlListNotSupported", "share the object instead: access lists are not kept here")


def access_list(ctx: Context) -> bytes:
    """The one access list there is: its owner's."""
    who = ctx.who
    grantee = (
        '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">'
        f"{leaf('ID', who.user_id)}{leaf('DisplayName', who.username)}</Grantee>"
    )
    grant = element("Grant", grantee, leaf("Permission", "FULL_CONTROL"))
    return document("AccessControlPolicy", owner(ctx), element("AccessControlList", grant))


def owner(ctx: Context) -> str:
    """The caller, as an owner."""
    return element("Owner", leaf("ID", ctx.who.user_id), leaf("DisplayName", ctx.who.username))


def not_here() -> S3Error:
    """What is left out on purpose."""
    return S3Error("MethodNotAllowed", "this is not done here; the guide on S3 says what is")


def _require_whole(ctx: Context) -> None:
    """Refuse to change what concerns the whole bucket with a key pair that is narrowed to a folder."""
    if ctx.who.prefix:
        raise S3Error("AccessDenied", f"this access key is good for keys below {ctx.who.prefix} only")


async def _require_versioning(op: Operation, request: S3Request, body: bytes) -> Download:
    async with op.begin() as ctx:
        _require_whole(ctx)
        access.require(ctx, "files:write")
        bucket = await open_bucket(ctx, request.bucket)
        if read(body, "VersioningConfiguration").text("Status") != "Enabled":
            raise S3Error("InvalidBucketState", "every object here keeps its versions; that cannot be turned off")
        await store.set_versioned(ctx.db, ctx.who, bucket.name)
        await audit.record(ctx, "s3.bucket_changed", bucket.name)
    return empty()


def _absent(request: S3Request) -> Download:
    name = next(name for name in ABSENT if request.has(name))
    if name == "requestPayment":
        return xml_reply(document("RequestPaymentConfiguration", leaf("Payer", "BucketOwner")))
    code = ABSENT[name]
    if code is not None:
        raise S3Error(code, "nothing of the kind is configured")
    return xml_reply(document(_EMPTY[name]))

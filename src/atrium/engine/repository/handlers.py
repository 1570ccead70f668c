"""The wire of the repository."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec

from atrium.engine.repository import archives, batches, moves, permissions, service, sharing, trash, writes
from atrium.engine.repository.model import (
    Capability,
    Conditions,
    Derivation,
    Direction,
    Filename,
    Filter,
    Listing,
    LongCursor,
    ObjectDetail,
    ObjectDraft,
    ObjectGrant,
    ObjectReply,
    Order,
    Prefix,
    Visibility,
)
from atrium.engine.repository.object_keys import BadKey, name_in, require_plain
from atrium.engine.repository.sharing import ShareTargets
from atrium.ground.sharing.model import PrincipalType
from atrium.kit.errors import Invalid
from atrium.kit.ids import NIL
from atrium.kit.web import http
from atrium.kit.web.pages import Limit, Page
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Download, IfMatch, IfModifiedSince, IfNoneMatch, IfRange, Put, Range, RawBody

# A key of 1,024 bytes inside a signed cursor.


async def list_objects(  # noqa: PLR0913 - each is a parameter of the query
    ctx: Context,
    *,
    prefix: Prefix = "",
    shared: bool = False,
    scope: Literal["team", "org"] = "team",
    delimiter: Annotated[str, msgspec.Meta(min_length=1, max_length=16)] | None = None,
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="Text anywhere in the name.")]
    | None = None,
    order: Order = "name",
    dir: Direction | None = None,
    limit: Limit = 50,
    cursor: LongCursor | None = None,
) -> Listing:
    """The objects the caller can read; `shared=1` only live grants, `scope=org` the company, `delimiter` folds folders."""
    chosen = Filter(prefix=prefix, scope=scope, shared=shared, search=q, order=order, dir=dir)
    if delimiter is not None:
        return await service.list_folders(ctx, chosen, delimiter, limit, cursor)
    return await service.list_objects(ctx, chosen, limit, cursor)


async def put_object(
    op: Operation,
    key: str,
    body: RawBody,
    *,
    filename: Filename | None = None,
    visibility: Visibility | None = None,
    if_match: IfMatch | None = None,
    if_none_match: IfNoneMatch | None = None,
) -> Put[ObjectReply]:
    """Write a raw body to a key; an existing key gains a version."""
    if "\ufffd" in key:
        raise BadKey("the address is not percent-encoded UTF-8")
    require_plain(key)
    draft = ObjectDraft(key=key, content_type=body.content_type, filename=filename, visibility=visibility)
    conditions = Conditions(if_match=if_match, if_none_match=if_none_match)
    stored = await writes.put_object(op, draft, body.chunks, body.length, conditions)
    return Put(await permissions.show_written(op, stored), new=stored.version.number == 1)


async def read_object(ctx: Context, id: UUID) -> ObjectDetail:
    """One object's metadata with its versions."""
    return await service.read_detail(ctx, id)


class DeletedObject(msgspec.Struct, frozen=True):
    """The id of the object that is gone."""

    id: UUID


async def delete_object(ctx: Context, id: UUID, *, if_match: IfMatch | None = None) -> DeletedObject:
    """Put an object with all its versions in the trash."""
    await trash.delete_object(ctx, id, if_match)
    return DeletedObject(id)


async def download_content(
    op: Operation,
    id: UUID,
    *,
    version: Annotated[str, msgspec.Meta(min_length=1, max_length=40)] | None = None,
    range: Range | None = None,
    if_range: IfRange | None = None,
    if_none_match: IfNoneMatch | None = None,
    if_modified_since: IfModifiedSince | None = None,
) -> Download:
    """The bytes of an object; `version` takes a version's number or id, and a `Range` gets that part."""
    async with op.begin() as ctx:
        _, wanted = await service.read_version(ctx, id, version)
    asked = http.RangeRequest(
        range=range, if_range=if_range, if_none_match=if_none_match, if_modified_since=if_modified_since
    )
    etag = f'"{wanted.etag}"'
    headers = [("etag", etag), ("last-modified", http.http_date(wanted.created_at)), ("accept-ranges", "bytes")]
    if http.is_unchanged(asked, etag, wanted.created_at):
        return Download(304, headers, 0, None)
    part = http.part_of(asked, wanted.size, etag, wanted.created_at)
    source = service.open_content(op, id, wanted, part.start, part.stop)
    # Only the first bytes show whether it is a PDF; a client that asks for a later range has them.
    looks = part.start == 0 and http.is_pdf(wanted.content_type)
    first = await anext(source, b"") if looks else b""
    shows_pdf = looks and http.begins_pdf(first)
    headers += [
        ("content-type", wanted.content_type),
        (
            "content-disposition",
            http.disposition(wanted.content_type, wanted.filename, shown=shows_pdf or not looks),
        ),
    ]
    if not part.whole:
        headers.append(("content-range", f"bytes {part.start}-{part.stop - 1}/{wanted.size}"))
    policy, length = http.policy_of(shows_pdf=shows_pdf), part.stop - part.start
    return Download(200 if part.whole else 206, headers, length, source, body=first, policy=policy)


_ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
Ids = Annotated[
    str,
    msgspec.Meta(
        max_length=37 * 200,
        pattern=f"^{_ID}(?:,{_ID})*$",
        description="The ids of at most 200 objects, separated by commas.",
    ),
]


async def download_zip(op: Operation, *, prefix: Prefix = "", ids: Ids | None = None) -> Download:
    """What the caller can read below `prefix`, or of `ids`, as a zip archive; at most 10,000 objects and 20 GiB."""
    if ids is not None and prefix:
        raise Invalid("name objects by ids, or a folder by prefix")
    wanted = None if ids is None else [UUID(one) for one in ids.split(",")]
    found = await archives.find_packed(op, prefix, wanted)
    length, source = archives.archive_of(op, found, prefix if wanted is None else None)
    name = name_in(prefix) if prefix else "files"
    disposition = http.disposition("application/zip", f"{name}.zip", shown=False)
    return Download(200, [("content-type", "application/zip"), ("content-disposition", disposition)], length, source)


class Destination(msgspec.Struct, forbid_unknown_fields=True):
    """The key that an object gets."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


async def move_object(ctx: Context, id: UUID, body: Destination, *, if_match: IfMatch | None = None) -> ObjectReply:
    """Move or rename an object: another key, and the same id, versions and shares."""
    return await permissions.show(ctx, await moves.move_object(ctx, id, body.key, if_match))


FolderName = Annotated[str, msgspec.Meta(max_length=1024, pattern=r"(^|/)$")]
WholeFolder = Annotated[str, msgspec.Meta(min_length=2, max_length=1024, pattern=r"/$")]


class ObjectBatch(msgspec.Struct, forbid_unknown_fields=True, rename={"source": "from"}):
    """What to do with which objects; `move` takes `ids` into the folder `to`, or the whole folder `from` to `to`."""

    __example__: ClassVar[dict[str, Any]] = {"op": "move", "from": "2025/", "to": "archive/2025/"}
    op: Literal["move", "delete", "visibility"]
    ids: Annotated[list[UUID], msgspec.Meta(min_length=1, max_length=1000)] | None = None
    source: WholeFolder | None = None
    to: FolderName | None = None
    visibility: Visibility | None = None

    def __post_init__(self) -> None:
        if (self.ids is None) == (self.source is None) or (self.source is not None and self.op != "move"):
            raise ValueError("name objects by ids, or a folder to move by from")
        if (self.op == "move") != (self.to is not None) or (self.source is not None and not self.to):
            raise ValueError("to is the folder that things are moved to, and goes with move alone")
        if (self.op == "visibility") != (self.visibility is not None):
            raise ValueError("visibility goes with the operation of that name, and with no other")


async def change_many(op: Operation, body: ObjectBatch) -> batches.BatchResult:
    """Move, delete or show many objects, each on its own; a folder is moved whole or not at all."""
    if body.source is not None:
        return await batches.move_folder(op, body.source, body.to or "")
    ids = body.ids or []
    if body.op == "delete":
        return await batches.delete(op, ids)
    if body.visibility is not None:
        return await batches.set_visibility(op, ids, body.visibility)
    return await batches.move(op, ids, body.to or "")


class NamedPrincipal(msgspec.Struct, forbid_unknown_fields=True):
    """A principal by kind and id; `user_id` alone means a person."""

    principal_type: PrincipalType | None = None
    principal_id: UUID | None = None
    user_id: UUID | None = None

    def __post_init__(self) -> None:
        alone = self.user_id is not None
        if alone == (self.principal_type is not None) or alone == (self.principal_id is not None):
            raise ValueError("name whom: principal_type and principal_id, or user_id alone")

    def principal(self) -> tuple[PrincipalType, UUID]:
        """Whom it names."""
        if self.principal_type is None or self.principal_id is None:
            return "user", self.user_id or NIL
        return self.principal_type, self.principal_id


class ObjectShare(NamedPrincipal, forbid_unknown_fields=True):
    """Whom to let in and how far; `user_id` alone means that this person may view."""

    capability: Capability = "view"
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


async def share_object(ctx: Context, id: UUID, body: ObjectShare) -> ObjectGrant:
    """Let a person, a team or the company in; a private object becomes a shared one."""
    kind, principal = body.principal()
    return await sharing.share_object(ctx, id, kind, principal, body.capability, body.expires_at)


class ObjectUnshare(NamedPrincipal, forbid_unknown_fields=True):
    """Whom to shut out."""


class Unshared(msgspec.Struct, frozen=True):
    """How many grants ended."""

    id: UUID
    revoked: int


async def unshare_object(ctx: Context, id: UUID, body: ObjectUnshare) -> Unshared:
    """End every grant a principal holds."""
    _, principal = body.principal()
    return Unshared(id, await sharing.unshare_object(ctx, id, principal))


async def list_grants(
    ctx: Context, id: UUID, *, limit: Limit = 50, cursor: LongCursor | None = None
) -> Page[ObjectGrant]:
    """Who was let in, one entry per principal."""
    return await sharing.list_grants(ctx, id, limit, cursor)


class VisibilityChange(msgspec.Struct, forbid_unknown_fields=True):
    """Who sees the object besides its owner."""

    visibility: Visibility


class ChangedVisibility(ObjectReply, frozen=True):
    """The object as it is now, and how many grants the change ended."""

    revoked: int


async def set_visibility(ctx: Context, id: UUID, body: VisibilityChange) -> ChangedVisibility:
    """Make an object private, the team's, or shared; private ends its grants."""
    changed, ended = await sharing.set_visibility(ctx, id, body.visibility)
    shown = await permissions.show(ctx, changed)
    return ChangedVisibility(**{name: getattr(shown, name) for name in ObjectReply.__struct_fields__}, revoked=ended)


async def read_derivations(ctx: Context, id: UUID) -> Page[Derivation]:
    """What an object was made from, by which run and step."""
    return Page(await service.read_derivations(ctx, id))


async def list_share_targets(ctx: Context) -> ShareTargets:
    """The team's people and the company's teams."""
    return await sharing.list_share_targets(ctx)

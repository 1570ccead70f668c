"""The rules of the repository. What a caller may not see is missing, never forbidden."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

from atrium.engine.repository import keyed_rows, listing_rows, newest_rows, permissions, store, text_rows
from atrium.engine.repository.listing_rows import Packed
from atrium.engine.repository.model import (
    KIND,
    OBJECTS,
    BucketEntry,
    BytesUnavailable,
    Derivation,
    Filter,
    Listing,
    ObjectAtKey,
    ObjectDetail,
    ObjectMissing,
    ObjectScopeRefused,
    StoredObject,
    Text,
    Version,
    VersionMissing,
    Visibility,
    WrittenVersion,
)
from atrium.engine.repository.object_keys import after_all_with
from atrium.engine.repository.writes import SMALL
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.sharing import abilities, grants
from atrium.kit.errors import TooLarge
from atrium.kit.web.pages import Pager
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import Context, Operation
from atrium.seams.sharing import fill, hand_out, list_handed_out

# What a cursor holds in each order, and how it is read off an object.
_PLACES: dict[str, tuple[Any, Callable[[StoredObject], object]]] = {
    "name": (tuple[str, UUID], lambda one: (one.key, one.id)),
    "updated": (tuple[datetime, UUID], lambda one: (one.updated_at, one.id)),
    "size": (tuple[int, UUID], lambda one: (one.size, one.id)),
}
_id_of = attrgetter("id")
SHOWN_VERSIONS, SHOWN_CHARACTERS, SHOWN_THREADS = 200, 20_000, 500


async def list_objects(ctx: Context, chosen: Filter, limit: int, cursor: str | None) -> Listing:
    """What the caller can read, in the order that the filter names."""
    pager = _pager(ctx, chosen, None)
    kind, place = _PLACES[chosen.order]
    after = pager.read(cursor, kind)

    async def read(last: StoredObject | None, count: int) -> list[StoredObject]:
        behind: Any = after if last is None else place(last)
        return await listing_rows.list_objects(ctx.db, ctx.who, chosen, behind, count)

    async def hand(found: Sequence[StoredObject]) -> list[StoredObject]:
        return await list_handed_out(ctx, KIND, found, _id_of)

    page = pager.page(await fill(ctx, limit + 1, read, hand), limit, place)
    return Listing(page.items, [], page.next_cursor)


async def list_folders(ctx: Context, chosen: Filter, delimiter: str, limit: int, cursor: str | None) -> Listing:
    """What the caller can read directly at a prefix, and the folders there: among it by name, before it in any other order."""
    pager = _pager(ctx, chosen, delimiter)
    if chosen.order != "name":
        return await _list_folders_first(ctx, chosen, delimiter, limit, pager, cursor)
    after = pager.read(cursor, tuple[str, UUID])
    found = await listing_rows.list_folders(ctx.db, ctx.who, chosen, delimiter, after, limit + 1)
    page = pager.page(found, limit, lambda one: one[1])
    items = [stored for _, _, stored in page.items if stored is not None]
    return await _handed_out(
        ctx, Listing(items, [folder for folder, _, _ in page.items if folder is not None], page.next_cursor)
    )


async def _list_folders_first(
    ctx: Context, chosen: Filter, delimiter: str, limit: int, pager: Pager, cursor: str | None
) -> Listing:
    kind, place = _PLACES[chosen.order]
    # A page ends in a folder, or in an object once all folders were listed.
    behind, after = pager.read(cursor, tuple[str | None, kind | None]) or (None, None)  # type: ignore[valid-type]
    found: list[tuple[str | None, object, StoredObject | None]] = []
    if after is None:
        folders = await listing_rows.list_only_folders(ctx.db, ctx.who, chosen, delimiter, behind, limit + 1)
        found += [(folder, (position, None), None) for folder, position in folders]
    if len(found) <= limit:
        wanted = limit + 1 - len(found)
        files = await listing_rows.list_between_folders(ctx.db, ctx.who, chosen, delimiter, after, wanted)
        found += [(None, (None, place(one)), one) for one in files]
    page = pager.page(found, limit, lambda one: one[1])
    items = [stored for _, _, stored in page.items if stored is not None]
    return await _handed_out(
        ctx, Listing(items, [folder for folder, _, _ in page.items if folder is not None], page.next_cursor)
    )


async def _handed_out(ctx: Context, listing: Listing) -> Listing:
    items = await list_handed_out(ctx, KIND, listing.items, _id_of)
    # What is in a folder is not known here, nor who can read it.
    return Listing(items, [] if ctx.is_bound else listing.prefixes, listing.next_cursor)


async def read_object(ctx: Context, id: UUID) -> StoredObject:
    """One object the caller can read."""
    access.note_checked(ctx, "files:read")
    return await permissions.read_visible(ctx, id)


async def find_object_at(ctx: Context, key: str) -> StoredObject | None:
    """The object at a key of the caller's team, when the caller can read it."""
    access.note_checked(ctx, "files:read")
    found = await store.find_by_key(ctx.db, ctx.who.org_id, ctx.who.team_id, key)
    if found is None:
        return None
    readable = await store.find_object(ctx.db, ctx.who, found.id)
    return readable if readable is not None and await hand_out(ctx, KIND, [readable.id]) else None


async def list_keys(ctx: Context, ids: Collection[UUID]) -> dict[UUID, str]:
    """The keys of those of these objects that the caller can read; none for a token that reads no files."""
    ctx.checked.add("files:read")
    found = await newest_rows.list_keys(ctx.db, ctx.who, ids) if ids and ctx.who.within_scope("files:read") else {}
    return dict(await list_handed_out(ctx, KIND, found.items(), itemgetter(0)))


async def list_newest_versions(ctx: Context, limit: int, object_id: UUID | None = None) -> list[WrittenVersion]:
    """The newest versions of the team's objects that the caller can read, or those of one object."""
    access.note_checked(ctx, "files:read")
    if object_id is not None:
        await permissions.read_visible(ctx, object_id)
    found = await newest_rows.list_newest(ctx.db, ctx.who, object_id, limit)
    return await list_handed_out(ctx, KIND, found, lambda one: one.object.id)


async def find_keyed(
    ctx: Context, key: str, version_id: UUID | None = None, *, lock: bool = False
) -> ObjectAtKey | None:
    """A version at a key of the caller's team as a gateway sees it, delete markers included; None when it cannot be read."""
    access.note_checked(ctx, "files:read")
    found = await keyed_rows.find_at(ctx.db, ctx.who, key, version_id, lock=lock)
    return found if found is not None and await hand_out(ctx, KIND, [found.object.id]) else None


async def is_free(ctx: Context, key: str) -> bool:
    """Whether a key of the caller's team is free; objects the caller may not see count, too."""
    return await store.find_by_key(ctx.db, ctx.who.org_id, ctx.who.team_id, key) is None


async def is_empty(ctx: Context, prefix: str) -> bool:
    """Whether no key of the caller's team begins with this, deleted or not."""
    before = after_all_with(prefix) or ""
    return not await keyed_rows.exists_below(ctx.db, ctx.who.org_id, ctx.who.team_id, prefix, before)


async def scan(ctx: Context, prefix: str, after: listing_rows.Position | None, limit: int) -> list[BucketEntry]:
    """What the caller can read of the team's keys, by key, from behind a position."""
    access.note_checked(ctx, "files:read")
    return await listing_rows.list_bucket(ctx.db, ctx.who, prefix, after, limit)


async def scan_folders(
    ctx: Context, prefix: str, delimiter: str, after: listing_rows.Position | None, limit: int
) -> list[tuple[str, BucketEntry | None]]:
    """The same with what is in folders folded into them."""
    access.note_checked(ctx, "files:read")
    return await listing_rows.list_bucket_folders(ctx.db, ctx.who, prefix, delimiter, after, limit)


async def scan_versions(
    ctx: Context, prefix: str, after: tuple[str, int], limit: int
) -> list[tuple[StoredObject, Version]]:
    """Every version of the team's keys that the caller can read, delete markers included, newest first at each key."""
    access.note_checked(ctx, "files:read")
    return await keyed_rows.list_versions(ctx.db, ctx.who, prefix, after_all_with(prefix), after, limit)


async def set_attributes(ctx: Context, keyed: ObjectAtKey, attributes: dict[str, Any]) -> None:
    """Replace what a gateway left with a version the caller may edit, such as its tags."""
    await permissions.require(ctx, keyed.object, "write")
    await keyed_rows.set_attributes(ctx.db, ctx.who.org_id, keyed.version.id, attributes)
    await audit.record(ctx, "repository.tagged", keyed.object.id, version=keyed.version.number)


async def edit_object(ctx: Context, id: UUID, visibility: Visibility | None = None) -> StoredObject:
    """One object the caller may add versions to (and may show to others as named), locked until the transaction ends."""
    target = await permissions.read_visible(ctx, id, lock=True)
    await permissions.require(ctx, target, "write")
    if visibility is not None and visibility != target.visibility:
        await permissions.require(ctx, target, "manage")
    return target


async def read_detail(ctx: Context, id: UUID) -> ObjectDetail:
    """One object with its versions, its text and what the caller may do with it."""
    found = await read_object(ctx, id)
    org_id = ctx.who.org_id
    versions = await store.list_versions(ctx.db, org_id, id, SHOWN_VERSIONS)
    count = len(versions) if len(versions) < SHOWN_VERSIONS else await store.count_versions(ctx.db, org_id, id)
    text = await text_rows.find_text(ctx.db, org_id, found.version.id, SHOWN_CHARACTERS) or Text("none")
    shown = {name: getattr(found, name) for name in StoredObject.__struct_fields__}
    levels = await grants.list_levels(ctx, OBJECTS, found, ctx.who)
    may = abilities.abilities_of(ctx.who, OBJECTS, found, levels)
    return ObjectDetail(
        **shown,
        **abilities.offer(ctx.who, OBJECTS, found, levels),
        versions=versions,
        version_count=count,
        text=text,
        permissions=sorted(OBJECTS.permission(ability) for ability in may),
    )


async def read_version(ctx: Context, id: UUID, version: str | None) -> tuple[StoredObject, Version]:
    """An object and one of its versions, named by number or id; the current one when unnamed."""
    found = await read_object(ctx, id)
    if version is None:
        if found.version.deleted:
            raise ObjectMissing("this object was deleted; its earlier versions are still there")
        return found, found.version
    number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else None
    wanted = await store.find_version(ctx.db, ctx.who.org_id, id, number, _uuid_or_none(version))
    if wanted is None or wanted.deleted:
        raise VersionMissing(f"this object has no version {version[:40]} with content")
    return found, wanted


async def open_content(
    op: Operation, id: UUID, version: Version, start: int = 0, stop: int | None = None
) -> AsyncGenerator[bytes, None]:
    """The bytes of a version, piece by piece; refuses before the first piece when they are gone."""
    if version.size == 0:
        return
    source = op.services.blobs.get(op.who.org_id, bytes.fromhex(version.sha256 or ""), start, stop)
    try:
        async for piece in source:
            yield piece
    except BlobMissing as error:
        async with op.begin() as ctx:
            # Purged since it was looked up: then it is as missing as if it had been looked up now.
            await read_version(ctx, id, str(version.number))
        raise BytesUnavailable("the blob store does not have this version's bytes", sha256=version.sha256) from error
    finally:
        await source.aclose()


async def open_packed(op: Operation, packed: Packed) -> AsyncGenerator[bytes, None]:
    """The bytes of what goes into an archive, which no reader has to name the version of."""
    if packed.size == 0:
        return
    async with aclosing(op.services.blobs.get(op.who.org_id, packed.sha256)) as source:
        try:
            async for piece in source:
                yield piece
        except BlobMissing as error:
            raise BytesUnavailable(
                "the blob store does not have this version's bytes", sha256=packed.sha256.hex()
            ) from error


async def read_small(ctx: Context, version: Version) -> bytes:
    """The bytes of a small version, whole."""
    if version.size > SMALL:
        raise TooLarge(f"only the first {SMALL} bytes could be shown; download the content instead", limit=SMALL)
    try:
        source = ctx.services.blobs.get(ctx.who.org_id, bytes.fromhex(version.sha256 or ""))
        return b"".join([piece async for piece in source])
    except BlobMissing as error:
        raise BytesUnavailable("the blob store does not have this version's bytes", sha256=version.sha256) from error


async def read_derivations(ctx: Context, id: UUID) -> list[Derivation]:
    """What an object was made from, as far as the caller can see it."""
    await read_object(ctx, id)
    return await store.list_derivations(ctx.db, ctx.who, id, "object_id", SHOWN_THREADS)


async def read_uses(ctx: Context, id: UUID) -> list[Derivation]:
    """What was made from an object, as far as the caller can see it."""
    await read_object(ctx, id)
    return await store.list_derivations(ctx.db, ctx.who, id, "source_id", SHOWN_THREADS)


async def was_made_from(ctx: Context, version: Version, source_id: UUID) -> bool:
    """Whether a version was made from an object; the caller has read the version's own."""
    return await store.has_derivation(ctx.db, ctx.who.org_id, version.id, source_id)


def _pager(ctx: Context, chosen: Filter, delimiter: str | None) -> Pager:
    access.note_checked(ctx, "files:read")
    access.require_org_scope(ctx, chosen.scope, ObjectScopeRefused)
    return Pager(ctx.services.keys, "objects", ctx.who.user_id, chosen, delimiter)


def _uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) == 36 else None
    except ValueError:
        return None

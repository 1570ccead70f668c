"""The text of a version: awaited when it is written, kept when a job has read it."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from uuid import UUID

from atrium.engine.repository import text_rows
from atrium.engine.repository.model import KIND, OBJECTS, FoundObject, Readable, Text, Version
from atrium.ground.access import service as access
from atrium.ground.sharing.announcements import announce_change
from atrium.seams.context import Context, Services
from atrium.seams.sharing import fill, list_handed_out

# More characters than a text has.
_WHOLE = (1 << 31) - 1


async def await_text(ctx: Context, object_id: UUID, version: Version) -> bool:
    """Note that a version has text, which a job will read, also where reading it has failed; False when that was noted before."""
    return await text_rows.await_text(ctx.db, ctx.who.org_id, object_id, version.id)


async def keep_text(ctx: Context, object_id: UUID, version: Version, found: Text) -> None:
    """Keep the text of a version that this transaction has written, together with it."""
    await text_rows.insert_text(ctx.db, ctx.who.org_id, object_id, version.id, found)


async def begin_text(ctx: Context, version_id: UUID) -> Readable | None:
    """What there is to read; None when the version is gone or was read already."""
    return await text_rows.begin_text(ctx.db, ctx.who.org_id, version_id)


async def finish_text(ctx: Context, version_id: UUID, found: Text) -> None:
    """Keep what was found, or why nothing was; the first to tell counts."""
    object_id = await text_rows.lock_object_of(ctx.db, ctx.who.org_id, version_id)
    await text_rows.finish_text(ctx.db, ctx.who.org_id, version_id, found)
    if object_id is not None:
        await announce_change(ctx, OBJECTS, [object_id], "text")


def hear_end(services: Services, version_id: UUID) -> AbstractContextManager[asyncio.Event]:
    """An event that is set, in whichever process, when a version's text is there or is known not to come."""
    return services.notifier.subscribe(frozenset({text_rows.topic_of(version_id)}))


async def list_owners(ctx: Context, version_ids: list[UUID]) -> dict[UUID, UUID]:
    """Who owns each of these versions whose text is still awaited."""
    return await text_rows.list_owners(ctx.db, ctx.who.org_id, version_ids)


async def read_text(ctx: Context, version: Version, characters: int) -> Text:
    """The beginning of a version's text; the caller has read the object itself."""
    return await text_rows.find_text(ctx.db, ctx.who.org_id, version.id, characters) or Text("none")


async def find_whole(ctx: Context, version: Version) -> str | None:
    """All of a version's text; None where nothing has read it. For what keeps an index of it: the caller's rights are not asked about."""
    found = await text_rows.find_text(ctx.db, ctx.who.org_id, version.id, _WHOLE)
    return found.text if found is not None and found.state == "done" else None


async def list_by_ids(ctx: Context, ids: list[UUID], characters: int) -> dict[UUID, FoundObject]:
    """Those of these objects that the caller can read and whose bytes are there, with the beginning of their texts; none for a token
    that reads no files."""
    ctx.checked.add("files:read")
    if not ids or not ctx.who.within_scope("files:read"):
        return {}
    found = await text_rows.list_by_ids(ctx.db, ctx.who, ids, characters)
    return dict(await list_handed_out(ctx, KIND, found.items(), itemgetter(0)))


async def find_version_with(ctx: Context, object_id: UUID, text: str) -> UUID | None:
    """The newest version of an object whose text begins with this; the caller has read the object itself."""
    return await text_rows.find_version_with(ctx.db, ctx.who.org_id, object_id, text)


async def list_unread(ctx: Context, most: int) -> list[UUID]:
    """Objects of the caller's team that the caller can read, whose current version has text that nothing awaits, oldest first."""
    access.note_checked(ctx, "files:read")

    async def read(last: UUID | None, count: int) -> list[UUID]:
        return await text_rows.list_unread(ctx.db, ctx.who, last, count)

    async def hand(found: Sequence[UUID]) -> list[UUID]:
        return await list_handed_out(ctx, KIND, found, lambda one: one)

    return await fill(ctx, most, read, hand)

"""The rules of the change feed: each caller is told of what GET shows them, in one order, once."""

import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from atrium.engine.repository import texts
from atrium.ground.access import service as access
from atrium.ground.identity import service as identity
from atrium.kit.web.pages import Page, Pager
from atrium.kit.web.sse import sse_frame
from atrium.kit.work.shares import Permit
from atrium.product.changes import store
from atrium.product.changes.hub import ChangeStream, Hub
from atrium.product.changes.model import (
    Change,
    ChangeAuthor,
    ChangePosition,
    ChangesScopeRefused,
    ListedChange,
    frame_of,
    kinds_of,
    principals_of,
    read_id,
    write_id,
)
from atrium.product.notes import service as notes
from atrium.seams.context import Context, Operation, Principal

# A reader who missed more than so many is told to read everything anew.
MOST_MISSED = 1000
_NEWEST = ChangePosition((1 << 63) - 1, (1 << 63) - 1)


async def listen(op: Operation, scope: str, kinds: str | None, after: str | None) -> AsyncGenerator[bytes, None]:
    """Begin to hear; refused before the first event when the caller may not, or has too many streams open."""
    access.require_org_scope(op, scope, ChangesScopeRefused)
    hub: Hub = op.services.started["changes"]
    permit = hub.admit(op.who)
    listener = ChangeStream(op.who, principals_of(op.who, scope), kinds_of(op.who, kinds))
    return _Hearing(hub, op.who, permit, _events(op, hub, listener, after))


class _Hearing(AsyncGenerator[bytes, None]):
    """A stream that counts from the moment it is admitted until it is closed, whether it ever began or not."""

    def __init__(self, hub: Hub, who: Principal, permit: Permit, events: AsyncGenerator[bytes, None]) -> None:
        self._hub, self._who, self._permit, self._events = hub, who, permit, events
        self._closed = False

    async def asend(self, value: None) -> bytes:
        """The next events."""
        return await self._events.asend(value)

    async def athrow(self, *error: Any) -> bytes:
        """What breaks it off is told to the source."""
        return await self._events.athrow(*error)

    async def aclose(self) -> None:
        """It is over."""
        if not self._closed:
            self._closed = True
            self._hub.release(self._who, self._permit)
        await self._events.aclose()


async def _events(op: Operation, hub: Hub, listener: ChangeStream, after: str | None) -> AsyncGenerator[bytes, None]:
    org_id, now = op.who.org_id, time.time()
    try:
        place = await hub.join(listener)
        known = None if after is None else read_id(op.services.keys, org_id, after, now)
        listener.after = max(known or place, place)
        # A hello with the place that the client named: what it missed comes after it.
        said = {"user_id": op.who.user_id, "at": datetime.fromtimestamp(now, UTC)}
        hello = sse_frame(write_id(op.services.keys, org_id, known or place, now), "hello", said)
        missed = None if after is not None and known is None else await _missed(op, listener, known or place, place)
        if missed is None:
            yield hello + hub.reset_frame(org_id, place, "unknown" if known is None else "missed")
        else:
            yield hello + missed
        while frames := await listener.take():
            yield frames
    finally:
        hub.leave(listener)


async def _missed(op: Operation, listener: ChangeStream, after: ChangePosition, end: ChangePosition) -> bytes | None:
    """The events between two places, as far as their things can be read now; None when there are too many."""
    if after >= end or not listener.kinds:
        return b""
    async with op.begin(held=False, reading=True) as ctx:
        principals = list(listener.principals)
        found = await store.list_between(ctx.db, op.who.org_id, principals, after, end, MOST_MISSED + 1)
        if len(found) > MOST_MISSED:
            return None
        readable = await _titles(ctx, found)
    frames = b""
    for change in found:
        action = change.told_to(listener.principals)
        if action is None or change.kind not in listener.kinds:
            continue
        if action in ("gone", "deleted") or change.thing_id in readable:
            frames += frame_of(op.services.keys, op.who.org_id, change, action)
    return frames


async def list_changes(
    op: Operation, scope: str, kinds: str | None, limit: int, cursor: str | None
) -> Page[ListedChange]:
    """What changed lately of what the caller can read now, newest first."""
    access.require_org_scope(op, scope, ChangesScopeRefused)
    who, wanted = op.who, kinds_of(op.who, kinds)
    pager = Pager(op.services.keys, "changes", who.user_id, scope, kinds)
    before = pager.read(cursor, tuple[int, int])
    async with op.begin(held=False, reading=True) as ctx:
        place = _NEWEST if before is None else ChangePosition(*before)
        found = await store.list_newest(ctx.db, who.org_id, list(principals_of(who, scope)), place, limit + 1)
        page = pager.page(found, limit, lambda change: (change.xid, change.seq))
        titles = await _titles(ctx, page.items)
        names = await identity.list_names(ctx, [one.actor_id for one in page.items if one.actor_id is not None])
    shown = [
        _listed(one, titles[one.thing_id], names) for one in page.items if one.kind in wanted and one.thing_id in titles
    ]
    return Page(shown, page.next_cursor)


def _listed(change: Change, title: str, names: dict[UUID, str]) -> ListedChange:
    by = change.actor_id
    return ListedChange(
        kind=change.kind,
        id=change.thing_id,
        action="shared" if change.action == "gone" else change.action,
        version=change.version,
        by=by,
        at=change.at,
        title=title,
        actor=None if by is None else ChangeAuthor(by, names.get(by, "")),
    )


async def _titles(ctx: Context, changes: list[Change]) -> dict[UUID, str]:
    """The titles of those things that the caller can read now."""
    of_notes = list({one.thing_id for one in changes if one.kind == "note"})
    of_objects = list({one.thing_id for one in changes if one.kind != "note"})
    found = await notes.list_by_ids(ctx, of_notes, 0)
    files = await texts.list_by_ids(ctx, of_objects, 0)
    return {id: note.title for id, note in found.items()} | {id: file.title for id, file in files.items()}

"""What was announced equals what changed: triggers of a test's database beside what `Context.announce` was given.

Triggers note each change of a note, an object or a grant that the server makes (what a test writes as the owner is its own affair), by
transaction. A committed transaction that announced a thing is counted once for it. At the end of each file the two must be equal, so
that a change without its announcement, which search and the change feed would miss, fails where it is made.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from atrium.engine.repository.model import ObjectWritten
from atrium.ground.sharing.model import ThingsChanged
from atrium.product.notes.model import NoteSaved
from atrium.seams.context import Context
from tests.postgres import connected

Thing = tuple[str, UUID]
# What is in the trash is in no index and no listing of others: that it goes for good may be announced and need not be. The same holds for
# a row that is written again as it was, and for the name of one of a note's texts.
NOTED = """
CREATE SCHEMA announcements;
CREATE TABLE announcements.changes (
  kind text, id uuid, xid xid8, needed boolean, statement text, PRIMARY KEY (kind, id, xid));
CREATE FUNCTION announcements.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  was jsonb := to_jsonb(OLD);
  is_now jsonb := to_jsonb(NEW);
  thing uuid := coalesce(is_now, was) ->> TG_ARGV[1];
BEGIN
  IF current_setting('role') <> 'none' THEN
    INSERT INTO announcements.changes AS c
    VALUES (TG_ARGV[0], thing, pg_current_xact_id(),
            CASE TG_OP WHEN 'DELETE' THEN was ->> 'trashed_at' IS NULL
                       ELSE was - 'version_name' IS DISTINCT FROM is_now - 'version_name' END,
            left(current_query(), 300))
      ON CONFLICT (kind, id, xid) DO UPDATE SET needed = c.needed OR excluded.needed;
  END IF;
  RETURN NULL;
END $$;
"""
# The tables, what their rows belong to, and which column names that.
WATCHED = (
    ("notes", "note", "id"),
    ("note_grants", "note", "note_id"),
    ("objects", "object", "id"),
    ("object_grants", "object", "object_id"),
)
TRIGGER = """
CREATE TRIGGER zz_announced AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW
  EXECUTE FUNCTION announcements.note('{kind}', '{column}')
"""
CHANGED = """
  SELECT kind, id, count(*) FILTER (WHERE needed) AS needed, count(*) AS count, string_agg(statement, ' | ') AS statement
    FROM announcements.changes GROUP BY kind, id
"""
# Databases with the triggers, and how many committed transactions announced each thing.
_LOOKS = 50
_announced: dict[str, Counter[Thing]] = {}


class _Announcer:
    """Counts what one transaction announced, once it is committed."""

    def __init__(self, url: str) -> None:
        self.url, self.things = url, set[Thing]()

    def __call__(self) -> None:
        _announced[self.url].update(self.things)


def things_of(event: object) -> Iterable[Thing]:
    """What an event is about."""
    match event:
        case NoteSaved(note=note):
            return [("note", note.id)]
        case ObjectWritten(object=written):
            return [("object", written.id)]
        case ThingsChanged(change="text"):
            # The text of a version that is there is no row of the thing.
            return []
        case ThingsChanged(of=of, ids=ids):
            return [(of.kind, UUID(str(id))) for id in ids]
        case _:
            return []


def _note(ctx: Context, event: object) -> None:
    things = list(things_of(event))
    url = ctx.services.settings.database_url
    if not things or url not in _announced:
        return
    followers = ctx.db._followers or ()
    announcer = next((one for one in followers if isinstance(one, _Announcer)), None)
    if announcer is None:
        announcer = _Announcer(url)
        ctx.db.after_commit(announcer)
    announcer.things.update(things)


def observe() -> None:
    """Count from here on what `Context.announce` is given, in this process."""
    announce = Context.announce

    async def announce_and_count(ctx: Context, event: object) -> None:
        _note(ctx, event)
        await announce(ctx, event)

    Context.announce = announce_and_count  # type: ignore[method-assign, assignment]


@asynccontextmanager
async def compared(url: str) -> AsyncIterator[None]:
    """Note what changes in this database, whose server is in this process."""
    async with connected(url) as connection:
        await connection.execute(NOTED)
        for table, kind, column in WATCHED:
            await connection.execute(TRIGGER.format(table=table, kind=kind, column=column))
    _announced[url] = Counter()
    try:
        yield
    finally:
        del _announced[url]


def excuse(url: str, kind: str, id: UUID) -> None:
    """A test wrote this thing past the services, as the application's role."""
    _announced[url][kind, id] += 1


async def differences(url: str) -> list[str]:
    """Things that changed in more transactions than announced them, or the other way round."""
    async with connected(url) as connection:
        rows: list[Any] = await connection.fetch(CHANGED)
    changed = {(row["kind"], row["id"]): row for row in rows}
    return [
        line
        for thing in changed.keys() | _announced[url].keys()
        if (line := _difference(thing, _announced[url][thing], changed.get(thing)))
    ]


def _difference(thing: Thing, announced: int, changed: Any) -> str | None:
    needed, count = (changed["needed"], changed["count"]) if changed else (0, 0)
    if needed <= announced <= count:
        return None
    statement = " ".join(changed["statement"].split()) if changed else ""
    return f"{thing[0]} {thing[1]}: {needed} to {count} transactions changed it, {announced} announced it: {statement}"


async def require_equal() -> None:
    """Fail with what is not equal, in any database that is compared now; then begin anew."""
    for url in list(_announced):
        # A commit is there for others before it is told here, so what differs is looked at again.
        for _ in range(_LOOKS):
            if not (found := await differences(url)):
                break
            await asyncio.sleep(0.01)
        await forget(url)
        assert found == [], "\n".join(found[:20])


async def forget(url: str) -> None:
    """Begin anew."""
    async with connected(url) as connection:
        await connection.execute("TRUNCATE announcements.changes")
    _announced[url].clear()

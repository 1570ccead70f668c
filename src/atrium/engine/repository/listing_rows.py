"""SQL of listings. Each way an object can be readable is one branch over one ordered index, cut to a page before they merge.

A row in the first page of the merged listing is in the first page of some branch, so no branch needs to know the others:
what two of them bring is dropped when they meet.
"""

from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from atrium.engine.repository.model import OBJECTS, BucketEntry, Filter, StoredObject
from atrium.engine.repository.object_keys import LONGEST_KEY, after_all_with
from atrium.engine.repository.store import JOINED, OBJECT, READABLE, object_of, reader
from atrium.ground.sharing import rule
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Transaction
from atrium.kit.text.plain import contains_pattern
from atrium.seams.context import Principal

Position = tuple[str, UUID]
# What a listing is ordered by.
Value = str | datetime | int
_LAST = UUID(int=(1 << 128) - 1)
# One object by its id. OFFSET 0 keeps it a lookup per row: joined freely, a planner that has no statistics yet walks the
# whole company once for every row of the page.
_LOOKUP = f"""
  SELECT {OBJECT} FROM objects o JOIN object_versions v ON v.id = o.version_id
   WHERE o.org_id = :org_id AND o.id = {{id}} OFFSET 0
"""
# What a bucket's listing tells: a row of a thousand carries no more than that, and needs no other table.
_LEAN_LOOKUP = """
  SELECT o.key, o.owner_id, o.etag, o.size, o.written_at FROM objects o WHERE o.org_id = :org_id AND o.id = {id} OFFSET 0
"""
_MERGED = """
  SELECT DISTINCT ON ({column}, id) key, id, owner_id, etag, size, written_at, updated_at FROM ({branches}) AS b
   ORDER BY {column} {way}, id {way} LIMIT {limit}
"""
_LISTED = "o.owner_id, o.etag, o.size, o.written_at, o.updated_at"
_FOUND = f"o.key, o.id, {_LISTED}"
_GIVEN = f"g.key, g.object_id AS id, {_LISTED}"
# What is looked for in a name: the last part of a key, or the part that a listing by folders shows.
_NAMED = "AND (split_part({key}, '/', -1) COLLATE \"default\") ILIKE :search"
_SHOWN = 'AND (split_part(substr({key}, length(:prefix) + 1), :delimiter, 1) COLLATE "default") ILIKE :search'
_IN_FOLDERS = "AND strpos(substr({key}, length(:prefix) + 1), :delimiter) > 0"
_BETWEEN_FOLDERS = "AND strpos(substr({key}, length(:prefix) + 1), :delimiter) = 0"
# No key is after this one, which has as many bytes as a key may have.
_TOP = "\U0010ffff" * (LONGEST_KEY // 4)
COLUMNS: dict[str, str] = {"name": "key", "updated": "updated_at", "size": "size"}


class ListingShape(msgspec.Struct, frozen=True, kw_only=True):
    """What decides the text of a listing; `narrowed` is about `{key}`, `ended` says that not all keys are asked for."""

    scope: str = "team"
    shared: bool = False
    documents: bool = False
    ended: bool = False
    after: bool = True
    column: str = "key"
    descending: bool = False
    narrowed: str = ""

    def way(self) -> str:
        """As SQL writes the direction."""
        return "DESC" if self.descending else "ASC"

    def merged(self, branches: str, limit: str) -> str:
        """The first of what the branches bring, each once."""
        return _MERGED.format(branches=branches, limit=limit, column=self.column, way=self.way())


class Packed(msgspec.Struct, frozen=True, gc=False):
    """As much of an object as an archive of many needs."""

    id: UUID
    key: str
    number: int
    sha256: bytes
    size: int
    modified: datetime


def shape_of(chosen: Filter, narrowed: str, *, after: bool = True) -> ListingShape:
    """How what a filter chooses is asked for."""
    return ListingShape(
        scope=chosen.scope,
        shared=chosen.shared,
        documents=chosen.documents,
        ended=after_all_with(chosen.prefix) is not None,
        after=after or (chosen.order == "name" and not chosen.descending()),
        column=COLUMNS[chosen.order],
        descending=chosen.descending(),
        narrowed=narrowed,
    )


def _branches(shape: ListingShape, position: str, limit: str) -> str:
    parts = []
    for way in rule.keyed_ways(OBJECTS, "o", shape.scope, shared=shape.shared):
        key, id, columns = ("g.key", "g.object_id", _GIVEN) if way.granted else ("o.key", "o.id", _FOUND)
        branch = f"SELECT {columns} FROM {way.source} WHERE {way.where} {_narrowed(shape, key)}"
        parts.append(_cut(shape, branch, position, limit, key, id))
    return " UNION ALL ".join(f"({part})" for part in parts)


def _narrowed(shape: ListingShape, key: str) -> str:
    # From the first key to the last the position is the lower end.
    lower = f"AND {key} >= :prefix" if shape.descending or shape.column != "key" else ""
    upper = f"AND {key} < :before" if shape.ended else ""
    kind = " AND o.document" if shape.documents else ""
    if shape.scope == "bucket":
        # A bucket has the caller's team's keys and no others: a key is unique there.
        kind += " AND o.team_id = :team_id"
    return f"{lower} {upper}{kind} {shape.narrowed.format(key=key)}"


def _cut(shape: ListingShape, branch: str, position: str, limit: str, key: str, id: str) -> str:
    """As much of a branch as a page may need of it, in order."""
    column = key if shape.column == "key" else f"o.{shape.column}"
    if shape.column != "key" and shape.ended:
        # A folder is small beside everything: it is read by its keys and sorted. Left to choose, the planner may look for the few
        # files of a folder in the order of all there are.
        branch, column, id = f"SELECT * FROM ({branch} OFFSET 0) AS s WHERE true", f"s.{shape.column}", "s.id"
    sign = "<" if shape.descending else ">"
    from_there = f"AND ({column}, {id}) {sign} {position}" if shape.after else ""
    return f"{branch} {from_there} ORDER BY {column} {shape.way()}, {id} {shape.way()} LIMIT {limit}"


@lru_cache(maxsize=256)
def listing_sql(shape: ListingShape) -> str:
    """The text of a flat listing: a page from each branch, merged, then the objects themselves."""
    merged = shape.merged(_branches(shape, "(:after, :after_id)", ":limit"), ":limit")
    return f"""
      SELECT found.* FROM ({merged}) AS page, LATERAL ({_LOOKUP.format(id="page.id")}) AS found
       ORDER BY page.{shape.column} {shape.way()}, page.id {shape.way()}
    """


@lru_cache(maxsize=2)
def bucket_listing(ended: bool) -> str:
    """The same for a bucket: the branches bring all it tells."""
    shape = ListingShape(scope="bucket", ended=ended)
    merged = shape.merged(_branches(shape, "(:after, :after_id)", ":limit"), ":limit")
    return f"SELECT key, owner_id, etag, size, written_at FROM ({merged}) AS page ORDER BY key"


@lru_cache(maxsize=256)
def folder_listing_sql(shape: ListingShape) -> str:
    """The text of a listing by folders: each step finds the next key, and one inside a folder jumps over the whole folder."""
    merged = shape.merged(_branches(shape, "(w.next_key, w.next_id)", "1"), "1")
    lookup = _LEAN_LOOKUP if shape.scope == "bucket" else _LOOKUP
    beyond = "c.folder" if shape.descending else "left(c.folder, -length(:delimiter)) || :past_delimiter"
    return f"""
      WITH RECURSIVE walk (step, key, id, folder, next_key, next_id) AS (
        SELECT 0, NULL::text COLLATE "C", NULL::uuid, NULL::text COLLATE "C", :after::text COLLATE "C", :after_id::uuid
        UNION ALL
        SELECT w.step + 1, f.key, f.id, c.folder,
               CASE WHEN c.folder IS NULL THEN f.key ELSE {beyond} END COLLATE "C",
               CASE WHEN c.folder IS NULL THEN f.id ELSE :nil::uuid END
          FROM walk w,
               LATERAL ({merged}) AS f,
               LATERAL (SELECT substr(f.key, length(:prefix) + 1) AS rest) AS r,
               LATERAL (SELECT CASE WHEN strpos(r.rest, :delimiter) > 0
                  THEN (:prefix || left(r.rest, strpos(r.rest, :delimiter) + length(:delimiter) - 1)) COLLATE "C" END AS folder) AS c
         WHERE w.step < :limit
      )
      SELECT w.folder, w.next_key, w.next_id, found.*
        FROM walk w LEFT JOIN LATERAL ({lookup.format(id="w.id")}) AS found ON w.folder IS NULL
       WHERE w.step > 0 ORDER BY w.step
    """


async def list_objects(
    db: Transaction, who: Principal, chosen: Filter, after: tuple[Value, UUID] | None, limit: int
) -> list[StoredObject]:
    """What is there, in the order that the filter names."""
    return await _list(db, who, chosen, _NAMED if chosen.search else "", after, limit)


async def list_between_folders(
    db: Transaction, who: Principal, chosen: Filter, delimiter: str, after: tuple[Value, UUID] | None, limit: int
) -> list[StoredObject]:
    """The objects of a prefix that are in none of its folders, in the order that the filter names."""
    return await _list(db, who, chosen, _BETWEEN_FOLDERS + _searched(chosen), after, limit, delimiter)


async def _list(
    db: Transaction,
    who: Principal,
    chosen: Filter,
    narrowed: str,
    after: tuple[Value, UUID] | None,
    limit: int,
    delimiter: str = "",
) -> list[StoredObject]:
    key, id = after or (chosen.prefix, NIL)
    sql = listing_sql(shape_of(chosen, narrowed, after=after is not None))
    values = _values(who, chosen, limit) | {"after": key, "after_id": id, "delimiter": delimiter}
    return [object_of(row) for row in await db.rows(sql, **values)]


async def list_packed_below(db: Transaction, who: Principal, chosen: Filter, limit: int) -> list[Packed]:
    """What is below a prefix, by key."""
    shape = shape_of(chosen, "")
    merged = shape.merged(_branches(shape, "(:after, :after_id)", ":limit"), ":limit")
    sql = f"""
      SELECT page.id, page.key, found.* FROM ({merged}) AS page,
             LATERAL (SELECT v.number, v.sha256, v.size, v.created_at FROM objects o JOIN object_versions v ON v.id = o.version_id
                       WHERE o.org_id = :org_id AND o.id = page.id OFFSET 0) AS found
       ORDER BY page.key, page.id
    """
    return await db.all(Packed, sql, **_values(who, chosen, limit), after=chosen.prefix, after_id=NIL)


async def list_packed(db: Transaction, who: Principal, ids: list[UUID]) -> list[Packed]:
    """Those of these that the caller can read, by key."""
    return await db.all(
        Packed,
        f"""
        SELECT o.id, o.key, v.number, v.sha256, v.size, v.created_at FROM {JOINED}
         WHERE o.id = ANY(:ids) AND NOT o.deleted AND {READABLE} ORDER BY o.key, o.id
        """,
        ids=ids,
        **reader(who),
    )


def _searched(chosen: Filter) -> str:
    return f" {_SHOWN}" if chosen.search else ""


def _values(who: Principal, chosen: Filter, limit: int) -> dict[str, Any]:
    return reader(who) | {
        "prefix": chosen.prefix,
        "before": after_all_with(chosen.prefix),
        "search": chosen.search and contains_pattern(chosen.search),
        "limit": limit,
    }


async def list_bucket(
    db: Transaction, who: Principal, prefix: str, after: Position | None, limit: int
) -> list[BucketEntry]:
    """The team's keys that the caller can read."""
    before = after_all_with(prefix)
    key, id = after or (prefix, NIL)
    values = reader(who) | {"before": before, "after": key, "after_id": id, "limit": limit}
    return await db.all(BucketEntry, bucket_listing(before is not None), **values)


async def list_bucket_folders(
    db: Transaction, who: Principal, prefix: str, delimiter: str, after: Position | None, limit: int
) -> list[tuple[str, BucketEntry | None]]:
    """The same with what is in folders folded into them: each is a key or a folder's name."""
    flat = await list_bucket(db, who, prefix, after, limit)
    found = _folded(flat, prefix, delimiter)
    if len(flat) < limit or len(found) == limit:
        return found
    # One sweep is by far the quickest where few are in folders; where many are, the rest is found by jumping over them.
    last, is_folder = found[-1][0], found[-1][1] is None
    behind = (f"{last[: -len(delimiter)]}{after_all_with(delimiter)}", NIL) if is_folder else (last, _LAST)
    rows = await _skip(db, who, Filter(prefix=prefix, scope="bucket"), "", delimiter, behind, limit - len(found))
    return found + [(row[3], BucketEntry(*row[3:])) if row[0] is None else (row[0], None) for row in rows]


def _folded(flat: list[BucketEntry], prefix: str, delimiter: str) -> list[tuple[str, BucketEntry | None]]:
    found: list[tuple[str, BucketEntry | None]] = []
    folder, start = "", len(prefix)
    for one in flat:
        if folder and one.key.startswith(folder):
            continue
        at = one.key.find(delimiter, start)
        folder = one.key[: at + len(delimiter)] if at >= 0 else ""
        found.append((folder, None) if folder else (one.key, one))
    return found


async def list_folders(
    db: Transaction, who: Principal, chosen: Filter, delimiter: str, after: Position | None, limit: int
) -> list[tuple[str | None, Position, StoredObject | None]]:
    """Folders and the objects between them, by name, each with the position behind it."""
    rows = await _skip(db, who, chosen, _searched(chosen), delimiter, after, limit)
    return [(row[0], (row[1], row[2]), None if row[0] is not None else object_of(row[3:])) for row in rows]


async def list_only_folders(
    db: Transaction, who: Principal, chosen: Filter, delimiter: str, after: str | None, limit: int
) -> list[tuple[str, str]]:
    """Folders by name, each with the key behind it."""
    by_name = msgspec.structs.replace(chosen, order="name", dir=None)
    place = None if after is None else (after, NIL)
    rows = await _skip(db, who, by_name, _IN_FOLDERS + _searched(chosen), delimiter, place, limit)
    return [(row[0], row[1]) for row in rows]


async def _skip(
    db: Transaction,
    who: Principal,
    chosen: Filter,
    narrowed: str,
    delimiter: str,
    after: Position | None,
    limit: int,
) -> list[tuple[Any, ...]]:
    values = _values(who, chosen, limit)
    first = (values["before"] or _TOP, _LAST) if chosen.descending() else (chosen.prefix, NIL)
    key, id = after or first
    values |= {
        "after": key, "after_id": id, "nil": NIL, "delimiter": delimiter, "past_delimiter": after_all_with(delimiter),
    }  # fmt: skip
    return await db.rows(folder_listing_sql(shape_of(chosen, narrowed)), **values)

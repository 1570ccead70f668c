"""SQL of listings. Each way an object can be readable is one branch over one ordered index, cut to a page before they merge.

A row in the first page of the merged listing is in the first page of some branch, so no branch needs to know the others:
what two of them bring is dropped when they meet.
"""

from functools import lru_cache
from typing import Any
from uuid import UUID

from atrium.engine.repository.model import Filter, Listed, StoredObject, after_all_with
from atrium.engine.repository.store import LIVE, OBJECT, object_of, reader
from atrium.kit.database import Transaction
from atrium.kit.ids import NIL
from atrium.seams.context import Principal

Position = tuple[str, UUID]
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
_MERGED = "SELECT DISTINCT ON (key, id) key, id, owner_id, etag, size, written_at FROM ({branches}) AS b ORDER BY key, id LIMIT {limit}"
_LISTED = "o.owner_id, o.etag, o.size, o.written_at"
# Neither behind a delete marker nor in the trash; the indexes of the listings hold nothing else.
_THERE = "NOT o.deleted AND o.trashed_at IS NULL"
_FOUND = f"o.key, o.id, {_LISTED}"


def _mine(narrowed: str) -> str:
    return f"SELECT {_FOUND} FROM objects o WHERE o.org_id = :org_id AND o.owner_id = :user_id AND {_THERE} {narrowed}"


def _of_team(narrowed: str) -> str:
    return (
        f"SELECT {_FOUND} FROM objects o WHERE o.org_id = :org_id AND :by_role AND o.team_id = :team_id "
        f"AND o.visibility = 'team' AND {_THERE} {narrowed}"
    )


def _of_org(narrowed: str) -> str:
    # The last condition is always true: it names the index that belongs to this listing alone.
    return (
        f"SELECT {_FOUND} FROM objects o WHERE o.org_id = :org_id AND o.visibility = 'team' AND {_THERE} "
        f"AND octet_length(o.key) > 0 {narrowed}"
    )


def _granted(principal: str, narrowed: str, owned: str) -> str:
    return (
        f"SELECT g.key, g.object_id AS id, {_LISTED} FROM object_grants g JOIN objects o ON o.id = g.object_id "
        f"WHERE g.org_id = :org_id AND g.principal_id = :{principal} AND {LIVE} AND g.trashed_at IS NULL AND {_THERE} {owned} {narrowed}"
    )


def _branches(scope: str, shared: bool, documents: bool, position: str, limit: str, ranged: str) -> str:
    kind = " AND o.document" if documents else ""
    if scope == "bucket":
        # A bucket has the caller's team's keys and no others: a key is unique there.
        kind += " AND o.team_id = :team_id"
    own = f"AND (o.key, o.id) > {position} {ranged.format('o.key')}{kind} ORDER BY o.key, o.id LIMIT {limit}"
    given = f"AND (g.key, g.object_id) > {position} {ranged.format('g.key')}{kind} ORDER BY g.key, g.object_id LIMIT {limit}"
    if scope == "org":
        return f"({_of_org(own)})"
    owned = "AND g.owner_id <> :user_id" if shared else ""
    parts = [_granted(principal, given, owned) for principal in ("user_id", "team_id", "org_id")]
    if not shared:
        parts += [_mine(own), _of_team(own)]
    return " UNION ALL ".join(f"({part})" for part in parts)


@lru_cache(maxsize=64)
def listing(scope: str, shared: bool, documents: bool, ended: bool) -> str:
    """The text of a flat listing: a page of keys from each branch, merged, then the objects themselves."""
    ranged = "AND {} < :before" if ended else ""
    branches = _branches(scope, shared, documents, "(:after_key, :after_id)", ":limit", ranged)
    merged = _MERGED.format(branches=branches, limit=":limit")
    return f"""
      SELECT found.* FROM ({merged}) AS page, LATERAL ({_LOOKUP.format(id="page.id")}) AS found ORDER BY page.key, page.id
    """


@lru_cache(maxsize=2)
def bucket_listing(ended: bool) -> str:
    """The same for a bucket: the branches bring all it tells."""
    ranged = "AND {} < :before" if ended else ""
    branches = _branches("bucket", False, False, "(:after_key, :after_id)", ":limit", ranged)
    return f"""
      SELECT key, owner_id, etag, size, written_at FROM ({_MERGED.format(branches=branches, limit=":limit")}) AS page
       ORDER BY key
    """


@lru_cache(maxsize=64)
def skipping(scope: str, shared: bool, documents: bool, ended: bool) -> str:
    """The text of a listing by folders: each step finds the next key, and one inside a folder jumps over the whole folder."""
    ranged = "AND {} < :before" if ended else ""
    branches = _branches(scope, shared, documents, "(w.next_key, w.next_id)", "1", ranged)
    merged = _MERGED.format(branches=branches, limit="1")
    lookup = _LEAN_LOOKUP if scope == "bucket" else _LOOKUP
    return f"""
      WITH RECURSIVE walk (step, key, id, folder, next_key, next_id) AS (
        SELECT 0, NULL::text COLLATE "C", NULL::uuid, NULL::text COLLATE "C", :after_key::text COLLATE "C", :after_id::uuid
        UNION ALL
        SELECT w.step + 1, f.key, f.id, c.folder,
               CASE WHEN c.folder IS NULL THEN f.key
                    ELSE left(c.folder, -length(:delimiter)) || :past_delimiter END COLLATE "C",
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
    db: Transaction, who: Principal, chosen: Filter, after: Position | None, limit: int
) -> list[StoredObject]:
    before = after_all_with(chosen.prefix)
    key, id = after or (chosen.prefix, NIL)
    sql = listing(chosen.scope, chosen.shared, chosen.documents, before is not None)
    values = reader(who) | {"before": before, "after_key": key, "after_id": id, "limit": limit}
    return [object_of(row) for row in await db.rows(sql, **values)]


async def list_bucket(db: Transaction, who: Principal, prefix: str, after: Position | None, limit: int) -> list[Listed]:
    """The team's keys that the caller can read."""
    before = after_all_with(prefix)
    key, id = after or (prefix, NIL)
    values = reader(who) | {"before": before, "after_key": key, "after_id": id, "limit": limit}
    return await db.all(Listed, bucket_listing(before is not None), **values)


async def list_bucket_folders(
    db: Transaction, who: Principal, prefix: str, delimiter: str, after: Position | None, limit: int
) -> list[tuple[str, Listed | None]]:
    """The same with what is in folders folded into them: each is a key or a folder's name."""
    flat = await list_bucket(db, who, prefix, after, limit)
    found = _folded(flat, prefix, delimiter)
    if len(flat) < limit or len(found) == limit:
        return found
    # One sweep is by far the quickest where few are in folders; where many are, the rest is found by jumping over them.
    last, is_folder = found[-1][0], found[-1][1] is None
    behind = (f"{last[: -len(delimiter)]}{after_all_with(delimiter)}", NIL) if is_folder else (last, _LAST)
    rows = await _skip(db, who, Filter(prefix=prefix, scope="bucket"), delimiter, behind, limit - len(found))
    return found + [(row[3], Listed(*row[3:])) if row[0] is None else (row[0], None) for row in rows]


def _folded(flat: list[Listed], prefix: str, delimiter: str) -> list[tuple[str, Listed | None]]:
    found: list[tuple[str, Listed | None]] = []
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
    """Folders and the objects between them, in order, each with the position behind it."""
    rows = await _skip(db, who, chosen, delimiter, after, limit)
    return [(row[0], (row[1], row[2]), None if row[0] is not None else object_of(row[3:])) for row in rows]


async def _skip(
    db: Transaction, who: Principal, chosen: Filter, delimiter: str, after: Position | None, limit: int
) -> list[tuple[Any, ...]]:
    before = after_all_with(chosen.prefix)
    key, id = after or (chosen.prefix, NIL)
    sql = skipping(chosen.scope, chosen.shared, chosen.documents, before is not None)
    values: dict[str, Any] = reader(who) | {
        "before": before, "after_key": key, "after_id": id, "limit": limit, "prefix": chosen.prefix, "nil": NIL,
        "delimiter": delimiter, "past_delimiter": after_all_with(delimiter),
    }  # fmt: skip
    return await db.rows(sql, **values)

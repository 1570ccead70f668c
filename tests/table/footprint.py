"""What a request left behind: every row of every table, so that "nothing was written" is a comparison and not a promise."""

from typing import Any

import asyncpg

Footprint = dict[str, tuple[int, int]]
# Columns and whole tables that housekeeping, the job queue and the books of quotas move by themselves, whoever asks for what.
MOVING = {
    "tokens": {"last_used_at"},
    "audit_events": {"seq", "hash"},
    # What the text of a file was found to say, some time after the file was written.
    "search_rows": {"edition", "lexemes", "head_words", "text_words"},
    "jobs": {
        "state",
        "attempt",
        "failures",
        "lapses",
        "claim_token",
        "worker",
        "lease_until",
        "admission_id",
        "run_at",
        "started_at",
        "finished_at",
        "result",
        "error",
        "put_off_for",
        "kept_bytes",
    },
}
ELSEWHERE = frozenset(
    {
        "audit_heads", "audit_keys", "blob_releases", "executor_probes", "job_lanes", "job_orgs", "job_teams", "job_wakes", "job_workers",
        "object_texts", "onboarding_days", "onboarding_secrets", "quota_holds", "quota_usage", "search_moved", "storage_entries",
        "turn_processes", "unread_objects",
    }
)  # fmt: skip


_COLUMNS = """
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped GROUP BY 1
"""


class Looker:
    """Looks at one database again and again, with a statement that is planned once."""

    def __init__(self, connection: Any, statement: Any) -> None:
        self._connection, self._statement = connection, statement

    @classmethod
    async def open(cls, url: str) -> "Looker":
        connection = await asyncpg.connect(url)
        each = []
        for table, columns in await connection.fetch(_COLUMNS):
            stable = ", ".join(f't."{name}"' for name in columns if name not in MOVING.get(table, ()))
            if table not in ELSEWHERE:
                # A sum asks for no order, and tells how often a row is there, too.
                digest = f"coalesce(sum(hashtextextended(ROW({stable})::text, 0)), 0)"
                each.append(f"SELECT '{table}', count(*), {digest} FROM {table} t")
        return cls(connection, await connection.prepare(" UNION ALL ".join(each)))

    async def look(self) -> Footprint:
        return {name: (rows, int(digest)) for name, rows, digest in await self._statement.fetch()}

    def close(self) -> None:
        self._connection.terminate()


_LOOKERS: dict[str, Looker] = {}


async def footprint(url: str) -> Footprint:
    """A digest of every table, without what moves by itself."""
    if url not in _LOOKERS:
        _LOOKERS[url] = await Looker.open(url)
    return await _LOOKERS[url].look()


def stop_looking() -> None:
    """Close what looking opened."""
    while _LOOKERS:
        _LOOKERS.popitem()[1].close()


def changed(before: Footprint, after: Footprint) -> list[str]:
    """The tables that differ."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

"""What a request left behind: every row of every table, so that "nothing was written" is a comparison and not a promise."""

from tests.postgres import run_as_owner

Footprint = dict[str, str]
# Columns and whole tables that housekeeping, the job queue and the books of quotas move by themselves, whoever asks for what.
MOVING = {
    "tokens": "{last_used_at}",
    "audit_events": "{seq,hash}",
    # What the text of a file was found to say, some time after the file was written.
    "search_rows": "{edition,lexemes,head_words,text_words}",
    "jobs": "{state,attempt,failures,lapses,claim_token,worker,lease_until,admission_id,run_at,started_at,finished_at,result,error}",
}
ELSEWHERE = frozenset(
    {
        "audit_heads", "audit_keys", "blob_releases", "executor_probes", "job_lanes", "job_orgs", "job_teams", "job_wakes", "job_workers",
        "object_texts", "quota_holds", "quota_usage", "turn_processes",
    }
)  # fmt: skip


async def footprint(url: str) -> Footprint:
    """A digest of every table, without what moves by itself."""
    tables = await run_as_owner(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    each = (
        f"SELECT '{name}', md5(coalesce(string_agg(r, '' ORDER BY r), '')) "
        f"FROM (SELECT (to_jsonb(t) - '{MOVING.get(name, '{}')}'::text[])::text AS r FROM {name} t) AS rows"
        for (name,) in tables
        if name not in ELSEWHERE
    )
    return {row[0]: row[1] for row in await run_as_owner(url, " UNION ALL ".join(each))}


def changed(before: Footprint, after: Footprint) -> list[str]:
    """The tables that differ."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

"""How a run stands, in a word that does not flatter: pure, from what is known of its state, its items and the jobs under way."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec

Outcome = Literal["running", "waiting", "done", "done_with_failures", "failed", "cancelled"]
# What stands first is told where several things are waited for: a person can do most about it.
WaitingFor = Literal["org_suspended", "quota", "no_worker", "team_cap", "scheduled", "turn"]
_ORDER: tuple[WaitingFor, ...] = get_args(WaitingFor)


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing of a run or step goes on, and since when; of a limit which one, as it was when it was last reached."""

    reason: WaitingFor
    since: datetime
    dimension: str | None = None
    window: str | None = None
    level: str | None = None
    limit: int | None = None
    used: int | None = None
    resets_at: datetime | None = None


class RunStanding(msgspec.Struct, frozen=True, kw_only=True):
    """How a run stands: `outcome` in a word, how many items of its maps failed, and what it waits for where nothing of it goes on."""

    outcome: Outcome
    failed_items: int
    waiting: Waiting | None


class ItemCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many items of a map stand how; together they are `total`."""

    total: int
    succeeded: int
    failed: int
    cancelled: int
    waiting: int
    running: int


class OpenJobs(msgspec.Struct, frozen=True):
    """Jobs of one step of a run that have not ended and stand alike: `job_id` is one of them, `since` when the last of them began to wait.

    `reason` is why they were put off, as their steps have it, and `facts` which limit that was.
    """

    run_id: UUID
    step: str
    job_id: UUID
    reason: str | None
    since: datetime
    facts: Mapping[str, Any] | None


def outcome_of(state: str, failed_items: int, waiting: Waiting | None) -> Outcome:
    """What a run has come to: one that went through with failures is not simply done, one that waits does not run."""
    match state:
        case "running":
            return "running" if waiting is None else "waiting"
        case "succeeded":
            return "done" if failed_items == 0 else "done_with_failures"
        case "failed":
            return "failed"
    return "cancelled"


def waiting_of(found: Iterable[tuple[OpenJobs, str | None, str | None]]) -> Waiting | None:
    """What jobs wait for, each with its state (None when it is gone) and its own reason; None where one runs or there is none."""
    jobs = list(found)
    if not jobs or any(state != "queued" for _, state, _ in jobs):
        return None
    told = [(_ORDER.index(_reason_of(one, reason)), at) for at, (one, _, reason) in enumerate(jobs)]
    order, at = min(told)
    facts = jobs[at][0].facts if _ORDER[order] == "quota" else None
    return msgspec.convert(
        {**(facts or {}), "reason": _ORDER[order], "since": max(one.since for one, _, _ in jobs)}, Waiting
    )


def _reason_of(one: OpenJobs, reason: str | None) -> WaitingFor:
    """Of a job that only waits for a time, why its last attempt put it off; of one that waits for nothing else, its turn."""
    if reason == "scheduled" and one.reason is not None:
        reason = one.reason
    return next((known for known in _ORDER if known == reason), "turn")

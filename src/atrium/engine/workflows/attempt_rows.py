"""SQL of attempts at steps: what they have left, and what is noted as they begin, wait and fail."""

from typing import Any
from uuid import UUID

import msgspec

from atrium.kit.postgres.database import Transaction

StepKey = tuple[UUID, str, int]


class KeptStep(msgspec.Struct, frozen=True):
    """What earlier attempts at a step have left, and whether its run goes on."""

    kept: bool
    failures: list[dict[str, Any]]
    run_state: str = "running"


async def find_kept(db: Transaction, org_id: UUID, key: StepKey) -> KeptStep | None:
    return await db.one(
        KeptStep,
        """
        SELECT s.kept, s.failures, r.state FROM run_steps s JOIN runs r ON r.org_id = s.org_id AND r.id = s.run_id
         WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.step = :step AND s.place = :place
        """,
        org_id=org_id,
        **_key(key),
    )


async def keep(db: Transaction, org_id: UUID, key: StepKey, output: Any) -> bool:
    """Keep a step's output with its effect; False when an earlier attempt has, or the step is over."""
    return bool(
        await db.run(
            """
            UPDATE run_steps SET kept = true, output = :output, value_bytes = value_bytes + :bytes
             WHERE org_id = :org_id AND run_id = :run_id AND step = :step AND place = :place AND NOT kept AND state = 'open'
            """,
            org_id=org_id,
            output=output,
            bytes=len(msgspec.json.encode(output)),
            **_key(key),
        )
    )


async def note_begun(db: Transaction, org_id: UUID, key: StepKey, attempt: int, *, again: bool) -> bool:
    """Note that an attempt begins; unless `again`, False when one began before whose end was not seen."""
    return bool(
        await db.run(
            """
            UPDATE run_steps SET begun = :attempt
             WHERE org_id = :org_id AND run_id = :run_id AND step = :step AND place = :place
               AND (:again::boolean OR begun IS NULL OR failures @> jsonb_build_array(jsonb_build_object('attempt', begun)))
            """,
            org_id=org_id,
            attempt=attempt,
            again=again,
            **_key(key),
        )
    )


async def note_failure(
    db: Transaction, org_id: UUID, key: StepKey, failure: dict[str, Any], usage: dict[str, int]
) -> KeptStep | None:
    """Note that an attempt failed, and what it spent; what all of them have left."""
    return await db.one(
        KeptStep,
        """
        UPDATE run_steps s SET failures = s.failures || :failure::jsonb, waiting = NULL, waits = NULL,
               usage = s.usage || coalesce((SELECT jsonb_object_agg(u.key, u.value::numeric + coalesce((s.usage ->> u.key)::numeric, 0))
                                              FROM jsonb_each_text(:usage::jsonb) u), '{}')
         WHERE s.org_id = :org_id AND s.run_id = :run_id AND s.step = :step AND s.place = :place AND s.state = 'open'
        RETURNING kept, failures
        """,
        org_id=org_id,
        failure=[failure],
        usage=usage,
        **_key(key),
    )


async def note_waiting(db: Transaction, org_id: UUID, key: StepKey, reason: str, facts: dict[str, Any]) -> None:
    """Note why an attempt is put off, and for a limit which one that is; its end was seen. It waits since it was first put off for that."""
    await db.run(
        """
        UPDATE run_steps
           SET waiting = :reason, begun = NULL,
               waits = :facts::jsonb || jsonb_build_object(
                 'since', coalesce(CASE WHEN waiting = :reason THEN waits -> 'since' END, to_jsonb(now())))
         WHERE org_id = :org_id AND run_id = :run_id AND step = :step AND place = :place AND state = 'open'
        """,
        org_id=org_id,
        reason=reason,
        facts=facts,
        **_key(key),
    )


def _key(key: StepKey) -> dict[str, Any]:
    run_id, step, place = key
    return {"run_id": run_id, "step": step, "place": place}

"""The verbs of upload triggers."""

from typing import Any, TypeVar
from uuid import UUID

import msgspec

from atrium.engine.repository.object_keys import LONGEST_KEY
from atrium.engine.workflows import definitions
from atrium.engine.workflows import service as workflows
from atrium.engine.workflows.model import RunnableSpec, WorkflowMissing
from atrium.ground.access import service as access
from atrium.ground.audit import service as audit
from atrium.ground.quotas import service as quotas
from atrium.kit.ids import new_id
from atrium.kit.web.pages import Pager
from atrium.product.triggers import fire_rows, history, inputs, rehearsal, store
from atrium.product.triggers.model import (
    BadPrefix,
    BadTriggerInput,
    Budget,
    Rehearsal,
    StoredTrigger,
    TooManyTriggers,
    Trigger,
    TriggerDetail,
    TriggerDraft,
    TriggerListing,
    TriggerMissing,
    TriggerStale,
    UnknownWorkflow,
)
from atrium.seams.context import Context, Operation

MOST_TRIGGERS = 5_000
D = TypeVar("D", bound=TriggerDraft)
_SPENT = ("ai.requests", "ai.tokens.total")


async def create_trigger(ctx: Context, draft: TriggerDraft, *, allow_egress: bool = False) -> Trigger:
    """Make a trigger whose workflow takes what it gives; its runs may send something elsewhere when an admin says so."""
    draft = _tidy(draft)
    found = await _require_fitting(ctx, draft)
    digest = _allowed(ctx, found) if allow_egress else None
    await store.lock_triggers(ctx.db, ctx.who.team_id)
    if await store.count_triggers(ctx.db, ctx.who) >= MOST_TRIGGERS:
        raise TooManyTriggers(f"a team has at most {MOST_TRIGGERS} triggers; delete some first", limit=MOST_TRIGGERS)
    made = await store.insert_trigger(ctx.db, ctx.who, new_id(), draft, digest)
    await store.replace_matches(ctx.db, ctx.who, made.id, made.match_prefix, made.match_types)
    await audit.record(ctx, "triggers.created", made.id, workflow=made.workflow_slug, prefix=made.match_prefix)
    if digest is not None:
        await audit.record(ctx, "triggers.egress_allowed", made.id, workflow=made.workflow_slug, digest=digest)
    return (await history.with_counts(ctx, [made]))[0]


async def rehearse_new(ctx: Context, draft: TriggerDraft, object_id: UUID | None) -> Rehearsal:
    """What a trigger would do, before it is made."""
    draft = _tidy(draft)
    return await rehearsal.rehearse(ctx, new_id(), draft, await _require_fitting(ctx, draft), object_id)


async def list_triggers(ctx: Context, limit: int, cursor: str | None) -> TriggerListing:
    """The team's triggers, newest first and a few at a time when they are long, with what models may still cost."""
    pager = Pager(ctx.services.keys, "triggers", ctx.who.team_id)
    found, fits = await store.list_triggers(ctx.db, ctx.who, pager.read(cursor, UUID), limit + 1)
    page = pager.page(found, min(limit, fits), lambda trigger: trigger.id)
    return TriggerListing(await history.with_counts(ctx, page.items), page.next_cursor, await _budget(ctx))


async def read_trigger(ctx: Context, id: UUID, limit: int, cursor: str | None) -> TriggerDetail:
    """A trigger with its history."""
    [shown] = await history.with_counts(ctx, [await _read(ctx, id)])
    facts = {name: getattr(shown, name) for name in Trigger.__struct_fields__}
    return TriggerDetail(**facts, fires=await history.list_fires(ctx, id, limit, cursor))


async def change_trigger(
    ctx: Context, id: UUID, change: dict[str, Any], if_match: str | None, *, allow_egress: bool | None = None
) -> Trigger:
    """Change what is given; with `if_match` only the trigger that it names. The caller answers for the trigger from then on.

    That its runs may send something elsewhere was said of the same workflow with the same input: for others it is to be said again.
    """
    before = await _read(ctx, id, lock=True)
    _require_current(before, if_match)
    after = _tidy(msgspec.structs.replace(before, **change))
    await _require_fitting_change(ctx, before, after)
    after = msgspec.structs.replace(after, maker_id=ctx.who.user_id)
    if allow_egress is not None:
        after = await _with_egress(ctx, after, allow_egress)
    elif not _is_given_alike(before, after):
        after = await _without_egress(ctx, after)
    await store.update_trigger(ctx.db, ctx.who, after)
    if (before.match_prefix, before.match_types) != (after.match_prefix, after.match_types):
        await store.replace_matches(ctx.db, ctx.who, id, after.match_prefix, after.match_types)
    await audit.record(ctx, "triggers.changed", id, fields=sorted(change))
    return (await history.with_counts(ctx, [after]))[0]


async def rehearse_change(
    ctx: Context, id: UUID, change: dict[str, Any], if_match: str | None, object_id: UUID | None
) -> Rehearsal:
    """What a trigger would do, were it changed like this."""
    before = await _read(ctx, id)
    _require_current(before, if_match)
    after = _tidy(msgspec.structs.replace(before, **change))
    return await rehearsal.rehearse(ctx, id, after, await _require_fitting(ctx, after), object_id)


async def hand_over(ctx: Context, person_id: UUID, heir: UUID) -> int:
    """Let a person's heir answer for their triggers; for how many."""
    ids = await store.hand_over(ctx.db, ctx.who.org_id, person_id, heir)
    for id in ids:
        await audit.record(ctx, "triggers.handed_over", id, person=person_id, heir=heir)
    return len(ids)


async def delete_trigger(op: Operation, id: UUID, if_match: str | None) -> None:
    """Delete a trigger and its history; runs that it started remain.

    A long history goes first, in parts, while the trigger is switched off: should that be cut short, it is deleted by asking again.
    """
    async with op.begin() as ctx:
        found = await _read(ctx, id, lock=True)
        _require_current(found, if_match)
        if not await history.is_long(ctx, id):
            await _delete(ctx, found)
            return
        await store.disarm_trigger(ctx.db, ctx.who, id)
    await history.delete_fires(op, id)
    async with op.begin() as ctx:
        # Gone where another request has ended what this one began.
        if await store.find_trigger(ctx.db, ctx.who, id, lock=True) is not None:
            await _delete(ctx, found)


async def _delete(ctx: Context, trigger: StoredTrigger) -> None:
    await fire_rows.lock_history(ctx.db, trigger.id)
    await store.delete_trigger(ctx.db, ctx.who, trigger.id)
    await audit.record(ctx, "triggers.deleted", trigger.id, workflow=trigger.workflow_slug)


async def _read(ctx: Context, id: UUID, *, lock: bool = False) -> StoredTrigger:
    found = await store.find_trigger(ctx.db, ctx.who, id, lock=lock)
    if found is None:
        raise TriggerMissing("there is no such trigger in your team")
    return found


def _require_current(trigger: StoredTrigger, if_match: str | None) -> None:
    if if_match is None or if_match.strip() == "*":
        return
    tag = trigger.tag()
    # A trigger read with its history has a longer tag, which begins with the trigger's own.
    named = (one.strip().removesuffix('"').partition("-")[0] for one in if_match.split(","))
    if f'"{tag}' not in named:
        raise TriggerStale("this changed after you read it; read it again, then send the change", current=f'"{tag}"')


def _tidy(draft: D) -> D:
    if len(draft.match_prefix.encode(errors="surrogatepass")) > LONGEST_KEY:
        raise BadPrefix(
            f"no key is longer than {LONGEST_KEY} bytes",
            errors=[{"path": "/match_prefix", "message": f"at most {LONGEST_KEY} bytes of UTF-8"}],
        )
    types = list(dict.fromkeys(one.lower() for one in draft.match_types))
    return msgspec.structs.replace(draft, match_types=types, name=draft.name.strip())


async def _require_fitting_change(ctx: Context, before: StoredTrigger, after: StoredTrigger) -> None:
    """One that is switched off or renamed is not asked about: its workflow may have changed since."""
    if not _is_given_alike(before, after) or (after.enabled and not before.enabled):
        await _require_fitting(ctx, after)


def _is_given_alike(before: StoredTrigger, after: StoredTrigger) -> bool:
    """Whether the same workflow is given the same."""
    return (before.workflow_slug, before.input) == (after.workflow_slug, after.input)


def _allowed(ctx: Context, found: RunnableSpec) -> str:
    """What stands for the version that may send something elsewhere; refused unless the caller manages the team's settings."""
    access.require(ctx, "settings:manage")
    return found.digest


async def _with_egress(ctx: Context, trigger: StoredTrigger, allowed: bool) -> StoredTrigger:
    if allowed:
        digest = _allowed(ctx, await _require_fitting(ctx, trigger))
        await audit.record(ctx, "triggers.egress_allowed", trigger.id, workflow=trigger.workflow_slug, digest=digest)
        return msgspec.structs.replace(trigger, egress_digest=digest)
    await workflows.withdraw_egress(ctx, trigger.id)
    return await _without_egress(ctx, trigger)


async def _without_egress(ctx: Context, trigger: StoredTrigger) -> StoredTrigger:
    if trigger.egress_digest is not None:
        await audit.record(ctx, "triggers.egress_withdrawn", trigger.id)
    return msgspec.structs.replace(trigger, egress_digest=None)


async def _require_fitting(ctx: Context, draft: TriggerDraft) -> RunnableSpec:
    try:
        found = await definitions.find(ctx, draft.workflow_slug)
    except WorkflowMissing as error:
        raise UnknownWorkflow(
            f"your team has no workflow {draft.workflow_slug}",
            errors=[{"path": "/workflow_slug", "message": "no such workflow"}],
        ) from error
    if problems := inputs.problems_with(draft.input, found.spec):
        told = "; ".join(f"{one.path}: {one.message}" for one in problems[:3])
        raise BadTriggerInput(
            f"{draft.workflow_slug} does not take this: {told}",
            errors=[msgspec.structs.asdict(one) for one in problems],
        )
    return found


async def _budget(ctx: Context) -> list[Budget]:
    return [
        Budget(
            dimension=line.dimension, window=line.window, limit=line.limit, used=line.used, remaining=line.remaining,
            resets_at=line.resets_at, level=line.level,
        )
        for line in await quotas.read_usage(ctx)
        if line.dimension in _SPENT
    ]  # fmt: skip

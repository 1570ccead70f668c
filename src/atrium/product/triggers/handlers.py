"""The wire of upload triggers."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.web.pages import Cursor, Limit
from atrium.product.triggers import service
from atrium.product.triggers.model import (
    Given,
    MediaTypes,
    Name,
    Prefix,
    Rehearsal,
    Trigger,
    TriggerDetail,
    TriggerDraft,
    TriggerListing,
)
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Created, IfMatch
from atrium.seams.workflows import Slug

DryRun = Annotated[
    bool, msgspec.Meta(description="Store nothing; answer what the trigger would do with versions that are there.")
]
AllowEgress = Annotated[
    bool,
    msgspec.Meta(
        description="Whether runs may send something elsewhere with the workflow's newest version; needs settings:manage, and again for "
        "each later version."
    ),
]
LookedAt = Annotated[UUID, msgspec.Meta(description="With `dry_run`: look at the versions of this object alone.")]


class NewTrigger(msgspec.Struct, forbid_unknown_fields=True):
    """Which versions start which workflow, and with what."""

    __example__ = {
        "workflow_slug": "process-upload",
        "name": "Scans",
        "match_prefix": "scans/",
        "match_types": ["application/pdf", "image/*"],
    }

    workflow_slug: Slug
    name: Name = ""
    match_prefix: Prefix = ""
    match_types: MediaTypes = []
    input: Given = {}
    fire_on_derived: bool = False
    enabled: bool = True
    allow_egress: AllowEgress = False


async def create_trigger(
    ctx: Context, body: NewTrigger, *, dry_run: DryRun = False, object: LookedAt | None = None
) -> Created[Trigger] | Rehearsal:
    """Start a workflow whenever a matching version is written; `dry_run=1` only tells what it would do."""
    given = msgspec.structs.asdict(body)
    allow_egress = given.pop("allow_egress")
    draft = TriggerDraft(**given)
    if dry_run:
        return await service.rehearse_new(ctx, draft, object)
    return Created(await service.create_trigger(ctx, draft, allow_egress=allow_egress))


async def list_triggers(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> TriggerListing:
    """The team's triggers, and what models may still cost."""
    return await service.list_triggers(ctx, limit, cursor)


async def read_trigger(ctx: Context, id: UUID, *, limit: Limit = 50, cursor: Cursor | None = None) -> TriggerDetail:
    """One trigger with its history: which version started which run, or why not."""
    return await service.read_trigger(ctx, id, limit, cursor)


class TriggerChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay, and none can be null."""

    __example__ = {"enabled": False}

    workflow_slug: Slug | msgspec.UnsetType = msgspec.UNSET
    name: Name | msgspec.UnsetType = msgspec.UNSET
    match_prefix: Prefix | msgspec.UnsetType = msgspec.UNSET
    match_types: MediaTypes | msgspec.UnsetType = msgspec.UNSET
    input: Given | msgspec.UnsetType = msgspec.UNSET
    fire_on_derived: bool | msgspec.UnsetType = msgspec.UNSET
    enabled: bool | msgspec.UnsetType = msgspec.UNSET
    allow_egress: AllowEgress | msgspec.UnsetType = msgspec.UNSET


async def change_trigger(
    ctx: Context,
    id: UUID,
    body: TriggerChange,
    *,
    dry_run: DryRun = False,
    object: LookedAt | None = None,
    if_match: IfMatch | None = None,
) -> Trigger | Rehearsal:
    """Change a trigger; `If-Match` refuses to overwrite another change, `dry_run=1` only tells what it would do."""
    change = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    allow_egress = change.pop("allow_egress", None)
    if dry_run:
        return await service.rehearse_change(ctx, id, change, if_match, object)
    return await service.change_trigger(ctx, id, change, if_match, allow_egress=allow_egress)


class DeletedTrigger(msgspec.Struct, frozen=True):
    """The id of the trigger that is gone."""

    id: UUID


async def delete_trigger(op: Operation, id: UUID, *, if_match: IfMatch | None = None) -> DeletedTrigger:
    """Delete a trigger and its history; runs that it started remain."""
    await service.delete_trigger(op, id, if_match)
    return DeletedTrigger(id)

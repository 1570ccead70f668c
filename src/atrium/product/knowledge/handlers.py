"""The wire of the knowledge graph."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.engine.workflows.run_model import Run
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.product.knowledge import service
from atrium.product.knowledge.model import Entity, EntityDetail, EntityType, Sought, Unread
from atrium.seams.context import Context
from atrium.seams.routes import Accepted

Wanted = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, description="Only entities with a name that contains this.")
]
OneObject = Annotated[
    UUID,
    msgspec.Meta(
        description="Only entities that this object mentions; mentions and documents are counted in it alone, whichever team it is of."
    ),
]
EntityScope = Annotated[
    Literal["team", "org"],
    msgspec.Meta(
        description="`team` tells what the team's documents say, `org` what the company's say; absent is `team`, and `org` for a role in "
        "the company where no document of the team mentions the entity."
    ),
]
DryRun = Annotated[bool, msgspec.Meta(description="Start nothing; answer which documents were not read yet, and why.")]


async def list_entities(
    ctx: Context,
    *,
    q: Wanted | None = None,
    type: Annotated[EntityType, msgspec.Meta(description="Only entities of this type.")] | None = None,
    object: OneObject | None = None,
    scope: Literal["team", "org"] = "team",
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Page[Entity]:
    """Entities in documents that the caller can read, most mentioned first; `scope=org` spans the company."""
    return await service.list_entities(ctx, Sought(q, type, object, scope), limit, cursor)


async def read_entity(
    ctx: Context, id: UUID, *, scope: EntityScope | None = None, limit: Limit = 50, cursor: Cursor | None = None
) -> EntityDetail:
    """One entity with its mentions, its relations and what was merged into it, from documents that the caller can read."""
    return await service.read_entity(ctx, id, scope, limit, cursor)


async def start_extraction(
    ctx: Context, *, dry_run: DryRun = False, limit: Limit = 50, cursor: Cursor | None = None
) -> Accepted[Run] | Page[Unread]:
    """Read documents that were not read yet, at most 40 in a run; `dry_run=1` only tells which, and why."""
    if dry_run:
        return await service.list_unread(ctx, limit, cursor)
    run = await service.start_extraction(ctx)
    return Accepted(run, run.address)

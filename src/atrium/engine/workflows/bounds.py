"""By whom a run that a trigger started is bound: its writer acts within what its other people may do and read, all as of now."""

from collections.abc import Collection
from uuid import UUID

import msgspec

from atrium.engine.repository.model import KIND as OBJECT
from atrium.engine.workflows import bound_rows
from atrium.engine.workflows.process_cache import Memory
from atrium.ground.access.model import NotPermitted
from atrium.ground.identity import service as identity
from atrium.seams.context import Bound, Context, Operation, Principal
from atrium.seams.sharing import Thing, names_of


def bound_to(ctx: Context, *people: UUID | None) -> tuple[UUID, ...]:
    """By whom a run that the caller starts is bound, of these people: by everybody else."""
    return tuple(sorted({id for id in people if id is not None and id != ctx.who.user_id}))


async def bind(op: Operation, run_id: UUID) -> Operation:
    """The operation as a run's step may act: as it is, unless a trigger started the run."""
    memory: Memory = op.services.started["workflows"]
    if memory.unbound.knows(run_id):
        return op
    async with op.begin(held=False) as ctx:
        found = await bound_rows.find_bound(ctx.db, ctx.who.org_id, run_id)
        if found is None or found.trigger_id is None:
            memory.unbound.add(run_id)
            return op
        people = await identity.list_principals(ctx.db, ctx.who.org_id, found.bound_to)
        others = tuple(people[id] for id in found.bound_to if id in people and people[id].team_id == found.team_id)
        if len(others) < len(found.bound_to):
            raise NotPermitted(
                "a person who set up this run has left the team; it goes no further than all of them may"
            )
        confined = found.fired_by is not None and await _is_hidden(ctx, others, found.fired_by)

    async def list_made(ctx: Context, things: Collection[Thing]) -> set[Thing]:
        return await bound_rows.list_made(ctx.db, ctx.who.org_id, run_id, sorted({id for _, id in things}))

    own = set() if found.fired_by is None else {(OBJECT, found.fired_by)}
    egress = found.egress and not confined
    bound = Bound(others=others, own=own, list_made=list_made, confined=confined, egress=egress)
    return msgspec.structs.replace(op, who=_within(op.who, others), bound=bound)


async def _is_hidden(ctx: Context, others: tuple[Principal, ...], object_id: UUID) -> bool:
    """Whether one of these people cannot read an object."""
    for other in others:
        if not await names_of(ctx.acting_as(other), [(OBJECT, object_id)]):
            return True
    return False


def _within(who: Principal, others: tuple[Principal, ...]) -> Principal:
    """The writer, with the permissions that all the others hold as well: also on what is the writer's own or was shared with them."""
    if not others:
        return who
    held = frozenset[str].intersection(*(other.permissions for other in others))
    scope = held if who.scope is None else held & who.scope
    return msgspec.structs.replace(who, permissions=who.permissions & held, scope=scope)

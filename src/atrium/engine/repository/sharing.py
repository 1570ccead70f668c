"""Letting others in: visibility, grants, and whom one can share with."""

from datetime import UTC, datetime
from uuid import UUID

import msgspec

from atrium.engine.repository import permissions, store
from atrium.engine.repository.model import (
    OBJECTS,
    Capability,
    ObjectGrant,
    ObjectNotSharable,
    StoredObject,
    Visibility,
)
from atrium.ground.audit import service as audit
from atrium.ground.identity import service as identity
from atrium.ground.sharing import abilities
from atrium.ground.sharing.model import PrincipalType, ThingsChanged
from atrium.ground.tenancy import service as tenancy
from atrium.kit.errors import Missing
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context

MOST_TARGETS = 1000


class Target(msgspec.Struct, frozen=True):
    """A principal that an object can be shared with."""

    principal_type: PrincipalType
    principal_id: UUID
    name: str


class ShareTargets(msgspec.Struct, frozen=True):
    """The team's people, the company's teams, and the company itself."""

    people: list[Target]
    teams: list[Target]
    org: Target


async def share_object(
    ctx: Context,
    id: UUID,
    principal_type: PrincipalType,
    principal_id: UUID,
    capability: Capability,
    expires_at: datetime | None,
) -> ObjectGrant:
    """Let a person, a team or the company in, or change how far; a private object becomes a shared one."""
    # Lock order: the grantee before the object, as in removing a member.
    known = await _exists(ctx, principal_type, principal_id)
    target = await _managed(ctx, id)
    _require_sharable(target, principal_type, principal_id, expires_at, known)
    await store.put_grant(ctx.db, ctx.who, target, principal_type, principal_id, capability, expires_at)
    await store.set_visibility(
        ctx.db, ctx.who.org_id, id, "shared" if abilities.is_private(target) else target.visibility
    )
    await audit.record(
        ctx, "repository.shared", id, principal_type=principal_type, principal=principal_id, capability=capability
    )
    await ctx.announce(ThingsChanged(OBJECTS, [id], "shared"))
    grant = await store.find_grant(ctx.db, ctx.who.org_id, id, principal_id)
    if grant is None:
        raise Missing("the grant is gone already")
    return _shown(grant)


async def unshare_object(ctx: Context, id: UUID, principal_id: UUID) -> int:
    """End every grant a principal holds on an object; how many those were."""
    target = await _managed(ctx, id)
    ended = await store.delete_grants(ctx.db, ctx.who.org_id, id, principal_id)
    if ended:
        await store.set_visibility(ctx.db, ctx.who.org_id, id, target.visibility)
        await audit.record(ctx, "repository.unshared", id, principal=principal_id)
        await ctx.announce(ThingsChanged(OBJECTS, [id], "shared"))
    return ended


async def end_grants_to(ctx: Context, person_id: UUID) -> None:
    """Withdraw every object that was shared with a person of the caller's company."""
    ended = await store.delete_grants_to(ctx.db, ctx.who.org_id, person_id)
    await ctx.announce(ThingsChanged(OBJECTS, ended, "shared"))


async def list_grants(ctx: Context, id: UUID, limit: int, cursor: str | None) -> Page[ObjectGrant]:
    """Who was let in, one entry per principal."""
    await _managed(ctx, id, lock=False)
    pager = Pager(ctx.services.keys, "grants", ctx.who.user_id, id)
    found = await store.list_grants(ctx.db, ctx.who.org_id, id, pager.read(cursor, UUID), limit + 1)
    return pager.page([_shown(grant) for grant in found], limit, lambda grant: grant.principal_id)


async def set_visibility(ctx: Context, id: UUID, visibility: Visibility) -> tuple[StoredObject, int]:
    """Who sees it besides its owner; private ends every grant, and the number says how many those were."""
    target = await _managed(ctx, id)
    ended = await store.delete_grants(ctx.db, ctx.who.org_id, id) if visibility == "private" else 0
    if visibility != target.visibility or ended:
        await store.set_visibility(ctx.db, ctx.who.org_id, id, visibility)
        await audit.record(ctx, "repository.visibility", id, visibility=visibility, ended=ended)
        await ctx.announce(ThingsChanged(OBJECTS, [id], "visibility"))
    # The caller gets the reply even when this change ended the grant or the visibility that let them manage the object.
    shown = await store.find_by_key(ctx.db, ctx.who.org_id, target.team_id, target.key)
    return shown or target, ended


async def list_share_targets(ctx: Context) -> ShareTargets:
    """The team's people, the company's teams, and the company."""
    org, _ = await tenancy.read_own(ctx)
    people = await identity.list_members(ctx, "team", MOST_TARGETS, None)
    teams = await tenancy.list_teams(ctx, org.id, MOST_TARGETS, None)
    return ShareTargets(
        people=[Target("user", one.id, one.display_name or one.username) for one in people.items],
        teams=[Target("team", one.id, one.name) for one in teams.items],
        org=Target("org", org.id, org.name),
    )


async def _managed(ctx: Context, id: UUID, *, lock: bool = True) -> StoredObject:
    target = await permissions.read_visible(ctx, id, lock=lock)
    await permissions.require(ctx, target, "manage")
    return target


def _require_sharable(
    target: StoredObject, principal_type: str, principal_id: UUID, expires_at: datetime | None, known: bool
) -> None:
    if principal_id == target.owner_id:
        raise ObjectNotSharable("this person owns the object")
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise ObjectNotSharable("expires_at is in the past", errors=[{"path": "expires_at", "message": "in the past"}])
    if not known:
        raise ObjectNotSharable(
            f"there is no such {principal_type} in your company",
            errors=[{"path": "principal_id", "message": "not in your company"}],
        )


async def _exists(ctx: Context, principal_type: str, principal_id: UUID) -> bool:
    if principal_type == "user":
        return await identity.hold_colleague(ctx, principal_id) is not None
    if principal_type == "org":
        return principal_id == ctx.who.org_id
    try:
        await tenancy.read_team(ctx, ctx.who.org_id, principal_id)
    except Missing:
        return False
    return True


def _shown(grant: ObjectGrant) -> ObjectGrant:
    return msgspec.structs.replace(grant, permissions=OBJECTS.permissions_of(grant.capability))

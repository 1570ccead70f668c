"""Letting others in: visibility, grants, and whom one can share with."""

from datetime import UTC, datetime
from typing import cast
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
from atrium.ground.sharing import grants
from atrium.ground.sharing.model import Grant, Grantee, PrincipalType
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
    await grants.give(ctx, OBJECTS, target, Grantee(principal_type, principal_id), capability, expires_at)
    await audit.record(
        ctx, "repository.shared", id, principal_type=principal_type, principal=principal_id, capability=capability
    )
    grant = await grants.find_grant(ctx, OBJECTS, id, principal_id)
    if grant is None:
        raise Missing("the grant is gone already")
    return _shown(grant)


async def unshare_object(ctx: Context, id: UUID, principal_id: UUID) -> int:
    """End every grant a principal holds on an object; how many those were."""
    target = await _managed(ctx, id)
    ended = await grants.withdraw(ctx, OBJECTS, target, principal_id)
    if ended:
        await audit.record(ctx, "repository.unshared", id, principal=principal_id)
    return ended


async def list_grants(ctx: Context, id: UUID, limit: int, cursor: str | None) -> Page[ObjectGrant]:
    """Who was let in, one entry per principal."""
    await _managed(ctx, id, lock=False)
    pager = Pager(ctx.services.keys, "grants", ctx.who.user_id, id)
    after = pager.read(cursor, UUID)
    found = await grants.list_grants(ctx, OBJECTS, id, None if after is None else (after,), limit + 1)
    return pager.page([_shown(grant) for grant in found], limit, lambda grant: grant.principal_id)


async def set_visibility(ctx: Context, id: UUID, visibility: Visibility) -> tuple[StoredObject, int]:
    """Who sees it besides its owner; private ends every grant, and the number says how many those were."""
    target = await _managed(ctx, id)
    ended = await grants.set_visibility(ctx, OBJECTS, target, visibility)
    if ended is not None:
        await audit.record(ctx, "repository.visibility", id, visibility=visibility, ended=ended)
    # The caller gets the reply even when this change ended the grant or the visibility that let them manage the object.
    shown = await store.find_by_key(ctx.db, ctx.who.org_id, target.team_id, target.key)
    return shown or target, ended or 0


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


def _shown(grant: Grant) -> ObjectGrant:
    return ObjectGrant(
        grant.principal_type,
        grant.principal_id,
        grant.name,
        cast(Capability, grant.level),
        OBJECTS.permissions_of(grant.level),
        grant.granted_by,
        grant.expires_at,
        grant.expired,
        grant.created_at,
    )

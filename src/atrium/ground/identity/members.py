"""Members: who manages whom, changing a role, and leaving with everything handed over."""

from collections.abc import Mapping
from uuid import UUID

from atrium.ground.access import service as access
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import credential_rows, role_changes, sessions, store
from atrium.ground.identity.model import (
    HeirRequired,
    LastOwner,
    Member,
    MemberRemoved,
    OperatorStays,
    OwnersOnly,
    PersonRoles,
    Private,
    RemovalReport,
    RoleChanged,
    UserMissing,
)
from atrium.kit.web.etags import require_current
from atrium.seams.context import Context, Operation

People = Mapping[UUID, PersonRoles]


async def read_managed(ctx: Context, id: UUID) -> Member:
    """A person the caller manages: of their own team, and with org:manage of any team of the company."""
    access.require(ctx, "members:manage")
    member = await store.find_member(ctx.db, ctx.who.org_id, id)
    if member is None or (member.team_id != ctx.who.team_id and "org:manage" not in ctx.who.permissions):
        raise UserMissing("there is no such person in your team")
    return member


async def hold(ctx: Context, member: Member, *others: UUID) -> People:
    """The caller, this person and the owners around them locked until commit, so that later checks use their current roles."""
    who = ctx.who
    found = await store.hold_people(ctx.db, who.org_id, member.team_id, [who.user_id, member.id, *others])
    people = {one.id: one for one in found}
    caller = people.get(who.user_id)
    if caller is None or (caller.role, caller.org_role, caller.operator) != (who.role, who.org_role, who.operator):
        raise RoleChanged("your own role changed a moment ago; reload to see what you may do")
    if member.id not in people:
        raise UserMissing("this person has just left")
    return people


def require_not_above(ctx: Context, person: PersonRoles) -> None:
    """Refuse to act on a person whose role or flags the caller could not grant."""
    role_changes.require_may_give(ctx.who, person.role, person.org_role, operator=person.operator)


async def change_role(ctx: Context, id: UUID, role: Role, if_match: str | None) -> Member:
    """Give a member another role in their team; a team keeps an owner."""
    member = await read_managed(ctx, id)
    people = await hold(ctx, member)
    require_current(if_match, people[id].etag())
    require_not_above(ctx, people[id])
    await role_changes.require_may_place(ctx, member.team_id, role)
    if role != Role.OWNER:
        _require_other_owner(people, people[id])
    changed = await store.set_role(ctx.db, ctx.who.org_id, id, role)
    if changed is None:
        raise UserMissing("this person has just left")
    by = await role_changes.token_of(ctx)
    await audit.record(ctx, "identity.role_changed", id, role=role, before=people[id].role, **by)
    return changed


async def remove_member(
    op: Operation, id: UUID, heir_id: UUID | None, private: Private, if_match: str | None
) -> RemovalReport:
    """Remove a member: once this returns nothing acts for them, and what they owned has another owner.

    Without an heir only a member of whom nothing changes its owner.
    """
    async with op.begin() as ctx:
        # Before anybody waits for this person's writes it is settled that the caller may know of them.
        member = await read_managed(ctx, id)
    async with op.begin(ending=(id,)) as ctx:
        people = await hold(ctx, member, *filter(None, [heir_id]))
        require_current(if_match, people[id].etag())
        _require_may_leave(ctx, people, people[id])
        if heir_id is not None:
            _require_heir(people, people[id], heir_id)
        if private == "transfer":
            _require_may_hand_over_private(ctx)
        return await _remove(ctx, people[id], people[heir_id] if heir_id else None, private)


async def _remove(ctx: Context, person: PersonRoles, heir: PersonRoles | None, private: Private) -> RemovalReport:
    # The row first: a concurrent sign-in either precedes it, and its session is ended below, or finds no account.
    await store.leave(ctx.db, ctx.who.org_id, person.id)
    tokens = await credential_rows.end_tokens(ctx.db, person.id)
    await sessions.end_credentials(ctx, person.id)
    await store.delete_recovery_codes(ctx.db, person.id)
    await store.delete_resets(ctx.db, ctx.who.org_id, person.id)
    event = MemberRemoved(person.id, heir.id if heir else ctx.who.user_id, private)
    await ctx.announce(event)
    if heir is None and event.notes + event.objects + event.triggers:
        # All of this is undone: only who hands things over knows whether there are any.
        raise HeirRequired(
            "say who of their team gets what they shared: transfer_to",
            errors=[{"path": "transfer_to", "message": "required"}],
        )
    removed = RemovalReport(
        person.id, event.notes, event.objects, event.trashed_notes, event.trashed_objects, tokens, event.s3_keys
    )
    await audit.record(
        ctx,
        "identity.member_removed",
        person.id,
        username=person.username,
        **({"transfer_to": heir.id, "receiver": heir.username} if heir else {}),
        private=private,
        notes=removed.notes,
        objects=removed.objects,
        trashed_notes=removed.trashed_notes,
        trashed_objects=removed.trashed_objects,
    )
    return removed


def _require_may_leave(ctx: Context, people: People, person: PersonRoles) -> None:
    require_not_above(ctx, person)
    if person.operator:
        raise OperatorStays("an operator runs the instance, and cannot be removed from it")
    _require_other_owner(people, person)
    if person.org_role == OrgRole.OWNER and not any(
        one.org_role == OrgRole.OWNER for one in people.values() if one.id != person.id
    ):
        raise LastOwner("a company always keeps an org_owner; name another one first")


def _require_other_owner(people: People, person: PersonRoles) -> None:
    owners = {one.id for one in people.values() if one.team_id == person.team_id and one.role == Role.OWNER}
    if owners == {person.id}:
        raise LastOwner("a team always keeps an owner; make another member owner first")


def _require_may_hand_over_private(ctx: Context) -> None:
    if ctx.who.org_role != OrgRole.OWNER:
        raise OwnersOnly(
            "what no other person saw is handed over by an org_owner alone; without private it goes to the person's own trash"
        )
    role_changes.require_may_give(ctx.who, org_role=OrgRole.OWNER)


def _require_heir(people: People, person: PersonRoles, heir: UUID) -> None:
    found = people.get(heir)
    if found is None or found.team_id != person.team_id or heir == person.id:
        raise HeirRequired(
            "shared items go to another member of the same team",
            errors=[{"path": "transfer_to", "message": "not a member of their team"}],
        )

"""Inviting a prospect: their company, its owner and the link with which they take it over, once."""

from uuid import UUID

import msgspec

from atrium.admin.companies import operators
from atrium.admin.hosting import store
from atrium.admin.hosting.model import DecidedProspect, NoUsername
from atrium.admin.hosting.service import LIFETIME
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import role_changes
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import PersonDraft, Username
from atrium.ground.quotas import service as quotas
from atrium.ground.tenancy import service as tenancy
from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.product.onboarding import prospects
from atrium.product.onboarding.model import Decision, Prospect
from atrium.seams.context import Operation


class Invitation(msgspec.Struct, frozen=True):
    """What an accepted prospect is invited to."""

    org: str
    team: str
    username: str | None = None


async def decide(
    op: Operation, id: UUID, decision: Decision, note: str | None, invited: Invitation | None, base_url: str
) -> DecidedProspect:
    """Decide once; with an invitation the prospect's company is founded, and the link is told to exactly one caller.

    The decision comes first, and the company has the prospect's own id. So a founding that was cut off is made up for by asking
    again, and none happens twice.
    """
    if invited is not None:
        role_changes.require_may_give(op.who, Role.OWNER, OrgRole.OWNER, founding=True)
    async with op.begin() as ctx:
        found = await prospects.decide(ctx, id, decision, note)
    token = None if invited is None else await _found(op, found, invited)
    facts = {name: getattr(found, name) for name in Prospect.__struct_fields__}
    if token is None:
        return DecidedProspect(**facts)
    return DecidedProspect(**facts, activation_url=f"{base_url}/activate#token={token}", activation_token=token)


async def _found(op: Operation, prospect: Prospect, invited: Invitation) -> str | None:
    username = _username(prospect, invited)
    async with op.begin_system() as ctx:
        await store.lock_founding(ctx.db, prospect.id)
        if await tenancy.exists_org(ctx, prospect.id):
            return None
        await tenancy.require_capacity(ctx)
        org = await tenancy.create_org(ctx, invited.org, id=prospect.id)
        team = await tenancy.create_team(ctx, org, invited.team)
        draft = PersonDraft(username=username, role=Role.OWNER, org_role=OrgRole.OWNER)
        owner = await identity.create_person(ctx, org, team, draft)
        plan = op.services.settings.plans.find(org.plan)
        await quotas.apply_plan(ctx, org.id, plan.caps if plan else {})
        raw = new_token("activation")
        await store.replace_activation(ctx.db, org.id, owner.id, digest_of(raw.encode()), LIFETIME)
        await audit.record(
            operators.enter_company(ctx, org, team), "companies.created", org.id, slug=org.slug, plan=org.plan
        )
    return raw


def _username(prospect: Prospect, invited: Invitation) -> str:
    """The name that is given, else the address of the prospect when it can be one."""
    address = next((text for text in prospect.fields.values() if isinstance(text, str) and "@" in text), "")
    wanted = invited.username or address
    try:
        return msgspec.convert(wanted, Username)
    except msgspec.ValidationError as error:
        raise NoUsername(
            "this address cannot be a username; say which one the owner gets",
            errors=[{"path": "invite.username", "message": "missing"}],
        ) from error

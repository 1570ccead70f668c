"""The wire of hosting."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.admin.hosting import invitations, service
from atrium.admin.hosting.invitations import Invitation
from atrium.admin.hosting.model import DecidedProspect, Provisioned, TenantState
from atrium.ground.identity.credential_model import Session
from atrium.ground.identity.model import CurrentPassword, NewPassword, Username
from atrium.ground.quotas.model import Limit, LimitChange
from atrium.ground.tenancy.model import Name
from atrium.kit.errors import Invalid
from atrium.product.onboarding.model import Decision, Note
from atrium.seams.context import Operation
from atrium.seams.routes import Created, Host, SignedIn


class NewTenant(msgspec.Struct, forbid_unknown_fields=True):
    """The tenant's owner and the names of its company and team."""

    username: Username
    org: Name
    team: Name = "General"


async def provision_owner(op: Operation, body: NewTenant, *, host: Host | None = None) -> Created[Provisioned]:
    """Provision exactly one owner, with a link to take the workspace over."""
    return Created(await service.provision(op, body.username, body.org, body.team, _base_url(op, host)))


class Activation(msgspec.Struct, forbid_unknown_fields=True):
    """The link's token and the password to set."""

    token: Annotated[str, msgspec.Meta(max_length=200)]
    password: NewPassword


async def activate_owner(op: Operation, body: Activation) -> SignedIn[Session]:
    """Redeem an activation link and set the owner's password."""
    return SignedIn(await service.activate(op, body.token, body.password))


async def suspend_tenant(op: Operation) -> TenantState:
    """Suspend the tenant: reading works, writing answers 402."""
    return await service.set_suspended(op, True)


async def resume_tenant(op: Operation) -> TenantState:
    """Resume the tenant."""
    return await service.set_suspended(op, False)


async def set_tenant_quota(op: Operation, body: LimitChange) -> Limit:
    """Set a quota limit for the tenant's team."""
    return await service.set_quota(op, body.dimension, body.window, body.limit)


class Invite(msgspec.Struct, forbid_unknown_fields=True):
    """The company to found for an accepted prospect; the owner's username is their address unless it is given."""

    org: Name
    team: Name = "General"
    username: Username | None = None


class ProspectDecision(msgspec.Struct, forbid_unknown_fields=True):
    """What becomes of a prospect; operators may invite one they accept."""

    __example__ = {"decision": "accept", "note": "Met them at the fair"}

    decision: Decision
    note: Note | None = None
    invite: Invite | msgspec.UnsetType | None = msgspec.UNSET
    password: CurrentPassword | None = None


async def decide_prospect(
    op: Operation, id: UUID, body: ProspectDecision, *, host: Host | None = None
) -> DecidedProspect:
    """Accept or decline who signed up, once; an invitation founds their company and answers with the owner's link."""
    sent = body.invite if isinstance(body.invite, Invite) else None
    invited = None if sent is None else Invitation(sent.org, sent.team, sent.username)
    if invited is not None and body.decision != "accept":
        raise Invalid(
            "only an accepted prospect is invited", errors=[{"path": "invite", "message": "not with decline"}]
        )
    return await invitations.decide(op, id, body.decision, body.note, invited, _base_url(op, host))


def _base_url(op: Operation, host: str | None) -> str:
    scheme = "https" if op.secure else "http"
    return op.services.settings.base_url or f"{scheme}://{host or 'localhost'}"

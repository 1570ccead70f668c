"""The wire of hosting."""

from typing import Annotated

import msgspec

from atrium.admin.hosting import service
from atrium.admin.hosting.model import Provisioned, TenantState
from atrium.ground.identity.model import NewPassword, Session, Username
from atrium.ground.quotas.model import Limit, LimitChange
from atrium.ground.tenancy.model import Name
from atrium.seams.context import Operation
from atrium.seams.routes import Created, Host, SignedIn


class NewTenant(msgspec.Struct, forbid_unknown_fields=True):
    """The tenant's owner and the names of its company and team."""

    username: Username
    org: Name
    team: Name = "General"


async def provision_owner(op: Operation, body: NewTenant, *, host: Host | None = None) -> Created[Provisioned]:
    """Provision exactly one owner, with a link to take the workspace over."""
    scheme = "https" if op.secure else "http"
    base_url = op.services.settings.base_url or f"{scheme}://{host or 'localhost'}"
    return Created(await service.provision(op, body.username, body.org, body.team, base_url))


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

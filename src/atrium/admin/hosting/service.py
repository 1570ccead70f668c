"""The verbs of hosting; the gate has checked the provisioning token."""

from datetime import timedelta

import msgspec

from atrium.admin.hosting import store
from atrium.admin.hosting.model import AlreadyProvisioned, LinkRefused, NotProvisioned, Provisioned, TenantState
from atrium.admin.instance import service as instance
from atrium.ground.audit import service as audit
from atrium.ground.identity import passwords
from atrium.ground.identity import service as identity
from atrium.ground.identity.credential_model import Session
from atrium.ground.identity.model import Account, Person
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Dimension, Limit, Window
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import CompanyDraft
from atrium.kit.crypto.tokens import digest_of, is_well_formed, new_token
from atrium.seams.context import Context, Operation

LIFETIME = timedelta(days=7)


async def provision(op: Operation, username: str, org: str, team: str, base_url: str) -> Provisioned:
    """Create the tenant and its one owner; repeated before they took over, a fresh link replaces the old."""
    async with op.begin_system() as ctx:
        tenant = (await tenancy.read_instance(ctx)).founding
        account = await _owner_of(ctx, tenant) if tenant else await instance.found_tenant(ctx, username, org, team)
        if account.username.lower() != username.lower() or account.password_hash is not None:
            raise AlreadyProvisioned("this instance has its owner")
        raw = new_token("activation")
        await store.replace_activation(ctx.db, account.org_id, account.id, digest_of(raw.encode()), LIFETIME)
        await audit.record(_as_host(ctx, account), "hosting.provisioned", account.id, username=account.username)
    person = Person(account.id, account.username, account.display_name)
    return Provisioned(person, f"{base_url}/activate#token={raw}", raw)


async def activate(op: Operation, token: str, password: str) -> Session:
    """Redeem the link once: set the owner's password and sign them in."""
    digest = digest_of(token.encode())
    async with op.begin_system() as ctx:
        if not is_well_formed(token.encode()) or not await store.is_redeemable(ctx.db, digest):
            raise LinkRefused("this link is unknown, was used, or is older than a week; ask for a new one")
    passwords.require_strong(password, "")
    hashed = await op.services.passwords.hash(password)
    async with op.begin_system() as ctx:
        user_id = await store.redeem(ctx.db, digest)
        if user_id is None:
            raise LinkRefused("this link was used a moment ago")
        account = await identity.take_over(ctx, user_id, hashed)
        await audit.record(_as_host(ctx, account), "hosting.activated", user_id)
        return await identity.open_session_for(ctx, account)


async def set_suspended(op: Operation, suspended: bool) -> TenantState:
    """Stop or allow all writing; it holds from the next request in every process."""
    async with op.begin_system() as ctx:
        tenant = await _tenant(ctx)
        await tenancy.suspend_instance(ctx, suspended)
        await audit.record(
            _as_host(ctx, tenant), "hosting.suspended" if suspended else "hosting.resumed", tenant.org_id
        )
    return TenantState(suspended)


async def set_quota(op: Operation, dimension: Dimension, window: Window, limit: int | None) -> Limit:
    """Set or clear a limit for the tenant's team."""
    async with op.begin_system() as ctx:
        tenant = await _tenant(ctx)
        return await quotas.set_limit(_as_host(ctx, tenant), tenant.org_id, tenant.team_id, dimension, window, limit)


async def _tenant(ctx: Context) -> CompanyDraft:
    tenant = (await tenancy.read_instance(ctx)).founding
    if tenant is None:
        raise NotProvisioned("provision the tenant first: POST /api/provision")
    return tenant


async def _owner_of(ctx: Context, tenant: CompanyDraft) -> Account:
    return await identity.read_account_of(ctx, tenant.operator_id)


def _as_host(ctx: Context, tenant: CompanyDraft | Account) -> Context:
    # The host has no account here; its events stand in the tenant's trail under the nil actor.
    return ctx.acting_as(msgspec.structs.replace(ctx.who, org_id=tenant.org_id, team_id=tenant.team_id))

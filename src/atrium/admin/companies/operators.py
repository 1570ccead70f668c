"""The operators' plane: found, look at, change, suspend any company. Every verb works in a system transaction."""

import msgspec

from atrium.admin.companies.model import (
    ChangedCompany,
    Company,
    CompanyPage,
    CompanyRecord,
    DemoOff,
    DomainProof,
    FoundedCompany,
    UnknownPlan,
)
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import passwords, role_changes, sessions
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import Person, PersonDraft, Place
from atrium.ground.quotas import service as quotas
from atrium.ground.quotas.model import Dimension, Limit, Window
from atrium.ground.tenancy import domains
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import Org, Team
from atrium.kit.web.etags import require_current
from atrium.kit.web.pages import Page
from atrium.seams.context import Context, Operation

DEMO = (("demo-bakery", "Demo Bakery", "baker"), ("demo-shipping", "Demo Shipping", "captain"))
DEMO_PASSWORD = "demo-password"  # noqa: S105 - known on purpose, and refused unless SERVICE_DEMO is set
_TEAMS_SHOWN = 200


async def create_company(
    op: Operation, name: str, slug: str | None, plan: str, username: str, password: str | None, team_name: str
) -> FoundedCompany:
    """Found a company with its first team and its owner; an explicit slug is a natural key."""
    role_changes.require_may_give(op.who, Role.OWNER, OrgRole.OWNER, founding=True)
    caps = _caps_of(op, plan)
    if password is not None:
        passwords.require_strong(password, username)
    hashed = await op.services.passwords.hash(password) if password is not None else None
    async with op.begin_system() as ctx:
        await tenancy.require_capacity(ctx)
        org = await tenancy.create_org(ctx, name, slug, plan)
        team = await tenancy.create_team(ctx, org, team_name)
        draft = PersonDraft(username=username, role=Role.OWNER, org_role=OrgRole.OWNER, password_hash=hashed)
        owner = await identity.create_person(ctx, org, team, draft)
        first = None if hashed else await sessions.open_first_session(ctx, owner.id, team.id, org.id)
        await quotas.apply_plan(ctx, org.id, caps)
        await audit.record(enter_company(ctx, org, team), "companies.created", org.id, slug=org.slug, plan=plan)
    person = Person(owner.id, owner.username, owner.display_name)
    if first is None:
        return FoundedCompany(company_view(org), Place(team.id, team.name), person)
    return FoundedCompany(company_view(org), Place(team.id, team.name), person, first.token, first.expires_at)


async def list_companies(op: Operation, search: str | None, limit: int, cursor: str | None) -> Page[Company]:
    """Every company, oldest first."""
    async with op.begin_system() as ctx:
        page = await tenancy.list_orgs(ctx, search, limit, cursor)
    return Page([company_view(org) for org in page.items], page.next_cursor)


async def read_company(op: Operation, ref: str) -> CompanyRecord:
    """One company with its teams and limits."""
    async with op.begin_system() as ctx:
        return await _record_of(ctx, await tenancy.read_org(ctx, ref))


async def change_company(
    op: Operation,
    ref: str,
    name: str | None,
    plan: str | None,
    domain: str | msgspec.UnsetType | None,
    waive_proof: bool,
    if_match: str | None,
) -> ChangedCompany:
    """Rename, re-plan, or give a hostname, with `if_match` only as it was read; a plan brings its caps, what was set by hand stays."""
    caps = None if plan is None else _caps_of(op, plan)
    kept: list[Limit] = []
    async with op.begin_system() as ctx:
        org = await tenancy.read_org(ctx, ref)
    verified = await _is_proven(op, org, domain, waive_proof)
    async with op.begin_system() as ctx:
        await tenancy.lock_org(ctx, org)
        if if_match is not None:
            require_current(if_match, (await _record_of(ctx, await tenancy.read_org(ctx, str(org.id)))).etag())
        acting = enter_company(ctx, org, None)
        if name is not None:
            await tenancy.rename_org(ctx, org, name)
            await audit.record(acting, "companies.renamed", org.id, name=name)
        if plan is not None and caps is not None:
            await tenancy.set_plan(ctx, org, plan)
            kept = await quotas.apply_plan(ctx, org.id, caps)
            await audit.record(acting, "companies.plan_changed", org.id, plan=plan, kept=len(kept))
        if domain is not msgspec.UNSET:
            await _set_domain(acting, org, domain, verified)
        record = await _record_of(ctx, await tenancy.read_org(ctx, str(org.id)))
    fields = {name: getattr(record, name) for name in CompanyRecord.__struct_fields__}
    return ChangedCompany(**fields, kept_limits=kept)


async def suspend_company(op: Operation, ref: str, suspended: bool) -> Company:
    """Make every team of a company read-only, or writable again; it holds from the next request in every process."""
    async with op.begin_system() as ctx:
        org = await tenancy.read_org(ctx, ref)
        await tenancy.set_suspended(ctx, org, suspended)
        await audit.record(
            enter_company(ctx, org, None), "companies.suspended" if suspended else "companies.resumed", org.id
        )
        return company_view(await tenancy.read_org(ctx, str(org.id)))


async def set_quota(op: Operation, ref: str, dimension: Dimension, window: Window, limit: int | None) -> Limit:
    """Set or clear a limit on the whole company; its teams nest beneath."""
    async with op.begin_system() as ctx:
        org = await tenancy.read_org(ctx, ref)
        return await quotas.set_limit(enter_company(ctx, org, None), org.id, org.id, dimension, window, limit)


async def seed_demo(op: Operation) -> list[Company]:
    """Two companies with known passwords, for looking around; made once, found again after."""
    if not op.services.settings.demo:
        raise DemoOff("demo companies have known passwords; start the server with SERVICE_DEMO=1 to allow them")
    async with op.begin_system() as ctx:
        await tenancy.require_capacity(ctx)
    made = []
    for slug, name, owner in DEMO:
        async with op.begin_system() as ctx:
            known = await tenancy.find_org(ctx, slug)
        if known is not None:
            made.append(company_view(known))
        else:
            made.append((await create_company(op, name, slug, "team", f"demo-{owner}", DEMO_PASSWORD, "Everyone")).org)
    return made


def _caps_of(op: Operation, name: str) -> dict[tuple[str, str], int]:
    plans = op.services.settings.plans
    plan = plans.find(name)
    if plan is None:
        known = ", ".join(one.name for one in plans)
        raise UnknownPlan(
            f"there is no plan {name}; this server has {known}", errors=[{"path": "plan", "message": "unknown plan"}]
        )
    return plan.caps


def company_view(org: Org) -> Company:
    """A company as the planes show it."""
    waiting = org.domain is not None and not org.domain_verified and org.domain_proof is not None
    proof = DomainProof(f"{domains.LABEL}.{org.domain}", org.domain_proof or "") if waiting else None
    return Company(
        id=org.id, slug=org.slug, name=org.name, plan=org.plan, domain=org.domain, domain_verified=org.domain_verified,
        proof=proof, suspended=org.suspended_at is not None, suspended_at=org.suspended_at, created_at=org.created_at,
    )  # fmt: skip


def enter_company(ctx: Context, org: Org, team: Team | None) -> Context:
    """The operator acting inside a company: its audit trail gets the event, under the operator's name."""
    return ctx.acting_as(msgspec.structs.replace(ctx.who, org_id=org.id, team_id=team.id if team else org.id))


async def page_of(ctx: Context, org: Org) -> CompanyPage:
    """A company with its first teams, its limits and what it has used."""
    teams = await tenancy.list_teams(ctx, org.id, _TEAMS_SHOWN, None)
    limits = await quotas.list_limits(ctx, org.id, org.id)
    usage = await quotas.read_company_usage(ctx, org.id)
    fields = {name: getattr(company_view(org), name) for name in Company.__struct_fields__}
    places = [Place(team.id, team.name) for team in teams.items]
    return CompanyPage(**fields, teams=places, quotas=limits, usage=usage)


async def _record_of(ctx: Context, org: Org) -> CompanyRecord:
    page = await page_of(ctx, org)
    return CompanyRecord(**{name: getattr(page, name) for name in CompanyPage.__struct_fields__})


async def _is_proven(op: Operation, org: Org, domain: str | msgspec.UnsetType | None, waive: bool) -> bool:
    settings = op.services.settings
    if domain is None or domain is msgspec.UNSET or waive or not settings.domain_proof:
        return True
    name = domains.canonical(domain)
    if org.domain != name or org.domain_proof is None:
        return False
    return await domains.is_proven(name, org.domain_proof, [part for part in settings.dns_servers.split(",") if part])


async def _set_domain(acting: Context, org: Org, domain: str | None, verified: bool) -> None:
    name = None if domain is None else domains.canonical(domain)
    proof = None if verified else (org.domain_proof if org.domain == name else domains.new_proof())
    await tenancy.set_domain(acting, org, name, verified=verified and name is not None, proof=proof)
    await audit.record(acting, "companies.domain_set", org.id, domain=name, verified=verified)

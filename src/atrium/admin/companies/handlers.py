"""The wire of companies."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.admin.companies import operators, service
from atrium.admin.companies.model import (
    AddedPerson,
    ChangedCompany,
    ChangedOrgRole,
    Company,
    CompanyPage,
    CompanyRecord,
    FoundedCompany,
)
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.identity.model import CurrentPassword, DisplayName, NewPassword, Username
from atrium.ground.quotas.model import Limit, LimitChange
from atrium.ground.tenancy.model import Name, Slug, Team
from atrium.kit.web.pages import Cursor, Page
from atrium.kit.web.pages import Limit as PageSize
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Created, IfMatch

PlanName = Annotated[str, msgspec.Meta(min_length=1, max_length=63)]
Search = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class NewOwner(msgspec.Struct, forbid_unknown_fields=True):
    """The company's first person; without a password they get a first token."""

    username: Username
    password: NewPassword | None = None


class NewCompany(msgspec.Struct, forbid_unknown_fields=True):
    """A company to found; an explicit slug is a natural key."""

    name: Name
    owner: NewOwner
    slug: Slug | None = None
    plan: PlanName = "unlimited"
    team: Name = "General"
    password: CurrentPassword | None = None


async def create_company(op: Operation, body: NewCompany) -> Created[FoundedCompany]:
    """Create a company: the company itself, its first team and its owner."""
    owner = body.owner
    return Created(
        await operators.create_company(op, body.name, body.slug, body.plan, owner.username, owner.password, body.team)
    )


async def list_companies(
    op: Operation, *, q: Search | None = None, limit: PageSize = 50, cursor: Cursor | None = None
) -> Page[Company]:
    """Every company; `q` searches names and slugs."""
    return await operators.list_companies(op, q, limit, cursor)


async def suspend_company(op: Operation, ref: str) -> Company:
    """Suspend a company by id or slug: its teams become read-only."""
    return await operators.suspend_company(op, ref, True)


async def resume_company(op: Operation, ref: str) -> Company:
    """Resume a company by id or slug."""
    return await operators.suspend_company(op, ref, False)


async def set_company_quota(op: Operation, ref: str, body: LimitChange) -> Limit:
    """Set a limit for a company; its teams nest beneath."""
    return await operators.set_quota(op, ref, body.dimension, body.window, body.limit)


async def read_company(op: Operation, ref: str) -> CompanyRecord:
    """A company with its teams and quotas."""
    return await operators.read_company(op, ref)


class CompanyChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay. `domain: null` clears; `waive_proof` takes the operator's word for it."""

    name: Name | None = None
    plan: PlanName | None = None
    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=253)] | msgspec.UnsetType | None = msgspec.UNSET
    waive_proof: bool = False
    password: CurrentPassword | None = None


async def change_company(
    op: Operation, ref: str, body: CompanyChange, *, if_match: IfMatch | None = None
) -> ChangedCompany:
    """Rename a company, change its plan, set or clear its hostname."""
    return await operators.change_company(op, ref, body.name, body.plan, body.domain, body.waive_proof, if_match)


async def seed_companies(op: Operation) -> Page[Company]:
    """Seed two demo companies with known passwords; needs SERVICE_DEMO=1."""
    return Page(await operators.seed_demo(op))


async def read_own_company(ctx: Context) -> CompanyPage:
    """The caller's company."""
    return await service.read_own_company(ctx)


async def list_teams(ctx: Context, *, limit: PageSize = 50, cursor: Cursor | None = None) -> Page[Team]:
    """The company's teams."""
    return await service.list_teams(ctx, limit, cursor)


class NewTeam(msgspec.Struct, forbid_unknown_fields=True):
    """A team to make."""

    name: Name


async def create_team(ctx: Context, body: NewTeam) -> Created[Team]:
    """Create a team in the company."""
    return Created(await service.create_team(ctx, body.name))


class NewPerson(msgspec.Struct, forbid_unknown_fields=True):
    """A person to add; without a team, to the caller's own."""

    username: Username
    role: Role = Role.MEMBER
    team_id: UUID | None = None
    org_role: OrgRole | None = None
    display_name: DisplayName = ""
    password: CurrentPassword | None = None


async def add_person(ctx: Context, body: NewPerson) -> Created[AddedPerson]:
    """Add a person to a team of the company, optionally with a company role."""
    return Created(
        await service.add_person(ctx, body.username, body.team_id, body.role, body.org_role, body.display_name)
    )


class OrgRoleChange(msgspec.Struct, forbid_unknown_fields=True):
    """The role in the company; null takes it away."""

    org_role: OrgRole | None
    password: CurrentPassword | None = None


async def set_org_role(
    ctx: Context, id: UUID, body: OrgRoleChange, *, if_match: IfMatch | None = None
) -> ChangedOrgRole:
    """Set or clear a person's role in the company; never one's own."""
    return await service.set_org_role(ctx, id, body.org_role, if_match)

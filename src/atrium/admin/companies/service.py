"""A company's own plane: its teams, its people and their roles in the company."""

from uuid import UUID

from atrium.admin.companies.model import AddedPerson, ChangedOrgRole, CompanyPage, OwnRole
from atrium.admin.companies.operators import page_of
from atrium.ground.access.model import OrgRole, Role
from atrium.ground.audit import service as audit
from atrium.ground.identity import members, role_changes, sessions
from atrium.ground.identity import service as identity
from atrium.ground.identity.model import PersonDraft, Place
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import Team
from atrium.kit.web.etags import require_current
from atrium.kit.web.pages import Page
from atrium.seams.context import Context


async def read_own_company(ctx: Context) -> CompanyPage:
    """The caller's company with its teams and limits."""
    org, _ = await tenancy.read_own(ctx)
    return await page_of(ctx, org)


async def list_teams(ctx: Context, limit: int, cursor: str | None) -> Page[Team]:
    """The company's teams."""
    return await tenancy.list_teams(ctx, ctx.who.org_id, limit, cursor)


async def create_team(ctx: Context, name: str) -> Team:
    """Add a team to the company."""
    org, _ = await tenancy.read_own(ctx)
    team = await tenancy.create_team(ctx, org, name)
    await audit.record(ctx, "companies.team_created", team.id, name=name)
    return team


async def add_person(
    ctx: Context, username: str, team_id: UUID | None, role: Role, org_role: OrgRole | None, display_name: str
) -> AddedPerson:
    """Add a person to any team of the company, optionally with a role in the company."""
    org, own = await tenancy.read_own(ctx)
    team = own if team_id is None else await tenancy.read_team(ctx, org.id, team_id)
    await role_changes.require_may_place(ctx, team.id, role, org_role)
    person = PersonDraft(username=username, role=role, display_name=display_name, org_role=org_role)
    member = await identity.create_person(ctx, org, team, person)
    issued = await sessions.open_first_session(ctx, member.id, team.id, org.id)
    facts = {"username": username, "team": team.id, "role": role, "org_role": org_role}
    await audit.record(ctx, "companies.person_added", member.id, **facts, **await role_changes.token_of(ctx))
    return AddedPerson(member, Place(team.id, team.name), issued.token, issued.expires_at)


async def set_org_role(ctx: Context, user_id: UUID, org_role: OrgRole | None, if_match: str | None) -> ChangedOrgRole:
    """Set or clear a person's role in the company; never one's own, and owners are named and removed by owners only."""
    if user_id == ctx.who.user_id:
        raise OwnRole("another company admin has to change your role")
    person = (await members.hold(ctx, await identity.read_colleague(ctx, user_id)))[user_id]
    require_current(if_match, person.etag())
    for named in (person.org_role, org_role):
        role_changes.require_may_give(ctx.who, org_role=named)
    await identity.set_org_role(ctx, user_id, org_role)
    by = await role_changes.token_of(ctx)
    await audit.record(ctx, "companies.role_set", user_id, org_role=org_role, before=person.org_role, **by)
    return ChangedOrgRole(user_id, org_role, (await identity.read_colleague(ctx, user_id)).revision)

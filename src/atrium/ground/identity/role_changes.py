"""Role changes: the one place that decides who may give whom a role, a role in the company, the operator's flag or a scope."""

from typing import NoReturn
from uuid import UUID

from atrium.ground.access.model import (
    HOSTED_OWNER,
    INSTANCE_ROLES,
    ORG_ROLES,
    PERMISSIONS,
    ROLES,
    OrgRole,
    Role,
    permissions_of,
)
from atrium.ground.features.model import idle_permissions
from atrium.ground.identity import credential_rows, store
from atrium.ground.identity.credential_model import ScopeTooWide
from atrium.ground.identity.model import OwnersOnly, RoleChanged, RoleTooHigh
from atrium.ground.tenancy import service as tenancy
from atrium.kit.errors import Forbidden, Invalid
from atrium.seams.context import Context, Principal


def require_may_give(
    who: Principal,
    role: str | None = None,
    org_role: str | None = None,
    *,
    operator: bool = False,
    founding: bool = False,
) -> None:
    """Refuse unless the caller holds, with the credential they came with, everything that is given.

    Taking something away needs the same. Owners are made by owners, company owners by company owners; an operator who
    founds a company names its first.
    """
    if operator and not who.operator:
        raise RoleTooHigh("only an operator may do this to an operator of the instance")
    if role == Role.OWNER and not (who.role == Role.OWNER or who.operator):
        raise RoleTooHigh(f"your own role is {who.role}; only an owner of a team makes, changes or removes owners")
    if org_role == OrgRole.OWNER and not (who.org_role == OrgRole.OWNER or (founding and who.operator)):
        raise OwnersOnly("only an org_owner may name, change or remove an org_owner")
    given = (ROLES[role] if role else frozenset()) | ORG_ROLES[org_role]
    if who.hosted and org_role == OrgRole.OWNER:
        given |= HOSTED_OWNER
    if operator:
        given = permissions_of(Role.VIEWER, None, True, None)
    if beyond := sorted(given - who.permissions):
        _refuse(who, " and ".join(filter(None, (role, org_role))), given, beyond)


async def require_may_place(ctx: Context, team_id: UUID, role: Role, org_role: OrgRole | None = None) -> None:
    """Refuse unless the caller may give this role in this team; some roles exist in the instance's first team alone.

    The caller's row is locked until commit: a concurrent change of their role is either seen here or happens afterwards.
    """
    await require_unchanged(ctx)
    if role in INSTANCE_ROLES and not await _is_first(ctx, team_id):
        raise Forbidden(f"{role} exists only in the instance's first team, which keeps the catalogs")
    require_may_give(ctx.who, role, org_role)


async def _is_first(ctx: Context, team_id: UUID) -> bool:
    founding = (await tenancy.read_instance(ctx)).founding
    return founding is not None and founding.team_id == team_id


async def require_unchanged(ctx: Context) -> None:
    """Refuse when the caller is no longer what they were when they asked, and keep them so until the commit."""
    who = ctx.who
    held = await store.hold_standing(ctx.db, who.org_id, who.user_id)
    if held is None or (held.role, held.org_role, held.operator) != (who.role, who.org_role, who.operator):
        raise RoleChanged("your own role changed a moment ago; reload to see what you may do")


async def token_of(ctx: Context) -> dict[str, str]:
    """Facts of an event that name the API token by which something is given that may outlive the token; none for a person's session."""
    who = ctx.who
    if who.credential != "token":
        return {}
    token = await credential_rows.find_token(ctx.db, who.org_id, who.team_id, who.credential_id)
    return {"token": str(who.credential_id), "token_name": "" if token is None else token.name}


def narrowed_scope(who: Principal, scope: list[str] | None) -> list[str] | None:
    """A scope for a new credential, at most as wide as the caller's role, scope and features together."""
    usable = who.permissions - idle_permissions(who.features)
    if scope is None:
        return None if who.scope is None else sorted(usable)
    if unknown := set(scope) - PERMISSIONS:
        raise Invalid(
            f"unknown permissions: {', '.join(sorted(unknown))}",
            errors=[{"path": "scope", "message": "unknown permission"}],
        )
    if beyond := sorted(set(scope) - who.permissions):
        raise ScopeTooWide(f"you do not hold {', '.join(beyond)} yourself", beyond=beyond)
    if idle := sorted(set(scope) - usable):
        raise ScopeTooWide(f"your team has turned off what {', '.join(idle)} would be for", beyond=idle)
    return sorted(set(scope))


def _refuse(who: Principal, name: str, given: frozenset[str], beyond: list[str]) -> NoReturn:
    if given <= permissions_of(who.role, who.org_role, who.operator, None, who.hosted):
        raise ScopeTooWide(f"this token has fewer permissions than {name}: it lacks {', '.join(beyond)}", beyond=beyond)
    raise RoleTooHigh(f"your own role has fewer permissions than {name}: it lacks {', '.join(beyond)}", beyond=beyond)

"""Permissions, and the roles that bundle them."""

from enum import StrEnum
from functools import lru_cache

from atrium.kit.errors import Forbidden

NOTES = frozenset({"notes:read", "notes:write", "notes:delete", "notes:manage"})
LOCALIZATION = frozenset({"localization:read", "localization:manage", "localization:translate", "localization:review"})
PERMISSIONS = (
    NOTES
    | LOCALIZATION
    | {
        "files:read",
        "files:write",
        "files:delete",
        "files:manage",
        "workflows:read",
        "workflows:write",
        "workflows:run",
    }
    | {
        "instance:manage",
        "members:manage",
        "org:read",
        "org:manage",
        "settings:manage",
        "chat:use",
        "jobs:execute",
        "search",
    }
)

_VIEWER = frozenset({"notes:read", "files:read", "search", "workflows:read"})
_MEMBER = _VIEWER | {"notes:write", "notes:delete", "files:write", "files:delete", "chat:use", "workflows:run"}
_ADMIN = _MEMBER | {"notes:manage", "files:manage", "workflows:write", "settings:manage", "members:manage"}


class Role(StrEnum):
    """What a person is in their team."""

    VIEWER = "viewer"
    TRANSLATOR = "translator"
    REVIEWER = "reviewer"
    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"


class OrgRole(StrEnum):
    """What a person is in their company."""

    READER = "org_reader"
    ADMIN = "org_admin"
    OWNER = "org_owner"


ROLES: dict[str, frozenset[str]] = {
    Role.VIEWER: _VIEWER,
    Role.TRANSLATOR: _VIEWER | {"localization:read", "localization:translate"},
    Role.REVIEWER: _VIEWER | {"localization:read", "localization:review"},
    Role.MEMBER: _MEMBER,
    Role.ADMIN: _ADMIN,
    Role.OWNER: _ADMIN,
}
# What the credential of a pull executor may do. It is not a role: a credential that claims jobs can do nothing else.
WORKER = frozenset({"jobs:execute"})
# What the owner of a hosted tenant holds besides, for their own instance: its look, its languages, its machines. Companies, limits and
# metrics stay with the host.
HOSTED_OWNER = frozenset({"instance:manage", "localization:manage"})
# The catalogs belong to the instance, so these roles exist only in its first team.
INSTANCE_ROLES = frozenset({Role.TRANSLATOR, Role.REVIEWER})
ORG_ROLES: dict[str | None, frozenset[str]] = {
    None: frozenset(),
    OrgRole.READER: frozenset({"org:read"}),
    OrgRole.ADMIN: frozenset({"org:read", "org:manage"}),
    OrgRole.OWNER: frozenset({"org:read", "org:manage"}),
}


class NotPermitted(Forbidden):
    """The caller's role, or the scope of their token, lacks the permission."""

    code = "access.permission_missing"
    title = "Not permitted"


class ReadsOnly(Forbidden):
    """A change was tried on behalf of a request that only reads."""

    code = "access.reads_only"
    title = "This request only reads"


class ReadersRefused(Forbidden):
    """What others can read would be written on behalf of a run that has read what not all of them can."""

    code = "workflows.readers"
    title = "Others can read this"


@lru_cache(maxsize=4096)
def permissions_of(
    role: str, org_role: str | None, operator: bool, scope: tuple[str, ...] | None, hosted: bool = False
) -> frozenset[str]:
    """What a role may do, narrowed by a token's scope; `hosted` is an instance that a host runs for one company."""
    held = PERMISSIONS - WORKER if operator else ROLES[role] | ORG_ROLES[org_role]
    if hosted and org_role == OrgRole.OWNER:
        held |= HOSTED_OWNER
    return held if scope is None else held.intersection(scope)

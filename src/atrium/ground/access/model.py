"""Permissions, the roles that bundle them, and the shape of anything that can be owned."""

from enum import StrEnum
from functools import lru_cache
from typing import Protocol
from uuid import UUID

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
    """What a person is in their team, weakest first."""

    WORKER = "worker"
    VIEWER = "viewer"
    TRANSLATOR = "translator"
    REVIEWER = "reviewer"
    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"


class OrgRole(StrEnum):
    """What a person is in their company, weakest first."""

    READER = "org_reader"
    ADMIN = "org_admin"
    OWNER = "org_owner"


ROLES: dict[str, frozenset[str]] = {
    Role.WORKER: frozenset({"jobs:execute"}),
    Role.VIEWER: _VIEWER,
    Role.TRANSLATOR: _VIEWER | {"localization:read", "localization:translate"},
    Role.REVIEWER: _VIEWER | {"localization:read", "localization:review"},
    Role.MEMBER: _MEMBER,
    Role.ADMIN: _ADMIN,
    Role.OWNER: _ADMIN,
}
# The catalogs belong to the instance, so these roles exist only in its first team.
INSTANCE_ROLES = frozenset({Role.TRANSLATOR, Role.REVIEWER})
ORG_ROLES: dict[str | None, frozenset[str]] = {
    None: frozenset(),
    OrgRole.READER: frozenset({"org:read"}),
    OrgRole.ADMIN: frozenset({"org:read", "org:manage"}),
    OrgRole.OWNER: frozenset({"org:read", "org:manage"}),
}
_RANKS = {role: rank for rank, role in enumerate(Role)}


class NotPermitted(Forbidden):
    """The caller's role, or the scope of their token, does not reach this far."""

    code = "access.permission_missing"
    title = "Not permitted"


class Resource(Protocol):
    """Anything with an owner."""

    @property
    def owner_id(self) -> UUID:
        """Whose it is."""


@lru_cache(maxsize=4096)
def permissions_of(role: str, org_role: str | None, operator: bool, scope: tuple[str, ...] | None) -> frozenset[str]:
    """What a role may do, narrowed by a token's scope."""
    held = PERMISSIONS if operator else ROLES[role] | ORG_ROLES[org_role]
    return held if scope is None else held.intersection(scope)


def outranks(role: Role, other: Role) -> bool:
    """Whether the first role is above the second."""
    return _RANKS[role] > _RANKS[other]

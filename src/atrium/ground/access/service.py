"""Yes or no. A caller who may not see a thing is told it is missing, never that it is forbidden."""

from collections.abc import Collection

from atrium.ground.access.model import NotPermitted, Resource
from atrium.seams.context import Acting


def require(acting: Acting, permission: str) -> None:
    """Refuse unless the caller's role and token hold the permission."""
    acting.checked.add(permission)
    if permission not in acting.who.permissions:
        raise NotPermitted(f"this needs the permission {permission}", permission=permission)


def require_on(acting: Acting, resource: Resource, permission: str, granted: Collection[str], *, by_role: bool) -> None:
    """Refuse unless the caller owns this visible thing, was granted the permission on it, or (`by_role`) holds it."""
    acting.checked.add(permission)
    who = acting.who
    if not who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)
    if resource.owner_id == who.user_id or permission in granted:
        return
    if not (by_role and permission in who.permissions):
        raise NotPermitted(f"this needs the permission {permission} here", permission=permission)


def note_checked(acting: Acting, permission: str) -> None:
    """Record that a listing filtered its rows by this permission itself; refuse a token scoped away from it."""
    acting.checked.add(permission)
    if not acting.who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)

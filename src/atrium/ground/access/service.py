"""Yes or no. A caller who may not see a thing is told it is missing, never that it is forbidden."""

from atrium.ground.access.model import NotPermitted, ReadsOnly
from atrium.kit.errors import Forbidden
from atrium.seams.context import Actor, HoldLevel


def require(acting: Actor, permission: str) -> None:
    """Refuse unless the caller's role and token hold the permission."""
    acting.checked.add(permission)
    if permission not in acting.who.permissions:
        raise NotPermitted(f"this needs the permission {permission}", permission=permission)


def require_org_scope(acting: Actor, scope: str, refusal: type[Forbidden]) -> None:
    """Refuse to list the whole company (`scope` is `org`) for a caller without a role in it."""
    if scope == "org" and "org:read" not in acting.who.permissions:
        raise refusal("scope=org needs a role in the company, such as org_reader")


def require_either(acting: Actor, permission: str, narrower: str) -> None:
    """Refuse unless the caller holds the permission, or the narrower one with which the service lets them act on their own."""
    acting.checked.add(permission)
    if narrower not in acting.who.permissions:
        require(acting, permission)


def note_checked(acting: Actor, permission: str) -> None:
    """Record that the statement itself chooses rows by this permission; refuse a token whose scope lacks it."""
    acting.checked.add(permission)
    if not acting.who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)


def require_writing(acting: Actor) -> None:
    """Refuse a change on behalf of a request that only reads: nothing holds its credential until the commit."""
    if acting.holding is HoldLevel.NOTHING:
        raise ReadsOnly("this changes something, and the request only reads; use POST, PUT, PATCH or DELETE")

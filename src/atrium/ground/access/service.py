"""Yes or no. A caller who may not see a thing is told it is missing, never that it is forbidden."""

from collections.abc import Collection

from atrium.ground.access.model import NotPermitted, ReadersRefused, ReadsOnly, Sharable
from atrium.kit.errors import Forbidden
from atrium.seams.context import Acting, Holding


def require(acting: Acting, permission: str) -> None:
    """Refuse unless the caller's role and token hold the permission."""
    acting.checked.add(permission)
    if permission not in acting.who.permissions:
        raise NotPermitted(f"this needs the permission {permission}", permission=permission)


def require_shared(
    acting: Acting, thing: Sharable, permission: str, granted: Collection[str], *, by_role: bool = True
) -> None:
    """Refuse unless the caller owns this visible thing, a share grants the permission, or (`by_role`) their role in its team does."""
    acting.checked.add(permission)
    who = acting.who
    if not who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)
    if thing.owner_id == who.user_id or permission in granted:
        return
    if not (by_role and permission in who.permissions and counts_role(acting, thing)):
        raise NotPermitted(f"this needs the permission {permission} here", permission=permission)


def counts_role(acting: Acting, thing: Sharable) -> bool:
    """Whether the caller's role counts: it does for what their own team sees; everyone else has what was granted and no more."""
    return thing.team_id == acting.who.team_id and thing.visibility == "team"


def require_org_scope(acting: Acting, scope: str, refusal: type[Forbidden]) -> None:
    """Refuse to list the whole company (`scope` is `org`) for a caller without a role in it."""
    if scope == "org" and "org:read" not in acting.who.permissions:
        raise refusal("scope=org needs a role in the company, such as org_reader")


def require_either(acting: Acting, permission: str, narrower: str) -> None:
    """Refuse unless the caller holds the permission, or the narrower one with which the service lets them act on their own."""
    acting.checked.add(permission)
    if narrower not in acting.who.permissions:
        require(acting, permission)


def note_checked(acting: Acting, permission: str) -> None:
    """Record that the statement itself chooses rows by this permission; refuse a token whose scope lacks it."""
    acting.checked.add(permission)
    if not acting.who.within_scope(permission):
        raise NotPermitted(f"this token's scope does not include {permission}", permission=permission)


def require_writing(acting: Acting) -> None:
    """Refuse a change on behalf of a request that only reads: nothing holds its credential until the commit."""
    if acting.holding is Holding.NOTHING:
        raise ReadsOnly("this changes something, and the request only reads; use POST, PUT, PATCH or DELETE")


def is_confined(acting: Acting) -> bool:
    """Whether what the caller writes now is for them alone: a run that was fired by what not everybody who bound it can read."""
    return acting.bound is not None and acting.bound.confined


def require_no_readers(acting: Acting, thing: Sharable, *, shared: bool) -> None:
    """Refuse a confined caller to write what is not theirs alone: another's, the team's, or `shared` with other people."""
    if is_confined(acting) and (shared or thing.visibility != "private" or thing.owner_id != acting.who.user_id):
        raise ReadersRefused(
            "others can read this, and not everybody who set up this run can read the file that fired it"
        )

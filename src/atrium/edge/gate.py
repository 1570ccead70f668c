"""The gate: everything a row promises about access is enforced here, before and after the handler."""

from atrium.ground.access import service as access
from atrium.ground.features import service as features
from atrium.kit.errors import Forbidden, Suspended, Unauthenticated
from atrium.seams.context import Acting
from atrium.seams.routes import Auth, Decides, Route

READS = frozenset({"GET", "HEAD", "OPTIONS"})


class UncheckedAccess(RuntimeError):
    """A handler replied without anyone having checked the permission its row names."""


class NotOnThisPlane(Forbidden):
    """The route belongs to operators, or to people with a role in the company."""

    code = "access.plane"
    title = "Not on this plane"


def bearer_of(header: bytes | None) -> bytes:
    """The token in an Authorization header."""
    if header is None:
        raise Unauthenticated("send `Authorization: Bearer <token>`; POST /api/login gives you one")
    scheme, _, token = header.partition(b" ")
    if scheme.lower() != b"bearer" or not token:
        raise Unauthenticated("the Authorization header must read `Bearer <token>`")
    return token.strip()


def check(route: Route, acting: Acting) -> None:
    """The row's conditions, in order: plane, writability, feature, permission."""
    who = acting.who
    if route.auth is Auth.SUPERADMIN and not who.operator:
        raise NotOnThisPlane("this is for operators of the instance")
    if route.auth is Auth.ORG_ADMIN and who.org_role is None:
        raise NotOnThisPlane("this is for people with a role in their company")
    if who.suspended and route.method not in READS and not acts_on_instance(route):
        raise Suspended("your company is suspended: reading works, writing does not; ask the operator to resume it")
    if route.feature is not None:
        features.require_feature(acting, route.feature)
    if route.permission is not None and route.decides is Decides.ROLE:
        access.require(acting, route.permission)


def confirm(route: Route, acting: Acting) -> None:
    """After the handler, before the commit: the promised permission must have been checked by someone."""
    if route.permission is not None and route.permission not in acting.checked:
        raise UncheckedAccess(f"{route.handler} replied without checking {route.permission}")


def acts_on_instance(route: Route) -> bool:
    """Operators keep the instance running even while their own company is suspended."""
    return route.permission == "instance:manage"

"""The gate: everything a row promises about access is enforced here, before and after the handler."""

import hmac

from atrium.edge.router import NoRoute
from atrium.ground.access import service as access
from atrium.ground.features import service as features
from atrium.kit.errors import Forbidden, Suspended, Unauthenticated
from atrium.kit.settings import Settings
from atrium.seams.context import Acting
from atrium.seams.routes import Auth, Decides, Route

READS = frozenset({"GET", "HEAD", "OPTIONS"})
_READ_ONLY = "{} is suspended: reading works, writing does not; ask whoever runs this server to resume it"


class UncheckedAccess(RuntimeError):
    """A handler replied without anyone having checked the permission its row names."""


class TenantSuspended(Suspended):
    """Writing while the whole hosted tenant is suspended."""

    code = "hosting.suspended"
    title = "This workspace is suspended"


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
        raise (
            TenantSuspended(_READ_ONLY.format("this workspace"))
            if who.suspended == "tenant"
            else Suspended(_READ_ONLY.format("your company"))
        )
    if route.feature is not None:
        features.require_feature(acting, route.feature)
    if route.permission is not None and route.decides is Decides.ROLE:
        access.require(acting, route.permission)


def check_provisioner(settings: Settings, header: bytes | None) -> None:
    """Provisioning exists in hosted mode only, and only for whoever holds its token."""
    if not settings.hosted:
        raise NoRoute("this instance is not in hosted mode")
    if not settings.provision_token or not hmac.compare_digest(bearer_of(header), settings.provision_token.encode()):
        raise Unauthenticated("this is not the provisioning token")


def confirm(route: Route, acting: Acting) -> None:
    """After the handler, before the commit: the promised permission must have been checked by someone."""
    if route.permission is not None and route.permission not in acting.checked:
        raise UncheckedAccess(f"{route.handler} replied without checking {route.permission}")


def is_rated(route: Route) -> bool:
    """Whether requests are counted per credential; workers are bounded by the jobs there are and by their leases."""
    return route.permission != "jobs:execute"


def acts_on_instance(route: Route) -> bool:
    """Operators keep the instance running even while their own company is suspended."""
    return route.permission == "instance:manage"

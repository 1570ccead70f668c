"""The gate: everything a row promises about access is enforced here, before and after the handler."""

import hmac
from typing import Any

import msgspec

from atrium.edge.request import Request
from atrium.edge.router import NoRoute
from atrium.ground.access import service as access
from atrium.ground.access.model import WORKER, NotPermitted
from atrium.ground.features import service as features
from atrium.ground.identity.model import ConfirmRequired
from atrium.kit.errors import Forbidden, Moving, Suspended, TenantSuspended, Unauthenticated
from atrium.seams.context import Actor, Principal
from atrium.seams.routes import ORG_ADMIN, READS, SUPERADMIN, CredentialClass, Decides, Route, Suspension
from atrium.seams.settings import Settings

# What a person holds who signed in, or was handed their first way in.
SESSIONS = frozenset({"session", "first"})
# What a browser says about a fetch whose bytes it will run.
_RUNS = frozenset({b"script", b"worker", b"sharedworker", b"serviceworker", b"audioworklet", b"paintworklet", b"xslt"})
# Looked up once: finding an enumeration's member by name takes longer than a check.
_BY_ROLE = Decides.ROLE
_READ_ONLY = "{} is suspended: reading works, writing does not; an operator of this server can resume it"


class UncheckedAccess(RuntimeError):
    """A handler replied without anyone having checked the permission its row names."""


class StoredCode(Forbidden):
    """A page of this origin tried to run a stored file as a script."""

    code = "request.stored_code"
    title = "Stored files do not run here"


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


def check(route: Route, acting: Actor) -> None:
    """The row's conditions, in order: kind of caller, plane, class of credential, writability, feature, permission."""
    who = acting.who
    if who.credential == "worker" and route.permission not in WORKER:
        raise NotPermitted(
            "a worker's token claims jobs and does nothing else; sign in as a person for this",
            permission=route.permission,
        )
    if route.auth is SUPERADMIN and not who.operator:
        raise NotOnThisPlane("this is for operators of the instance")
    if route.operators and not who.operator:
        raise NotPermitted("only operators of this server may do this", permission=route.permission)
    if route.auth is ORG_ADMIN and who.org_role is None:
        raise NotOnThisPlane("this is for people with a role in their company")
    if route.accepts is not None:
        _require_credential(route.accepts, who)
    if who.suspended and route.method not in READS:
        _require_open(route, who)
    if route.feature is not None:
        features.require_feature(acting, route.feature)
    if route.permission is not None and route.decides is _BY_ROLE:
        access.require(acting, route.permission)


def _require_credential(accepts: CredentialClass | frozenset[str], who: Principal) -> None:
    if accepts is CredentialClass.SESSION and who.credential not in SESSIONS:
        raise ConfirmRequired("this is done by a person who signed in, not with a token; sign in first")
    if accepts is CredentialClass.UNSCOPED and who.scope is not None:
        raise NotPermitted("this needs a credential without a scope; sign in, or use a token that has none")
    if isinstance(accepts, frozenset) and who.scope is not None and who.scope.isdisjoint(accepts):
        wanted = " or ".join(sorted(accepts))
        raise NotPermitted(f"this token's scope does not include {wanted}", permission=wanted)


def _require_open(route: Route, who: Principal) -> None:
    if who.suspended == "moving":
        raise Moving
    if route.suspension is Suspension.OPEN:
        return
    if who.suspended == "tenant":
        raise TenantSuspended(_READ_ONLY.format("this workspace"))
    if route.suspension is Suspension.CLOSED or not who.operator:
        raise Suspended(_READ_ONLY.format("your company"))


def require_hosted(settings: Settings) -> None:
    """Provisioning exists in hosted mode only."""
    if not settings.hosted:
        raise NoRoute("this instance is not in hosted mode")


def check_provisioner(settings: Settings, header: bytes | None) -> None:
    """Provisioning takes the provisioning token."""
    if not settings.provision_token or not hmac.compare_digest(bearer_of(header), settings.provision_token.encode()):
        raise Unauthenticated("this is not the provisioning token")


def is_scraper(settings: Settings, header: bytes | None) -> bool:
    """Whether this is the credential that reads the metrics, where the instance has one."""
    if not settings.metrics_token or header is None:
        return False
    scheme, _, token = header.partition(b" ")
    return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), settings.metrics_token.encode())


def confirm(route: Route, acting: Actor) -> None:
    """After the handler, before the commit: the promised permission must have been checked by someone."""
    if route.permission is not None and route.permission not in acting.checked:
        raise UncheckedAccess(f"{route.handler} replied without checking {route.permission}")


def gives(route: Route, arguments: dict[str, Any]) -> bool:
    """Whether the request gives a credential or power, so that a session in a cookie is not enough for it."""
    if isinstance(route.gives, bool):
        return route.gives
    return getattr(arguments["body"], route.gives) is not msgspec.UNSET


def require_no_code(request: Request) -> None:
    """Refuse stored bytes to a page of this origin that would run them: its policy trusts scripts from here."""
    headers = request.headers
    if headers.get(b"sec-fetch-site") == b"same-origin" and headers.get(b"sec-fetch-dest") in _RUNS:
        raise StoredCode("a stored file cannot be loaded as a script or a worker of this site")

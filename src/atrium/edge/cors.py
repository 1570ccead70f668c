"""What pages of other origins may read: on rows of the table that say so, and never with a credential."""

from atrium.edge.encode import Header
from atrium.edge.request import Request
from atrium.seams.routes import Route
from atrium.seams.settings import Settings

_ANY: list[Header] = [(b"access-control-allow-origin", b"*")]
_VARY = (b"vary", b"Origin")
# A sandboxed page has no origin of its own, and says so; the sign-up form's template is one.
_OPAQUE = "null"
_HEADERS = b"content-type, accept-language, idempotency-key"
_MAX_AGE = b"600"


class Cors:
    """Which headers a row's replies carry for browsers that ask on behalf of a page elsewhere."""

    def __init__(self, settings: Settings) -> None:
        self._origins = settings.allowed_beta_origins()

    def headers_of(self, route: Route, request: Request) -> list[Header]:
        """What a reply of this row carries, refusals too; nothing on a row that is not for other pages."""
        if not route.cors:
            return []
        if route.cors != "funnel" or not self._origins:
            return _ANY
        origin = (request.header(b"origin") or "").lower()
        if origin == _OPAQUE or origin in self._origins:
            return [(b"access-control-allow-origin", origin.encode()), _VARY]
        return [_VARY]

    def preflight_of(self, routes: list[Route], request: Request) -> list[Header]:
        """What a browser is told before a page elsewhere asks one of the rows at an address."""
        methods = ", ".join(sorted({route.method for route in routes if route.method != "OPTIONS"}))
        return [
            *self.headers_of(routes[0], request),
            (b"access-control-allow-methods", methods.encode()),
            (b"access-control-allow-headers", _HEADERS),
            (b"access-control-max-age", _MAX_AGE),
        ]

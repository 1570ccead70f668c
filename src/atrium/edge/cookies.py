"""The console's session as a cookie: out of every script's reach, and good only for requests from its own origin."""

import re
from urllib.parse import urlsplit

import msgspec

from atrium.edge.gate import bearer_of
from atrium.edge.request import Request
from atrium.kit.errors import Forbidden, Unauthenticated
from atrium.kit.web.addresses import is_unnamed
from atrium.seams.routes import READS, Created, SignedIn
from atrium.seams.settings import Settings

# Over https no other host and no unencrypted page can set a cookie of the first name. Plain http cannot have that.
SECURE, PLAIN = b"__Host-atrium_session", b"atrium_session"
WANTED = (b"atrium-session", b"cookie")
_PORT = re.compile(rb":(\d{1,5})\Z")
_DAYS = 30
_COOKIE = b"%b=%b; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d"


class CrossOrigin(Forbidden):
    """A cookie came with a request that the console's own pages did not make."""

    code = "identity.cross_origin"
    title = "Not from this origin"


class CookieTwice(Unauthenticated):
    """Two cookies have the same name; one was planted by another site, and the server cannot tell which."""


class Cookies:
    """What the settings say about our own address, read once."""

    def __init__(self, settings: Settings) -> None:
        base = urlsplit(settings.base_url.lower())
        self._base_host = base.netloc.encode()
        self._secure_host = self._base_host if base.scheme == "https" else b""

    def credential_of(self, request: Request) -> tuple[bytes, bool]:
        """The token a request comes with, and whether as a cookie; a bearer credential is the only one that counts then."""
        header = request.headers.get(b"authorization")
        if header is not None or b"cookie" not in request.headers:
            return bearer_of(header), False
        token = self._presented(request)
        if not token:
            return bearer_of(None), False
        if not self._is_same_origin(request):
            raise CrossOrigin("a session in a cookie works for this server's own pages; programs send a bearer token")
        return token, True

    def program_credential_of(self, request: Request) -> bytes:
        """The bearer token of a request that programs alone make; a page elsewhere is refused, whatever it brings along."""
        origin = request.headers.get(b"origin")
        if origin is not None and not (self._is_own(request, origin) and self._is_known(request)):
            raise CrossOrigin("this address is for programs; a page of another origin cannot call it")
        return bearer_of(request.headers.get(b"authorization"))

    def session_of(self, request: Request) -> bytes:
        """The session that a public request brings along; nothing for one from elsewhere or with a bearer credential."""
        if b"cookie" not in request.headers or b"authorization" in request.headers:
            return b""
        try:
            return self._presented(request) if self._is_same_origin(request) else b""
        except CookieTwice:
            return b""

    def is_wanted(self, request: Request) -> bool:
        """Whether the client wants the session as a cookie; another origin cannot send this header unasked."""
        return request.headers.get(WANTED[0]) == WANTED[1]

    def carry(self, value: object, request: Request, extra: list[tuple[bytes, bytes]]) -> object:
        """A sign-in's reply without its token, which goes into the cookie."""
        if type(value) is Created:
            return Created(self.carry(value.value, request, extra))
        if type(value) is not SignedIn:
            return value
        body = value.value
        if body.token is None or not self.is_wanted(request):
            return body
        extra.append(self._cookie(request, body.token.encode(), _DAYS * 86_400))
        return msgspec.structs.replace(body, token=None)

    def cleared(self, request: Request) -> tuple[bytes, bytes]:
        """The header that makes a browser forget the cookie."""
        return self._cookie(request, b"", 0)

    def _cookie(self, request: Request, value: bytes, seconds: int) -> tuple[bytes, bytes]:
        text = _COOKIE % (self._name(request), value, seconds)
        return b"set-cookie", text + b"; Secure" if self._is_secure(request) else text

    def _name(self, request: Request) -> bytes:
        # Browsers keep the cookies of all ports of a host together; signing in at one must not sign out at another.
        port = _PORT.search(request.headers.get(b"host", b""))
        return (SECURE if self._is_secure(request) else PLAIN) + (b"_" + port[1] if port else b"")

    def _presented(self, request: Request) -> bytes:
        name, found = self._name(request), []
        for field, text in request.scope["headers"]:
            if field == b"cookie":
                pairs = (part.partition(b"=") for part in text.split(b";"))
                found += [value.strip() for key, _, value in pairs if key.strip() == name]
        if len(found) > 1:
            raise CookieTwice("the session's cookie came twice; delete this site's cookies and sign in again")
        return found[0] if found else b""

    def _is_secure(self, request: Request) -> bool:
        # Behind a proxy that does not say how it was reached, the address people use is in the settings.
        return request.secure or (
            self._secure_host != b"" and request.headers.get(b"host", b"").lower() == self._secure_host
        )

    def _is_same_origin(self, request: Request) -> bool:
        reads = request.method in READS
        site = request.headers.get(b"sec-fetch-site")
        if site is not None:
            # `none` is the person: an address typed, a bookmark.
            return site == b"same-origin" or (reads and site == b"none")
        origin = request.headers.get(b"origin")
        return reads if origin is None else self._is_own(request, origin)

    def _is_own(self, request: Request, origin: bytes) -> bool:
        scheme = b"https://" if self._is_secure(request) else b"http://"
        return origin == scheme + request.headers.get(b"host", b"").lower()

    def _is_known(self, request: Request) -> bool:
        """Whether no other site can have pointed the name in `Host` to this server: it is ours by the settings, or no name."""
        host = request.headers.get(b"host", b"").lower()
        return (host != b"" and host == self._base_host) or is_unnamed(host.decode("latin-1"))

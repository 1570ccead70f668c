"""Where S3 is spoken: below /s3, on a port or a hostname of its own, and wherever a request is signed; all are the row /s3.

Nothing else here is signed that way, so the server's own address can be told to clients that take no path in an endpoint.
"""

from atrium.edge.request import Request
from atrium.seams.routes import Wire
from atrium.seams.settings import Settings

S3_ROW = "/s3"
_BELOW = b"/s3"
_SIGNED, _SIGNED_LINK, _OLD_LINK = b"AWS4-HMAC-SHA256", b"X-Amz-Signature=", b"AWSAccessKeyId="


class Addresses:
    """What the settings say about hostnames and ports, read once."""

    def __init__(self, settings: Settings) -> None:
        self._port = settings.s3_port
        self._domain = settings.s3_domain.lower().encode()
        self._below_domain = b"." + self._domain
        self._bucket = f"/{settings.s3_bucket}"

    def path_of(self, request: Request) -> str:
        """The path to look up in the table."""
        return S3_ROW if _is_below(request) or self._is_own(request) else request.path

    def wire_of(self, request: Request) -> Wire:
        """The request as the gateway takes it."""
        scope = request.scope
        own = not _is_below(request) or self._has_own_place(request)
        return Wire(
            method=request.method,
            raw_path=scope.get("raw_path") or request.path.encode(),
            query=scope["query_string"],
            headers=scope["headers"],
            chunks=request.chunks(),
            secure=request.secure,
            bucket_host=self._bucket_of(request) if own else None,
            prefix=b"" if own else _BELOW,
        )

    def _is_own(self, request: Request) -> bool:
        return _is_signed(request) or self._has_own_place(request) or self._is_form(request)

    def _is_form(self, request: Request) -> bool:
        """A browser's form for the bucket is signed in its fields, and no row takes a form there."""
        return request.method == "POST" and request.path.rstrip("/") == self._bucket

    def _has_own_place(self, request: Request) -> bool:
        if self._port and (request.scope.get("server") or ("", 0))[1] == self._port:
            return True
        host = self._host_of(request) if self._domain else b""
        return bool(host) and (host == self._domain or host.endswith(self._below_domain))

    def _bucket_of(self, request: Request) -> str | None:
        host = self._host_of(request)
        if not self._domain or not host.endswith(self._below_domain):
            return None
        return host.removesuffix(self._below_domain).decode("latin-1")

    def _host_of(self, request: Request) -> bytes:
        return request.headers.get(b"host", b"").lower().partition(b":")[0]


def _is_below(request: Request) -> bool:
    return request.path.startswith(S3_ROW) and request.path[3:4] in ("", "/")


def _is_signed(request: Request) -> bool:
    if request.headers.get(b"authorization", b"").startswith(_SIGNED):
        return True
    query = request.scope["query_string"]
    return bool(query) and (_SIGNED_LINK in query or _OLD_LINK in query)

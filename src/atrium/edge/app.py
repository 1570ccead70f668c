"""The ASGI application: one request from its head to the last byte of its reply. Match, dispatch, reply, note."""

import contextlib
import itertools
import os
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote, urlencode

from atrium.edge import downloads, gate, generations
from atrium.edge.access_log import AccessLog
from atrium.edge.addresses import Addresses
from atrium.edge.cookies import Cookies
from atrium.edge.cors import Cors
from atrium.edge.credential_watch import CredentialEnded, CredentialWatcher, credential_ended
from atrium.edge.dispatch import Dispatch
from atrium.edge.encode import NO_STORE, Header, Reply, failure, problem_of
from atrium.edge.endpoint import Endpoint
from atrium.edge.request import Request
from atrium.edge.router import Router
from atrium.edge.stream import Streams, until_gone
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.domains import host_of
from atrium.kit.crypto.tokens import digest_of, is_well_formed
from atrium.kit.errors import AppError, Moved, Unauthenticated
from atrium.kit.postgres.failures import refusal_of
from atrium.kit.telemetry import trace_context
from atrium.kit.telemetry.log import log
from atrium.kit.telemetry.trace_context import Span
from atrium.kit.web.addresses import counted_as
from atrium.kit.work.shares import account
from atrium.seams.context import ANONYMOUS, Operation, Principal, Services
from atrium.seams.routes import PUBLIC, Auth, Disconnected, Download, RawBody, Route

_NOSNIFF = (b"x-content-type-options", b"nosniff")
# What users named or wrote is in most replies, and they are on the console's own origin: opened as a page, nothing in one
# may run, load, be framed or know where it came from.
STRICTEST = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
_POLICY = b"content-security-policy"
_STRICT, _OURS = (_POLICY, STRICTEST), (b"cross-origin-resource-policy", b"same-origin")
_EVERYONES = (b"cross-origin-resource-policy", b"cross-origin")
_PRIVATE = (b"cache-control", b"private, no-cache")
COMMON = (_NOSNIFF, _STRICT, _OURS, (b"cache-control", NO_STORE))
# A query string that can stand in a header as it came.
_PLAIN = re.compile(rb"[\w=&.,~+-]*")
_HSTS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
Hook = Callable[[], Awaitable[None]]


class App:
    """The edge, assembled once."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        services: Services,
        standing: CredentialWatcher,
        on_start: Hook,
        on_stop: Hook,
    ) -> None:
        self._services, self._standing, self.on_start, self.on_stop = services, standing, on_start, on_stop
        self._router = Router(endpoints)
        self._addresses = Addresses(services.settings)
        self._cookies = Cookies(services.settings)
        self._cors = Cors(services.settings)
        self._dispatch = Dispatch(services, self._addresses, self._cookies)
        self._access_log = AccessLog(services.settings.access_log, services.settings.access_log_paths)
        self._numbers = itertools.count(1)
        self._boot = os.urandom(5).hex()
        self._timers: dict[tuple[str, str, int], Any] = {}
        self.streams = Streams()
        self._in_flight = 0
        services.metrics.in_flight.set_function(lambda: self._in_flight)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """ASGI."""
        if scope["type"] == "http":
            self._in_flight += 1
            try:
                await self._answer(scope, receive, send)
            finally:
                self._in_flight -= 1
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        try:
            await self.on_start()
        except Exception as error:
            log.error("boot.failed", error=str(error))
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.on_stop()
        self._access_log.flush()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        started = time.perf_counter()
        request = Request(scope, receive, f"{self._boot}-{next(self._numbers):x}")
        # Until a company is known.
        account.set(counted_as(request.address))
        parent = trace_context.parse(request.headers.get(b"traceparent"))
        request.trace = trace_context.enter(self._services.telemetry, "request", "server", parent, request.id)
        op = Operation(
            who=ANONYMOUS,
            services=self._services,
            address=request.address,
            user_agent=request.user_agent,
            request_id=request.id,
            secure=request.secure,
            wants_cookie=self._cookies.is_wanted(request),
            gone=partial(until_gone, receive),
        )
        try:
            await self._exchange(request, op, started, send)
        finally:
            if request.watch is not None:
                request.watch.close()
            if request.trace.span is not None:
                request.trace.span.end()

    async def _exchange(self, request: Request, op: Operation, started: float, send: Any) -> None:
        endpoint: Endpoint | None = None
        generation = 0
        extra: list[tuple[bytes, bytes]] = []
        try:
            path = self._addresses.path_of(request)
            shared = self._shared_rows(request, path)
            if shared:
                extra += self._cors.preflight_of(shared, request)
            if shared and not any(route.method == "OPTIONS" for route in self._router.rows(path)):
                reply = Reply(204, [], b"")
            else:
                endpoint, params = self._router.match(request.method, path)
                generation = self._generation_of(endpoint)
                if generation:
                    generations.bare(request.headers, generation)
                extra += endpoint.reply_headers
                extra += self._cors.headers_of(endpoint.route, request)
                op.holding = endpoint.holding
                if endpoint.reply is Download:
                    gate.require_no_code(request)
                if endpoint.lasts:
                    request.last(self._standing.watch(op))
                    op.gone = partial(until_gone, request.receive)
                serve = self._dispatch.serve_known if endpoint.takes_credential else self._dispatch.serve
                reply = await serve(endpoint, request, params, op, extra)
            if reply.download is not None:
                await downloads.begin(reply, request.method)
        except Disconnected:
            if request.watch is None or not request.watch.ended:
                return
            # The client is still there, and waits: what ended is its credential.
            reply, generation = self._refusal(credential_ended(), request, generation), 0
        except Exception as error:
            known = await self._elsewhere(endpoint, request) if isinstance(error, Unauthenticated) else None
            reply, generation = self._refusal(known or error, request, generation), 0
            if endpoint is not None and (endpoint.body is RawBody or request.is_large):
                # The body was not read to its end, so the connection cannot be used again.
                extra.append((b"connection", b"close"))
        if generation:
            reply.headers[:] = generations.mark_tag(reply.headers, generation)
        try:
            await self._send(reply, request, extra, send)
        except CredentialEnded:
            # Broken off in the middle: the server closes a connection whose answer stays incomplete.
            log.info("request.broken_off", request_id=request.id, credential=op.who.credential_id)
        finally:
            self._note(endpoint, request, reply, time.perf_counter() - started, op.who)

    def _generation_of(self, endpoint: Endpoint) -> int:
        """What entity tags of this row carry: nothing before the first restore, and never those of S3."""
        return 0 if endpoint.route.auth is Auth.SIGNED else self._services.keys.generation

    def _shared_rows(self, request: Request, path: str) -> list[Route]:
        """What a browser asks about before a page of another origin uses it."""
        return [row for row in self._router.rows(path) if row.cors] if request.method == "OPTIONS" else []

    async def _elsewhere(self, endpoint: Endpoint | None, request: Request) -> Moved | None:
        """Whether what nothing here knows belongs to a company that has moved; asked only where a refusal cost a look anyway."""
        token = b""
        with contextlib.suppress(AppError):
            token, _ = self._cookies.credential_of(request)
        if not is_well_formed(token) and (endpoint is None or endpoint.route.auth is not PUBLIC):
            return None
        digests = [tenancy.moved_digest("token", digest_of(token))]
        if host := host_of(request.header(b"host")):
            digests.append(tenancy.moved_digest("host", host.encode()))
        try:
            location = await tenancy.find_moved(self._services.database, digests)
        except Exception as error:
            if refusal_of(error) is None:
                raise
            return None
        return Moved(location) if location else None

    def _refusal(self, error: Exception, request: Request, generation: int) -> Reply:
        known = error if isinstance(error, AppError) else refusal_of(error)
        if known is not None:
            if generation:
                generations.mark_facts(known.facts, generation)
            return problem_of(known, request.id)
        log.error("request.failed", request_id=request.id, method=request.method, exc_info=error)
        return failure(request.id)

    async def _send(self, reply: Reply, request: Request, extra: list[tuple[bytes, bytes]], send: Any) -> None:
        headers = [
            *reply.headers,
            *self._common(reply),
            *extra,
            (b"x-request-id", request.id.encode()),
        ]
        if reply.download is not None:
            headers += downloads.length_of(reply.download)
        elif reply.events is None and reply.status not in (204, 304):
            headers.append((b"content-length", b"%d" % len(reply.body)))
        if reply.next_cursor is not None:
            headers.append((b"link", _link_to_next(request, reply.next_cursor)))
        if request.secure:
            headers.append(_HSTS)
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if reply.events is not None and request.method == "HEAD":
            await reply.events.events.aclose()
        elif reply.events is not None:
            await self.streams.send(reply.events, request.receive, send)
        if reply.download is not None:
            await downloads.send_rest(reply, request, send)
            return
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else reply.body})

    def _common(self, reply: Reply) -> tuple[Header, ...]:
        """What every reply carries; nothing is sent without a content policy."""
        if reply.policy is None and reply.download is None and reply.cache is NO_STORE and not reply.shared:
            return COMMON
        policy = _STRICT if reply.policy is None else (_POLICY, reply.policy)
        if reply.download is None:
            return _NOSNIFF, policy, _EVERYONES if reply.shared else _OURS, (b"cache-control", reply.cache)
        # Pages elsewhere may show what a signed link leads to, and may not show what a session leads to.
        return (_NOSNIFF, policy) if reply.download.bare else (_NOSNIFF, policy, _OURS, _PRIVATE)

    def _note(self, endpoint: Endpoint | None, request: Request, reply: Reply, seconds: float, who: Principal) -> None:
        # Labels come from the table, never from the request: a stranger must not be able to invent series.
        method, route = (endpoint.route.method, endpoint.route.path) if endpoint is not None else ("none", "none")
        timer = self._timers.get((method, route, reply.status))
        if timer is None:
            timer = self._services.metrics.requests.labels(method, route, str(reply.status))
            self._timers[method, route, reply.status] = timer
        timer.observe(seconds)
        sent = len(reply.body) if reply.download is None else reply.download.length or 0
        user, org = (who.user_id, who.org_id) if who is not ANONYMOUS else (None, None)
        self._access_log.add(request, route, reply.status, seconds, user, org, sent)
        if request.trace.span is not None:
            _describe(request.trace.span, method, route, request, reply.status)


def _describe(span: Span, method: str, route: str, request: Request, status: int) -> None:
    """The request as the conventions of OpenTelemetry name its parts; never the query, which may hold what people wrote."""
    span.rename(f"{method} {route}")
    span.note("http.request.method", method)
    span.note("http.route", route)
    span.note("url.scheme", request.scope["scheme"])
    span.note("http.response.status_code", status)
    span.note("atrium.request_id", request.id)
    if status >= 500:
        span.note("error.type", str(status))


@lru_cache(maxsize=256)
def _quoted(path: str) -> bytes:
    return quote(path).encode()


def _link_to_next(request: Request, cursor: str) -> bytes:
    """RFC 8288: the same listing with the next cursor."""
    asked = request.scope["query_string"]
    if _PLAIN.fullmatch(asked) and b"cursor=" not in asked:
        # Nearly every first page; nothing has to be decoded and encoded again.
        query = b"%b&cursor=%b" % (asked, cursor.encode()) if asked else b"cursor=" + cursor.encode()
    else:
        query = urlencode({**request.query(), "cursor": cursor}).encode()
    return b'<%b?%b>; rel="next"' % (_quoted(request.path), query)

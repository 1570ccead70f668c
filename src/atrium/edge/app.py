"""The ASGI application: one request, top to bottom. Match, admit, fill, call, confirm, reply."""

import itertools
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from atrium.edge import downloads, gate
from atrium.edge.access_log import AccessLog
from atrium.edge.addresses import Addresses
from atrium.edge.encode import Reply, failure, problem_of, reply_of
from atrium.edge.endpoint import Endpoint, fill
from atrium.edge.limits import Rates
from atrium.edge.request import Request
from atrium.edge.router import NoRoute, Router
from atrium.edge.stream import Streams, until_gone
from atrium.ground.idempotency import service as idempotency
from atrium.ground.idempotency.model import Reply as KeptReply
from atrium.ground.identity import service as identity
from atrium.ground.limits import service as limits
from atrium.ground.tenancy import service as tenancy
from atrium.kit.database import Connection, refusal_of
from atrium.kit.errors import AppError
from atrium.kit.log import log
from atrium.seams.context import ANONYMOUS, Context, Operation, Principal, Services
from atrium.seams.routes import Auth, Disconnected, RawBody

_NOSNIFF = (b"x-content-type-options", b"nosniff")
_HSTS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
Hook = Callable[[], Awaitable[None]]


class App:
    """The edge, assembled once."""

    def __init__(self, endpoints: Sequence[Endpoint], services: Services, on_start: Hook, on_stop: Hook) -> None:
        self._services, self.on_start, self.on_stop = services, on_start, on_stop
        self._router = Router(endpoints)
        self._addresses = Addresses(services.settings)
        self._rates = Rates(services.settings.rate_per_credential)
        self._access_log = AccessLog(services.settings.access_log)
        self._numbers = itertools.count(1)
        self._boot = os.urandom(5).hex()
        self._counters: dict[tuple[str, str, int], Any] = {}
        self._timers: dict[tuple[str, str], Any] = {}
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
        op = Operation(
            who=ANONYMOUS,
            services=self._services,
            address=request.address,
            request_id=request.id,
            secure=request.secure,
            gone=partial(until_gone, receive),
        )
        endpoint: Endpoint | None = None
        extra: list[tuple[bytes, bytes]] = []
        try:
            endpoint, params = self._router.match(request.method, self._addresses.path_of(request))
            reply = await self._serve(endpoint, request, params, op, extra)
            if reply.download is not None:
                await downloads.begin(reply, request.method)
        except Disconnected:
            return
        except Exception as error:
            reply = self._refusal(error, request)
            if endpoint is not None and endpoint.body is RawBody:
                # The body was not read to its end, so the connection cannot be used again.
                extra.append((b"connection", b"close"))
        try:
            await self._send(reply, request, extra, send)
        finally:
            self._note(endpoint, request, reply, time.perf_counter() - started, op.who)

    async def _serve(
        self, endpoint: Endpoint, request: Request, params: list[str], op: Operation, extra: list[tuple[bytes, bytes]]
    ) -> Reply:
        route, services = endpoint.route, self._services
        if route.auth is Auth.SIGNED:
            # The gateway admits by signature, and renders its refusals in its own protocol.
            return reply_of(await endpoint.call(op, self._addresses.wire_of(request)))
        if route.auth is Auth.PUBLIC:
            if request.method not in gate.READS:
                await limits.admit_public_write(
                    services.database, request.address, services.settings.rate_public_writes
                )
            raw = await self._body(endpoint, request)
            return reply_of(await endpoint.call(op, **fill(endpoint, request, params, raw)))
        if route.auth is Auth.PROVISION:
            gate.check_provisioner(services.settings, request.headers.get(b"authorization"))
            return reply_of(
                await endpoint.call(op, **fill(endpoint, request, params, await self._body(endpoint, request)))
            )
        if route.auth is Auth.SUPERADMIN and await tenancy.is_company_host(services.database, request.header(b"host")):
            raise NoRoute("operators' addresses do not exist on a company's hostname")
        token = gate.bearer_of(request.headers.get(b"authorization"))
        raw = await self._body(endpoint, request)
        # One connection from the credential to the commit; the body is in before it is taken.
        async with services.database.borrow() as connection:
            op.who = await identity.identify(services.database, connection, token)
            if gate.is_rated(route):
                extra.append((b"ratelimit-policy", self._rates.policy))
                extra.append((b"ratelimit", self._rates.admit(op.who.credential_id)))
            gate.check(route, op)
            arguments = fill(endpoint, request, params, raw)
            if endpoint.transactional:
                return await self._transact(endpoint, request, op, arguments, raw, connection)
        key = _idempotency_key(request)
        if key is not None and endpoint.body is not RawBody:
            return await self._operate_once(endpoint, request, op, arguments, raw, key)
        return await self._operate(endpoint, op, arguments)

    async def _operate(self, endpoint: Endpoint, op: Operation, arguments: dict[str, Any]) -> Reply:
        """A handler that takes an Operation and opens its own transactions."""
        value = await endpoint.call(op, **arguments)
        gate.confirm(endpoint.route, op)
        return reply_of(value)

    async def _operate_once(
        self, endpoint: Endpoint, request: Request, op: Operation, arguments: dict[str, Any], raw: bytes, key: str
    ) -> Reply:
        """The same, at most once for its key: claimed before the work and kept after it, each in a transaction of its own."""
        async with op.begin() as ctx:
            kept = await idempotency.claim(ctx, key, request.path.encode(), request.scope["query_string"], raw)
        if kept is not None:
            return _replay(kept)
        try:
            reply = await self._operate(endpoint, op, arguments)
        except AppError:
            async with op.begin() as ctx:
                await idempotency.release(ctx, key)
            raise
        async with op.begin() as ctx:
            if reply.events is None:
                await idempotency.keep(ctx, key, KeptReply(reply.status, reply.body))
            else:
                # A stream is told as it happens; there is no reply to keep.
                await idempotency.release(ctx, key)
        return reply

    async def _transact(
        self,
        endpoint: Endpoint,
        request: Request,
        op: Operation,
        arguments: dict[str, Any],
        raw: bytes,
        connection: Connection,
    ) -> Reply:
        """A handler that takes a Context: its work, its audit events and its kept reply commit together or not at all."""
        who = op.who
        async with self._services.database.begin(who.org_id, connection) as db:
            ctx = Context(
                who=who,
                services=op.services,
                address=op.address,
                request_id=op.request_id,
                secure=op.secure,
                checked=op.checked,
                db=db,
            )
            key = _idempotency_key(request)
            if key is not None:
                kept = await idempotency.claim(ctx, key, request.path.encode(), request.scope["query_string"], raw)
                if kept is not None:
                    return _replay(kept)
            # Encoded at once and not held: a page of rows that outlives the commit costs more than making it.
            reply = reply_of(await endpoint.call(ctx, **arguments))
            gate.confirm(endpoint.route, ctx)
            if key is not None:
                await idempotency.keep(ctx, key, KeptReply(reply.status, reply.body))
        return self._unless_known(reply, request)

    async def _body(self, endpoint: Endpoint, request: Request) -> bytes:
        if endpoint.decode is None:
            return b""
        settings = self._services.settings
        return await request.body(endpoint.body_limit or settings.body_limit, settings.body_timeout)

    def _unless_known(self, reply: Reply, request: Request) -> Reply:
        known = request.headers.get(b"if-none-match")
        if known is not None and request.method in ("GET", "HEAD") and (b"etag", known) in reply.headers:
            return Reply(304, [(b"etag", known)], b"")
        return reply

    def _refusal(self, error: Exception, request: Request) -> Reply:
        known = error if isinstance(error, AppError) else refusal_of(error)
        if known is not None:
            return problem_of(known, request.id)
        log.error("request.failed", request_id=request.id, method=request.method, path=request.path, exc_info=error)
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

    def _common(self, reply: Reply) -> list[tuple[bytes, bytes]]:
        if reply.download is None:
            return [_NOSNIFF, (b"cache-control", reply.cache)]
        return [] if reply.download.bare else [_NOSNIFF, (b"cache-control", b"private, no-cache")]

    def _note(self, endpoint: Endpoint | None, request: Request, reply: Reply, seconds: float, who: Principal) -> None:
        # Labels come from the table, never from the request: a stranger must not be able to invent series.
        method, route = (endpoint.route.method, endpoint.route.path) if endpoint is not None else ("none", "none")
        counter = self._counters.get((method, route, reply.status))
        if counter is None:
            counter = self._services.metrics.requests.labels(method, route, str(reply.status))
            self._counters[method, route, reply.status] = counter
        timer = self._timers.get((method, route))
        if timer is None:
            timer = self._timers[method, route] = self._services.metrics.seconds.labels(method, route)
        counter.inc()
        timer.observe(seconds)
        sent = len(reply.body) if reply.download is None else reply.download.length or 0
        user, org = (who.user_id, who.org_id) if who is not ANONYMOUS else (None, None)
        self._access_log.add(request.id, request.method, request.path, reply.status, seconds, user, org, sent)


def _idempotency_key(request: Request) -> str | None:
    return request.header(b"idempotency-key") if request.method == "POST" else None


def _replay(kept: KeptReply) -> Reply:
    return Reply(kept.status, [(b"content-type", b"application/json"), (b"idempotent-replay", b"true")], kept.body)

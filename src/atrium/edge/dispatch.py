"""A request on its way to its handler: the caller admitted as the row says, the work done and confirmed, at most once for its key."""

from typing import Any, NamedTuple

from atrium.edge import gate
from atrium.edge.addresses import Addresses
from atrium.edge.cookies import Cookies
from atrium.edge.encode import Header, Reply, reply_of
from atrium.edge.endpoint import Endpoint, fill
from atrium.edge.limits import Rates
from atrium.edge.owners import Owners
from atrium.edge.request import LARGEST_UNKNOWN, Request
from atrium.edge.router import NoRoute
from atrium.ground.idempotency import service as idempotency
from atrium.ground.idempotency.model import StoredReply
from atrium.ground.identity import service as identity
from atrium.ground.identity import sessions
from atrium.ground.limits import service as limits
from atrium.ground.tenancy import service as tenancy
from atrium.kit.errors import AppError
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.pool import ACQUIRE_SECONDS
from atrium.kit.work.shares import Busy, account
from atrium.seams.context import HoldLevel, Operation, Services
from atrium.seams.routes import PUBLIC, READS, Auth, RawBody, Route, SignedOut

# Looked up once: finding an enumeration's member by name takes longer than most steps.
_NOTHING, _WRITING = HoldLevel.NOTHING, HoldLevel.WRITING


class Sent(NamedTuple):
    """A credential, and the body that came with it."""

    token: bytes
    cookie: bool
    body: bytes


class Dispatch:
    """What is done for matched requests: admit, fill, call, confirm."""

    def __init__(self, services: Services, addresses: Addresses, cookies: Cookies) -> None:
        self._services, self._addresses, self._cookies = services, addresses, cookies
        self._owners = Owners()
        self._rates = Rates(services.settings.rate_per_credential)

    async def serve(
        self, endpoint: Endpoint, request: Request, params: list[str], op: Operation, extra: list[tuple[bytes, bytes]]
    ) -> Reply:
        """Admit the caller the way the row's auth class does, then answer."""
        if endpoint.route.scraped and gate.is_scraper(self._services.settings, request.headers.get(b"authorization")):
            return reply_of(await endpoint.call(op, **fill(endpoint, request, params, b"")))
        match endpoint.route.auth:
            case Auth.SIGNED:
                op.session = self._cookies.session_of(request)
                # The gateway admits by signature, and renders its refusals in its own protocol.
                return reply_of(await endpoint.call(op, self._addresses.wire_of(request)))
            case Auth.PUBLIC:
                return await self._serve_anyone(endpoint, request, params, op, extra)
            case Auth.PROVISION:
                return await self._serve_host(endpoint, request, params, op)
            case Auth.SUPERADMIN:
                await self._require_own_hostname(request)
        return await self.serve_known(endpoint, request, params, op, extra)

    async def _serve_anyone(
        self, endpoint: Endpoint, request: Request, params: list[str], op: Operation, extra: list[tuple[bytes, bytes]]
    ) -> Reply:
        op.session = self._cookies.session_of(request)
        if request.method not in READS:
            await self._admit_write_of_address(request)
        raw = await self._body(endpoint, request)
        value = await endpoint.call(op, **fill(endpoint, request, params, raw))
        return _unless_known(reply_of(self._cookies.carry(value, request, extra)), request)

    async def _serve_host(self, endpoint: Endpoint, request: Request, params: list[str], op: Operation) -> Reply:
        settings = self._services.settings
        gate.require_hosted(settings)
        # Before the token is compared: guessing it is bounded, however many addresses of ours are asked.
        await self._admit_write_of_address(request)
        gate.check_provisioner(settings, request.headers.get(b"authorization"))
        return reply_of(await endpoint.call(op, **fill(endpoint, request, params, await self._body(endpoint, request))))

    async def _admit_write_of_address(self, request: Request) -> None:
        services = self._services
        await limits.admit_public_write(services.database, request.address, services.settings.rate_public_writes)

    async def _require_own_hostname(self, request: Request) -> None:
        if await tenancy.is_company_host(self._services.database, request.header(b"host")):
            raise NoRoute("operators' addresses do not exist on a company's hostname")

    async def serve_known(
        self, endpoint: Endpoint, request: Request, params: list[str], op: Operation, extra: list[tuple[bytes, bytes]]
    ) -> Reply:
        """A caller with a credential: identified, within their rate, let in by the row."""
        route, services = endpoint.route, self._services
        if route.protocol is None:
            token, cookie = self._cookies.credential_of(request)
        else:
            token, cookie = self._cookies.program_credential_of(request), False
        if endpoint.decode is not None and request.is_large:
            # A large body is not read for an unknown credential; the credential is checked again after the body arrived.
            await self._identify(token, cookie)
        raw = await self._body(endpoint, request)
        # What is no token waits for nothing.
        identity.require_well_formed(token, cookie=cookie)
        account.set(self._owners.find(token) or account.get())
        sent = Sent(token, cookie, raw)
        if not _takes_long(route, request):
            return await self._serve_identified(endpoint, request, params, op, extra, sent)
        if self._owners.find(token) is None:
            # Strangers wait for no place among those.
            await self._identify(token, cookie)
        # Before the connection: who waits for a place holds none.
        async with services.database.long.hold(account.get(), ACQUIRE_SECONDS):
            return await self._serve_identified(endpoint, request, params, op, extra, sent)

    async def _identify(self, token: bytes, cookie: bool) -> None:
        """Look a credential up, and go on on its company's account; it is looked up again in the transaction of the work."""
        services = self._services
        async with services.database.borrow() as connection:
            hosted = services.settings.hosted
            who = await identity.identify(services.database, connection, token, cookie=cookie, hosted=hosted)
        self._owners.note(token, who.org_id)
        account.set(who.org_id)

    def _found(self, op: Operation, connection: Any, sent: Sent) -> None:
        """From now on the connection is on the account of the company that was found."""
        if op.who.org_id != account.get():
            self._owners.note(sent.token, op.who.org_id)
            self._services.database.owned_by(connection, op.who.org_id)
            account.set(op.who.org_id)

    async def _serve_identified(
        self, endpoint: Endpoint, request: Request, params: list[str], op: Operation, extra: list[Header], sent: Sent
    ) -> Reply:
        """The caller is looked up, and what they ask for is done, with one connection from the credential to the commit."""
        route, services, raw = endpoint.route, self._services, sent.body
        token, cookie = sent.token, sent.cookie
        async with services.database.borrow() as connection:
            if _writes_at_once(endpoint, op, token, cookie):
                # Found and held by one call inside the transaction.
                async with services.database.begin_unidentified(connection) as db:
                    writing = op.holding is _WRITING
                    op.who = await identity.identify_writer(
                        db, token, writing=writing, cookie=cookie, hosted=services.settings.hosted
                    )
                    self._found(op, connection, sent)
                    arguments = self._admit(endpoint, request, params, raw, op, extra)
                    return await self._transact(endpoint, request, op, arguments, raw, db)
            op.who = await identity.identify(
                services.database, connection, token, cookie=cookie, hosted=services.settings.hosted
            )
            self._found(op, connection, sent)
            arguments = self._admit(endpoint, request, params, raw, op, extra)
            confirms = op.who.cookie and gate.gives(route, arguments)
            if endpoint.transactional and not confirms:
                async with services.database.begin(op.who.org_id, connection, op.hold()) as db:
                    return await self._transact(endpoint, request, op, arguments, raw, db)
        if confirms:
            await sessions.confirm_giving(op, arguments["body"].password)
            if endpoint.transactional:
                async with services.database.begin(op.who.org_id, None, op.hold()) as db:
                    return await self._transact(endpoint, request, op, arguments, raw, db)
        # A worker has no account to keep replies for, and its claim's token lets each word about a job count once.
        key = _idempotency_key(request) if op.who.credential != "worker" else None
        if key is not None and endpoint.body is not RawBody and not endpoint.keeps_key:
            return await self._operate_once(endpoint, request, op, arguments, raw, key, extra)
        return await self._operate(endpoint, request, op, arguments, extra)

    def _admit(
        self, endpoint: Endpoint, request: Request, params: list[str], raw: bytes, op: Operation, extra: list[Header]
    ) -> dict[str, Any]:
        """The handler's arguments, for a caller within their rate whom the row lets in."""
        if endpoint.route.rated:
            extra.append((b"ratelimit-policy", self._rates.policy))
            extra.append((b"ratelimit", self._rates.admit(op.who.credential_id)))
        gate.check(endpoint.route, op)
        return fill(endpoint, request, params, raw)

    async def _operate(
        self, endpoint: Endpoint, request: Request, op: Operation, arguments: dict[str, Any], extra: list[Header]
    ) -> Reply:
        """A handler that takes an Operation and opens its own transactions."""
        value = await endpoint.call(op, **arguments)
        gate.confirm(endpoint.route, op)
        if type(value) is SignedOut:
            value = value.value
            if op.who.cookie:
                extra.append(self._cookies.cleared(request))
        return _unless_known(reply_of(self._cookies.carry(value, request, extra)), request)

    async def _operate_once(
        self,
        endpoint: Endpoint,
        request: Request,
        op: Operation,
        arguments: dict[str, Any],
        raw: bytes,
        key: str,
        extra: list[Header],
    ) -> Reply:
        """The same, at most once for its key: claimed before the work and kept after it, each in a transaction of its own."""
        async with op.begin() as ctx:
            kept = await idempotency.claim(ctx, key, request.path.encode(), request.scope["query_string"], raw)
        if kept is not None:
            return _replay(kept)
        try:
            reply = await self._operate(endpoint, request, op, arguments, extra)
        except Busy:
            # Something may have been done before the wait that was too long: the key stays claimed.
            raise
        except AppError:
            async with op.begin(held=False) as ctx:
                await idempotency.release(ctx, key)
            raise
        # The work is done, even when it was to end the credential that asked for it.
        async with op.begin(held=False) as ctx:
            if reply.events is None:
                await idempotency.keep(ctx, key, StoredReply(reply.status, reply.body))
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
        db: Transaction,
    ) -> Reply:
        """A handler that takes a Context: its work, its audit events and its kept reply commit together or not at all."""
        ctx = op.within(db)
        key = _idempotency_key(request)
        if key is not None:
            kept = await idempotency.claim(ctx, key, request.path.encode(), request.scope["query_string"], raw)
            if kept is not None:
                return _replay(kept)
        # Encoded at once and not held: a page of rows that outlives the commit costs more than making it.
        reply = reply_of(await endpoint.call(ctx, **arguments))
        gate.confirm(endpoint.route, ctx)
        if key is not None:
            await idempotency.keep(ctx, key, StoredReply(reply.status, reply.body))
        return _unless_known(reply, request)

    async def _body(self, endpoint: Endpoint, request: Request) -> bytes:
        if endpoint.decode is None and not endpoint.takes_no_body:
            return b""
        settings = self._services.settings
        limit = endpoint.body_limit or settings.body_limit
        if endpoint.route.auth is PUBLIC or endpoint.takes_no_body:
            limit = min(limit, LARGEST_UNKNOWN)
        return await request.body(limit, settings.body_timeout)


def _unless_known(reply: Reply, request: Request) -> Reply:
    """The reply, or that the bytes which the client names are still the current ones."""
    known = request.headers.get(b"if-none-match")
    if known is not None and request.method in ("GET", "HEAD") and (b"etag", known) in reply.headers:
        return Reply(304, [(b"etag", known)], b"", cache=reply.cache, shared=reply.shared)
    return reply


def _writes_at_once(endpoint: Endpoint, op: Operation, token: bytes, cookie: bool) -> bool:
    """Whether nothing has to be asked between finding the caller and writing for them."""
    return (
        endpoint.transactional
        and op.holding is not _NOTHING
        and not (cookie and endpoint.route.gives)
        and identity.is_persons(token, cookie=cookie)
    )


def _takes_long(route: Route, request: Request) -> bool:
    """Whether its statements may take long with this query."""
    if type(route.long) is str:
        return f"{route.long}=".encode() in request.scope["query_string"]
    return bool(route.long)


def _idempotency_key(request: Request) -> str | None:
    return request.header(b"idempotency-key") if request.method == "POST" else None


def _replay(kept: StoredReply) -> Reply:
    return Reply(kept.status, [(b"content-type", b"application/json"), (b"idempotent-replay", b"true")], kept.body)

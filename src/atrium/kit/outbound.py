"""Calling out over HTTP: where an operator's settings say, or to the public internet and nowhere else."""

from functools import cached_property

import httpx

from atrium.kit.addresses import Unresolved, find_public, is_trusted

# The read timeout is the longest silence, before the first byte and between two.
TIMEOUTS = httpx.Timeout(connect=5, read=120, write=30, pool=10)
MOST_CONNECTIONS = 100


class PublicTransport(httpx.AsyncBaseTransport):
    """Looks a host's addresses up for each request, refuses unless all are public, and connects to what it looked up.

    Nothing is kept open: connections are pooled by address, and two names behind one must not share a handshake.
    """

    def __init__(self, trusted_hosts: frozenset[str] = frozenset()) -> None:
        self._trusted_hosts = trusted_hosts
        limits = httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=0)
        self._transport = httpx.AsyncHTTPTransport(limits=limits, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The reply of the first address that takes the connection."""
        host = request.url.host
        if is_trusted(host, self._trusted_hosts):
            return await self._transport.handle_async_request(request)
        try:
            addresses = await find_public(host, request.url.port or 443)
        except Unresolved as error:
            raise httpx.ConnectError(str(error), request=request) from error
        for address in addresses[:-1]:
            try:
                return await self._transport.handle_async_request(_at(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._transport.handle_async_request(_at(request, addresses[-1]))

    async def aclose(self) -> None:
        """Close what is open."""
        await self._transport.aclose()


def _at(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to one address; the name stays in the Host header and in the certificate that is asked for."""
    extensions = {**request.extensions, "sni_hostname": request.url.raw_host.decode()}
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )


class Outbound:
    """This process's HTTP clients. Neither follows redirects, nor goes through a proxy that the environment names."""

    def __init__(self, trusted_hosts: frozenset[str] = frozenset()) -> None:
        self._trusted_hosts = trusted_hosts

    @cached_property
    def anywhere(self) -> httpx.AsyncClient:
        """For addresses out of the operator's own settings."""
        limits = httpx.Limits(max_connections=MOST_CONNECTIONS)
        return httpx.AsyncClient(timeout=TIMEOUTS, limits=limits, trust_env=False)

    @cached_property
    def public(self) -> httpx.AsyncClient:
        """For addresses that come from anybody else."""
        return httpx.AsyncClient(timeout=TIMEOUTS, transport=PublicTransport(self._trusted_hosts), trust_env=False)

    async def close(self) -> None:
        """Close whichever was used."""
        for name in ("anywhere", "public"):
            client = self.__dict__.pop(name, None)
            if client is not None:
                await client.aclose()

"""Addresses: what a caller's counts as, and where a server may call out to: the public internet, and hosts an operator names."""

import asyncio
import ipaddress
import socket
from functools import lru_cache
from urllib.parse import urlsplit

# Ranges that lead elsewhere than they look: translated, tunnelled or mapped addresses, benchmarks, protocol assignments.
_DETOURS = tuple(
    ipaddress.ip_network(text)
    for text in (
        "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0/96",
        "198.18.0.0/15", "192.0.0.0/24", "192.88.99.0/24",
    )
)  # fmt: skip


class NotPublic(ValueError):
    """The URL leads, or could lead, to something inside; the message says why."""


class Unresolved(NotPublic):
    """The host name does not resolve, at least not now."""


def is_public(address: str) -> bool:
    """Whether an address is a plain one on the public internet."""
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if not ip.is_global or ip.is_multicast:
        return False
    return not any(ip in network for network in _DETOURS if network.version == ip.version)


def is_unnamed(host: str) -> bool:
    """Whether a `Host` header has an address or `localhost`, so that no name server decides where it leads."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name) is not None
    except ValueError:
        return False


# A request is counted more than once: by its row's limit, and by whatever else it asks for.
@lru_cache(maxsize=1024)
def counted_as(address: str) -> str:
    """What limits count a caller's address as: an IPv6 address counts as its /64 network."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip) >> 64 << 64, 64)))


async def require_public(url: str, trusted_hosts: frozenset[str] = frozenset()) -> None:
    """Refuse a URL unless it is plain http(s) and every address behind its host is public, or the host is a trusted one.

    A name can resolve to something else a moment later: the caller resolves again and connects to that address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise NotPublic(f"this is not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.fragment:
        raise NotPublic("give a plain http or https URL, without credentials or a fragment")
    if not is_trusted(host, trusted_hosts):
        await find_public(host, port or 443)


def is_trusted(host: str, trusted_hosts: frozenset[str]) -> bool:
    """Whether an operator named this host."""
    return host.rstrip(".").lower() in trusted_hosts


async def find_public(host: str, port: int) -> list[str]:
    """Every address behind a host; one that is not public refuses them all."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"{host} cannot be resolved") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not all(is_public(address.partition("%")[0]) for address in addresses):
        raise NotPublic(f"{host} is not on the public internet; an operator can allow it with SERVICE_EXECUTOR_HOSTS")
    return addresses

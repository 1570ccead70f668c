"""Hostnames of companies: one spelling each, and proof of control over them."""

import ipaddress
import re
import secrets

import idna

from atrium.ground.tenancy.model import BadDomain

LABEL = "_atrium-challenge"
_HOST = re.compile(r"([a-z0-9._-]{1,253}?)\.?(?::[0-9]*)?")
_PREFIX = "atrium-verify="


def canonical(hostname: str) -> str:
    """The one spelling a hostname is stored and compared in: lower-case ASCII, without a trailing dot."""
    text = hostname.strip().removesuffix(".")
    if "." not in text or _is_address(text):
        raise BadDomain("give a full hostname such as notes.example.com, without a port, a path or an address")
    try:
        return idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode().lower()
    except idna.IDNAError as error:
        raise BadDomain(f"{hostname} is not a hostname: {error}") from error


def host_of(header: str | None) -> str:
    """The hostname in a Host header, in its stored spelling; empty for anything that cannot be one."""
    found = _HOST.fullmatch((header or "").lower())
    return found[1] if found else ""


def new_proof() -> str:
    """A value to publish as a TXT record."""
    return _PREFIX + secrets.token_urlsafe(24)


async def is_proven(hostname: str, proof: str, servers: list[str]) -> bool:
    """Whether the TXT record at `_atrium-challenge.<hostname>` carries the proof."""
    # Imported by those who use it: the resolver takes a tenth of a start, and few instances prove hostnames.
    import dns.asyncresolver
    import dns.exception

    resolver = dns.asyncresolver.Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [server.partition("@")[0] for server in servers]
        resolver.port = int(servers[0].partition("@")[2] or 53)
    resolver.lifetime = 5
    try:
        answer = await resolver.resolve(f"{LABEL}.{hostname}", "TXT")
    except dns.exception.DNSException:
        return False
    return any(proof.encode() == b"".join(record.strings) for record in answer)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True

"""The rows under probe: the core's table and the plugins', exactly as a server binds them."""

import re

from atrium.boot.assemble import endpoints_of, register
from atrium.boot.wiring import DOMAINS
from atrium.edge.endpoint import Endpoint
from atrium.routes import ROUTES
from atrium.seams.routes import READS, Auth, RawBody
from atrium.seams.settings import Settings

Key = tuple[str, str]
_PARAMETER = re.compile(r"[:*]\w+")


def key_of(endpoint: Endpoint) -> Key:
    return endpoint.route.method, endpoint.route.path


def name_of(endpoint: Endpoint) -> str:
    return " ".join(key_of(endpoint))


def parameters_of(path: str) -> list[str]:
    """The path up to and with each of its parameters: `/api/notes/:id/share` has `/api/notes/:id`."""
    return [path[: found.end()] for found in _PARAMETER.finditer(path)]


def needs_example(endpoint: Endpoint) -> bool:
    """Whether a request without a body or a query cannot be right."""
    required = endpoint.query.keys() - endpoint.defaults.keys()
    return endpoint.reads_json or endpoint.body is RawBody or bool(required)


def is_public(endpoint: Endpoint) -> bool:
    return endpoint.route.auth is Auth.PUBLIC


def speaks_ours(endpoint: Endpoint) -> bool:
    """Whether our own document describes it; S3's and MCP's messages are described by theirs."""
    return endpoint.route.auth is not Auth.SIGNED and endpoint.route.protocol is None


def writes(endpoint: Endpoint) -> bool:
    return endpoint.route.method not in READS


ENDPOINTS = endpoints_of(ROUTES, DOMAINS, register(Settings()))

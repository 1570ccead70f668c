"""`atrium routes` and `atrium openapi`: the route table and the document made of it."""

from typing import Any

from atrium.boot.assemble import endpoints_of, register
from atrium.boot.wiring import DOMAINS
from atrium.edge import openapi
from atrium.routes import ROUTES
from atrium.seams.settings import Settings


def table(settings: Settings) -> list[dict[str, Any]]:
    """The route table as data, in matching order, plugins' rows included."""
    return [
        {
            "method": endpoint.route.method,
            "path": endpoint.route.path,
            "auth": endpoint.route.auth.value,
            "permission": endpoint.route.permission,
            "feature": endpoint.route.feature,
            "section": endpoint.route.section,
            "shape": endpoint.summary,
        }
        for endpoint in endpoints_of(ROUTES, DOMAINS, register(settings))
    ]


def openapi_document(settings: Settings) -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.document(endpoints_of(ROUTES, DOMAINS, register(settings)))

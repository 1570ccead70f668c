"""A server with the tools that the conformance suite calls: `python -m tests.domains.mcp.conformance_server serve --port N`.

The suite cannot send a credential, so that requests to /mcp that have none get the one in the file that
CONFORMANCE_TOKEN_FILE names; everything behind that is the server as it is.
"""

import asyncio
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from atrium.boot.assemble import assemble
from atrium.boot.serve import bind, prepare_database, run
from atrium.boot.wiring import DOMAINS
from atrium.edge.app import App
from atrium.kit.errors import Invalid
from atrium.kit.telemetry.log import set_up_logging
from atrium.seams.context import Context
from atrium.seams.settings import read_settings
from atrium.seams.tools import Tool
from atrium.seams.wiring import Domain

TOKEN_FILE = "CONFORMANCE_TOKEN_FILE"
CONFORMANCE_SERVER = ("-m", "tests.domains.mcp.conformance_server")


async def _text(ctx: Context, arguments: dict[str, Any]) -> str:
    return "This is a simple text response for testing."


async def _error(ctx: Context, arguments: dict[str, Any]) -> str:
    raise Invalid("This tool intentionally returns an error for testing")


# As the suite's scenario `json-schema-2020-12` wants it.
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _tool(name: str, act: Any, schema: dict[str, Any] | None = None) -> Tool:
    return Tool(name=name, description="For the suite.", permission="notes:read", effect="read", act=act, schema=schema)


TOOLS = (
    _tool("test_simple_text", _text),
    _tool("test_error_handling", _error),
    _tool("json_schema_2020_12_tool", _text, SCHEMA),
)


@cache
def _credential(file: str) -> bytes:
    return b"Bearer " + Path(file).read_bytes()


class AdmittingApp(App):
    """The application, for a client that cannot send a credential."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp" and b"authorization" not in dict(scope["headers"]):
            scope["headers"] = [*scope["headers"], (b"authorization", _credential(os.environ[TOKEN_FILE]))]
        await super().__call__(scope, receive, send)


if __name__ == "__main__":
    settings = read_settings()
    set_up_logging(settings.log_level)
    asyncio.run(prepare_database(settings))
    application = assemble(settings, domains=(*DOMAINS, Domain("suite", tools=TOOLS)))
    application.app.__class__ = AdmittingApp
    run(application, bind("127.0.0.1", int(sys.argv[-1])))

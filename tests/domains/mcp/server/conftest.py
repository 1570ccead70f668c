"""A server with a few tools of the tests' own beside the usual ones."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.ground.limits.model import TooOften
from atrium.product.notes import service as notes
from atrium.seams.context import Context, Operation
from atrium.seams.tools import Artifact, Effect, Parameter, Tool
from atrium.seams.wiring import Domain
from tests.postgres import fresh_database
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

BEGUN = asyncio.Event()
ENDED: list[str] = []


async def repeat(ctx: Context, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"said": arguments["text"]}


async def fail(ctx: Context, arguments: dict[str, Any]) -> None:
    await notes.create_note(ctx, "left behind", "", "team")
    raise RuntimeError("a secret of the tool")


async def refuse(ctx: Context, arguments: dict[str, Any]) -> None:
    raise TooOften("not so often", retry_after=7)


async def wait(op: Operation, arguments: dict[str, Any]) -> str:
    BEGUN.set()
    try:
        await asyncio.sleep(arguments.get("seconds", 60))
    except asyncio.CancelledError:
        ENDED.append("cancelled")
        raise
    return "waited"


async def draw(ctx: Context, arguments: dict[str, Any]) -> Artifact:
    return Artifact(kind="table", title="Fields", summary="3 fields", object_id=UUID(int=7), extra={"total": 3})


async def speak(ctx: Context, arguments: dict[str, Any]) -> Any:
    return {"text": "x" * arguments["length"]}


def tool(name: str, act: Any = None, effect: Effect = "read", permission: str = "notes:read", **more: Any) -> Tool:
    return Tool(name=name, description="For a test.", permission=permission, effect=effect, act=act, **more)


HEADED = {
    "properties": {
        "text": {"type": "string", "x-mcp-header": "Text", "default": {"x-mcp-header": "data"}},
        "x-mcp-header": {"type": "string"},
    }
}
TOOLS = (
    tool("t_repeat", repeat, parameters=(Parameter(name="text", type="string"),)),
    tool("t_fail", fail, "write"),
    tool("t_refuse", refuse),
    tool("t_wait", perform=wait, effect="egress", seconds=61, parameters=(Parameter(name="seconds", type="number", optional=True),)),
    tool("t_late", perform=wait, effect="egress", seconds=0.05),
    tool("t_draw", draw),
    tool("t_speak", speak, parameters=(Parameter(name="length", type="integer"),)),
    tool("t_admin", draw, permission="settings:manage"),
    tool("t_headed", draw, schema=HEADED),
    tool("t_text_alone", draw, schema={"type": "string"}),
)  # fmt: skip


@pytest.fixture(scope="session")
async def speaking(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    # A database of its own: it has its own bytes, and would claim the reading of documents that are elsewhere.
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("data"))
        async with open_application(settings, domains=(*DOMAINS, Domain("tried", tools=TOOLS))) as house:
            yield house


@pytest.fixture
async def company(speaking: Application) -> Company:
    return await found_company(speaking)

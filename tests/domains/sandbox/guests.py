"""Guests in a folder, a server that has them, and calls of their tools over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from atrium.boot.assemble import Application
from atrium.seams.guests import Grants, ToolEffects
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.plugin_folders import write_plugin
from tests.support.servers import open_application, settings_for

MISBEHAVING = Path(__file__).with_name("misbehaving.py")
MANIFEST = """
id = "{id}"
name = "For a test"
version = "1.0.0"
description = "For a test."
command = ["python3", "-I", "guest.py"]
"""
CALLER = """
import msgspec
from atrium.sdk import PluginRequest, call_tool


class Wanted(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict


async def call(op: Operation, request: PluginRequest):
    return {"value": (await call_tool(op, request.body.name, request.body.arguments)).value}


PLUGIN = Plugin(routes=(PluginRoute("POST", "/call", "notes:read", call, "Call a tool.", body=Wanted),))
"""


def write_guest(root: Path, id: str, code: str | None = None, manifest: str = "", *, whole: str | None = None) -> Path:
    """A guest's folder: the misbehaving one unless there is other code; `manifest` are more lines of it."""
    folder = root / id
    folder.mkdir(mode=0o755)
    (folder / "guest.toml").write_text(MANIFEST.format(id=id) + manifest if whole is None else whole)
    (folder / "guest.py").write_text(MISBEHAVING.read_text() if code is None else code)
    return folder


@asynccontextmanager
async def serving(url: str, root: Path, private: Path, **settings: Any) -> AsyncIterator[Application]:
    """A server with these guests, and a route that calls a tool."""
    write_plugin(private, "caller", CALLER)
    chosen = {"oop_grants": Grants(settings.pop("grants", "")), "oop_effects": ToolEffects(settings.pop("effects", ""))}
    made = settings_for(url, oop_dir=str(root), plugins_dir=str(private), data_dir=private, **chosen, **settings)
    async with open_application(made) as application:
        assert application.services.registry.failed_plugins == {}
        yield application


async def turn_on(company: Company, *only: str) -> None:
    """Let a company's first team use every tool of every guest, or those whose names end like this."""
    owner = await company.join("owner")
    for tool in (await owner.get("/api/tools"))["items"]:
        if tool["source"].startswith("oop:") and (not only or tool["name"].endswith(only)):
            assert (await owner.post(f"/api/tools/{tool['name']}", {"enabled": True})).status == 200


async def call(person: Client, guest: str, tool: str, /, **arguments: object) -> Answer:
    """One call of a guest's tool."""
    return await person.post("/api/x/caller/call", {"name": f"oop_{guest}_{tool}", "arguments": arguments})


async def value_of(person: Client, guest: str, tool: str, /, **arguments: object) -> Any:
    """What a call returned that must succeed."""
    answer = await call(person, guest, tool, **arguments)
    assert answer.status == 200, answer.raw
    return answer["value"]

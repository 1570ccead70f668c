"""Boots a copy of the project that has one domain more, and uses everything that domain brought."""

import asyncio
import sys
import tempfile
from pathlib import Path

from atrium.boot.assemble import Application
from atrium.engine.tools.calls import call_tool
from atrium.ground.identity import service as identity
from atrium.seams.context import HoldLevel, Operation
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for


async def main() -> None:
    """Prints what the listing shows: one name for each way a greeting came in."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=Path(tempfile.mkdtemp()), embed_worker=True)
        async with open_application(settings) as house:
            company = await found_company(house)
            member = await company.join("member")
            await _use(house, member)
            other = await (await found_company(house)).join("owner")
            assert (await other.get("/api/greetings"))["items"] == []
            assert "/api/greetings" in house.services.registry.openapi.decode()
            print(",".join(sorted(one["name"] for one in (await member.get("/api/greetings"))["items"])))


async def _use(house: Application, member: Client) -> None:
    op = await _operation(house, member)
    await call_tool(op, "greet", {"name": "tool"})
    await member.put("/api/repo/listener", b"x")
    job = await member.post("/api/jobs", {"kind": "greetings.greet", "input": {"name": "job"}})
    async with asyncio.timeout(PATIENCE):
        while (await member.get(f"/api/jobs/{job['id']}"))["state"] != "succeeded":
            await asyncio.sleep(0.05)


async def _operation(house: Application, member: Client) -> Operation:
    async with house.services.database.borrow() as connection:
        who = await identity.identify(house.services.database, connection, (member.token or "").encode())
    return Operation(who=who, services=house.services, holding=HoldLevel.WRITING)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

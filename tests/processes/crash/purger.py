"""A process that does nothing but purge what is due and release its bytes, until it is killed."""

import asyncio

from atrium.engine.repository import release
from atrium.product.trash import service as trash
from atrium.seams.settings import read_settings
from tests.support.servers import open_application


async def main() -> None:
    """Again and again, without a pause to speak of."""
    async with open_application(read_settings()) as house:
        print("purging", flush=True)
        while True:
            await trash.purge_due(house.services)
            await release.sweep(house.services)
            await asyncio.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(main())

"""A process that does nothing but release blobs nobody refers to, until it is killed."""

import asyncio

from atrium.engine.repository import release
from atrium.seams.settings import read_settings
from tests.support.servers import open_application


async def main() -> None:
    """Sweep without a pause, and without waiting for anything to grow old."""
    async with open_application(read_settings()) as house:
        print("sweeping", flush=True)
        while True:
            await release.sweep(house.services, seconds=0)
            await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(main())

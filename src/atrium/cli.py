"""The command `atrium`. Server modules are imported by the command that needs them, so that help stays quick."""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from atrium import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is the process's."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help()
        return 2
    code: int = options.run(options)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="atrium", description="Atrium, a team workspace server.")
    parser.add_argument("--version", action="version", version=f"atrium {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="")

    up = commands.add_parser(
        "up", help="start everything with one command: a private PostgreSQL unless SERVICE_DATABASE_URL is set"
    )
    serving = commands.add_parser("serve", help="serve on the PostgreSQL of SERVICE_DATABASE_URL")
    for command, run in ((up, _up), (serving, _serve)):
        command.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
        command.add_argument("--port", type=int, default=8080, help="port to listen on (default %(default)s)")
        command.set_defaults(run=run)

    working = commands.add_parser(
        "work", help="run jobs from the PostgreSQL of SERVICE_DATABASE_URL until told to stop"
    )
    working.add_argument(
        "--concurrency", type=int, help="jobs to run at once (default SERVICE_WORKER_CONCURRENCY)", metavar="N"
    )
    working.set_defaults(run=_work)
    commands.add_parser("migrate", help="bring the database's schema to head").set_defaults(run=_migrate)
    commands.add_parser(
        "check", help="compare the table with the handlers, load plugins, look at the database"
    ).set_defaults(run=_check)
    routes = commands.add_parser("routes", help="print the route table")
    routes.add_argument("--json", action="store_true", help="as data, with the interface's field names and codes")
    routes.set_defaults(run=_routes)
    commands.add_parser("openapi", help="print the OpenAPI document").set_defaults(run=_openapi)
    commands.add_parser("settings", help="print every SERVICE_ variable with its default").set_defaults(run=_settings)

    audit = commands.add_parser("audit", help="check or export the audit chains").add_subparsers(
        required=True, metavar=""
    )
    verify = audit.add_parser("verify", help="recompute every company's chain")
    verify.add_argument(
        "--heads", help="a file made by `atrium audit heads`, kept outside; also catches a cut-off tail"
    )
    verify.set_defaults(run=_audit_verify)
    audit.add_parser("heads", help="print the end of every chain, to keep outside the database").set_defaults(
        run=_audit_heads
    )

    keys = commands.add_parser("keys", help="work on the instance's keys").add_subparsers(required=True, metavar="")
    keys.add_parser(
        "reseal", help="seal every secret again under the newest of SERVICE_SECRET_KEY's keys"
    ).set_defaults(run=_reseal)
    blobs = commands.add_parser("blobs", help="check the bytes of objects").add_subparsers(required=True, metavar="")
    blobs.add_parser(
        "verify", help="read and hash every referenced blob again; report what is missing, corrupt or orphaned"
    ).set_defaults(run=_blobs_verify)
    return parser


def _serve(options: argparse.Namespace) -> int:
    from atrium.boot.serve import serve
    from atrium.kit.settings import read_settings

    settings = read_settings()
    if not settings.database_url:
        return _complain("SERVICE_DATABASE_URL is not set; `atrium up` starts a private PostgreSQL for you")
    serve(settings, options.host, options.port)
    return 0


def _work(options: argparse.Namespace) -> int:
    from atrium.boot.work import work
    from atrium.kit.settings import read_settings

    settings = read_settings()
    if not settings.database_url:
        return _complain("SERVICE_DATABASE_URL is not set; `atrium up` runs jobs by itself")
    if options.concurrency is not None and options.concurrency < 1:
        return _complain("--concurrency takes a number of at least 1")
    work(settings, options.concurrency)
    return 0


def _up(options: argparse.Namespace) -> int:
    from atrium.boot.up import up
    from atrium.kit.settings import read_settings

    return up(read_settings(), options.host, options.port)


def _migrate(options: argparse.Namespace) -> int:
    from atrium.kit.migrate import migrate
    from atrium.kit.settings import read_settings

    settings = read_settings()
    applied = asyncio.run(migrate(settings.database_owner_url or settings.database_url))
    print("\n".join(f"applied {name}" for name in applied) or "nothing to do: the schema is at head")
    return 0


def _check(options: argparse.Namespace) -> int:
    from atrium.boot.examine import examine
    from atrium.kit.settings import read_settings

    problems, notes = asyncio.run(examine(read_settings()))
    print("\n".join([*notes, *(f"problem: {text}" for text in problems)]))
    return 1 if problems else 0


def _routes(options: argparse.Namespace) -> int:
    from atrium.boot.examine import table
    from atrium.kit.settings import read_settings

    rows = table(read_settings())
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(f"{row['method']:7} {row['path']:44} {row['auth']:3} {row['permission'] or '':24} {row['shape']}")
    return 0


def _openapi(options: argparse.Namespace) -> int:
    from atrium.boot.examine import openapi_document
    from atrium.kit.settings import read_settings

    print(json.dumps(openapi_document(read_settings()), indent=1))
    return 0


def _settings(options: argparse.Namespace) -> int:
    from atrium.kit.settings import describe_settings

    print(describe_settings())
    return 0


def _audit_verify(options: argparse.Namespace) -> int:
    from atrium.boot.examine import verify_audit
    from atrium.kit.settings import read_settings

    return asyncio.run(verify_audit(read_settings(), options.heads))


def _audit_heads(options: argparse.Namespace) -> int:
    from atrium.boot.examine import print_heads
    from atrium.kit.settings import read_settings

    return asyncio.run(print_heads(read_settings()))


def _reseal(options: argparse.Namespace) -> int:
    from atrium.boot.examine import reseal
    from atrium.kit.settings import read_settings

    print(
        f"{asyncio.run(reseal(read_settings()))} secrets sealed again; older keys can be dropped from SERVICE_SECRET_KEY"
    )
    return 0


def _blobs_verify(options: argparse.Namespace) -> int:
    from atrium.boot.blobs import verify_blobs
    from atrium.kit.settings import read_settings

    return asyncio.run(verify_blobs(read_settings()))


def _complain(text: str) -> int:
    print(f"atrium: {text}", file=sys.stderr)
    return 2

"""The command `atrium`. Server modules are imported by the command that needs them, so that help stays quick."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atrium import __version__
from atrium.commands.settings import read_known_settings, read_settings_with_database, with_running_database
from atrium.kit.refusals import CommandError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is the process's: 2 when something has to be changed first, 1 when it failed."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help()
        return 2
    try:
        code: int = options.run(options)
    except CommandError as refusal:
        print(f"atrium: {refusal}", file=sys.stderr)
        return refusal.code
    except BrokenPipeError:
        # The reader closed the pipe; flushing the rest at exit must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="atrium", description="Atrium, a team workspace server.")
    parser.add_argument("--version", action="version", version=f"atrium {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    up = commands.add_parser(
        "up", help="start everything with one command: a private PostgreSQL unless SERVICE_DATABASE_URL is set"
    )
    serving = commands.add_parser("serve", help="serve on the PostgreSQL of SERVICE_DATABASE_URL")
    for command, run in ((up, _up), (serving, _serve)):
        command.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
        command.add_argument("--port", type=_port, default=8080, help="port to listen on (default %(default)s)")
        command.set_defaults(run=run)

    working = commands.add_parser(
        "work", help="run jobs from the PostgreSQL of SERVICE_DATABASE_URL until it is stopped"
    )
    working.add_argument(
        "--concurrency", type=int, help="jobs to run at once (default SERVICE_WORKER_CONCURRENCY)", metavar="N"
    )
    working.set_defaults(run=_work)
    commands.add_parser("migrate", help="migrate the database to the newest schema").set_defaults(run=_migrate)
    doctor = commands.add_parser(
        "doctor", help="look at everything the instance depends on, and say what to do about it"
    )
    doctor.add_argument("--json", action="store_true", help="as JSON")
    doctor.set_defaults(run=_doctor)
    commands.add_parser("check", help="check the routes, the plugins and the database").set_defaults(run=_check)
    routes = commands.add_parser("routes", help="print the route table")
    routes.add_argument("--json", action="store_true", help="as JSON, with the interface's field names and codes")
    routes.set_defaults(run=_routes)
    commands.add_parser("openapi", help="print the OpenAPI document").set_defaults(run=_openapi)
    commands.add_parser("settings", help="print every SERVICE_ variable with its default").set_defaults(run=_settings)

    audit = commands.add_parser("audit", help="check or export the audit chains").add_subparsers(
        required=True, metavar="COMMAND"
    )
    verify = audit.add_parser("verify", help="recompute every company's chain")
    verify.add_argument(
        "--heads", help="a file made by `atrium audit heads`, or the server's log; also catches a cut-off tail"
    )
    verify.set_defaults(run=_audit_verify)
    audit.add_parser("heads", help="print the end of every chain, to keep outside the database").set_defaults(
        run=_audit_heads
    )

    export = audit.add_parser("export", help="print every event as a line of JSON, to keep or to search elsewhere")
    export.add_argument("--company", help="only this company's, by id or slug")
    export.set_defaults(run=_audit_export)

    quotas = commands.add_parser("quotas", help="check what is counted").add_subparsers(
        required=True, metavar="COMMAND"
    )
    quotas.add_parser("verify", help="compare what companies are counted to store with what is there").set_defaults(
        run=_quotas_verify
    )

    users = commands.add_parser("users", help="reset a user's password").add_subparsers(
        required=True, metavar="COMMAND"
    )
    resetting = users.add_parser("reset", help="print a link that sets a new password; it works once, for a day")
    resetting.add_argument("username", metavar="USERNAME")
    resetting.add_argument(
        "--url", help="where people reach the server (default SERVICE_BASE_URL, else http://127.0.0.1:8080)"
    )
    resetting.set_defaults(run=_users_reset)

    keys = commands.add_parser("keys", help="work on the instance's keys").add_subparsers(
        required=True, metavar="COMMAND"
    )
    keys.add_parser(
        "reseal", help="seal every secret again under the newest of SERVICE_SECRET_KEY's keys"
    ).set_defaults(run=_reseal)
    blobs = commands.add_parser("blobs", help="check the bytes of objects").add_subparsers(
        required=True, metavar="COMMAND"
    )
    verifying = blobs.add_parser(
        "verify", help="read and hash every referenced blob again; report what is missing, corrupt or orphaned"
    )
    verifying.add_argument(
        "--release-orphans",
        action="store_true",
        help="also delete bytes that no row refers to, such as after a restore",
    )
    verifying.set_defaults(run=_blobs_verify)
    _add_backups(commands)
    _add_moves(commands)
    searching = commands.add_parser("search", help="check or rebuild the search index").add_subparsers(
        required=True, metavar="COMMAND"
    )
    searching.add_parser("verify", help="compare the index with what it is made of; report differences").set_defaults(
        run=_search_verify
    )
    searching.add_parser("rebuild", help="write the whole index anew while the server goes on").set_defaults(
        run=_search_rebuild
    )
    return parser


def _add_backups(commands: Any) -> None:
    backup = commands.add_parser("backup", help="make, list, verify and prune backups").add_subparsers(
        required=True, metavar="COMMAND"
    )
    creating = backup.add_parser("create", help="rows and bytes of one instant, while people go on working")
    creating.set_defaults(run=_backup_create)
    listing = backup.add_parser("list", help="what is there, and when it was verified")
    listing.add_argument("--json", action="store_true", help="as JSON, with the manifests")
    listing.set_defaults(run=_backup_list)
    pruning = backup.add_parser("prune", help="drop old backups, and the bytes that only they name")
    pruning.add_argument("--keep", type=int, required=True, metavar="N", help="how many of the newest stay")
    pruning.set_defaults(run=_backup_prune)
    for command in (creating, listing, pruning):
        command.add_argument("folder", type=Path, metavar="DIR")
    verifying = backup.add_parser("verify", help="read and hash everything again; every fault is named")
    verifying.add_argument("--drill", action="store_true", help="also restore into a PostgreSQL that is thrown away")
    verifying.set_defaults(run=_backup_verify)
    restoring = commands.add_parser("restore", help="put a backup into an empty instance")
    restoring.add_argument(
        "--replace", action="store_true", help="in place of the people and data that are there; makes a backup first"
    )
    restoring.set_defaults(run=_restore)
    for command in (verifying, restoring):
        command.add_argument("backup", type=Path, metavar="DIR/STAMP")


def _add_moves(commands: Any) -> None:
    company = commands.add_parser("company", help="move one company to another instance").add_subparsers(
        required=True, metavar="COMMAND"
    )
    leaving = company.add_parser("export", help="write a company into an archive; it is read-only from then on")
    leaving.add_argument("ref", metavar="REF", help="its id or slug")
    leaving.add_argument("place", type=Path, metavar="FILE")
    leaving.set_defaults(run=_company_export)
    coming = company.add_parser("import", help="bring a company in, whole or not at all, and print its receipt")
    coming.add_argument("place", type=Path, metavar="FILE")
    coming.add_argument(
        "--rename", action="append", default=[], metavar="OLD=NEW", help="a username, or the slug, that is taken here"
    )
    coming.set_defaults(run=_company_import)
    going = company.add_parser("release", help="drop a company that another instance has, and say where it went")
    going.add_argument("--receipt", type=Path, required=True, metavar="FILE", help="what the import printed")
    going.add_argument("--moved-to", metavar="URL", help="where people find it now (default: what the receipt says)")
    going.set_defaults(run=_company_release)
    staying = company.add_parser("stay", help="call a move off: the company is as it was before the export")
    staying.set_defaults(run=_company_stay)
    for command in (going, staying):
        command.add_argument("ref", metavar="REF", help="its id or slug")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: it takes a number from 0 to 65535")
    return int(text)


def _serve(options: argparse.Namespace) -> int:
    from atrium.boot.serve import serve

    settings = read_known_settings()
    if not settings.database_url:
        raise CommandError("SERVICE_DATABASE_URL is not set; `atrium up` starts a private PostgreSQL for you")
    serve(settings, options.host, options.port)
    return 0


def _work(options: argparse.Namespace) -> int:
    from atrium.boot.work import work

    settings = read_known_settings()
    if not settings.database_url:
        raise CommandError("SERVICE_DATABASE_URL is not set; `atrium up` runs jobs by itself")
    if options.concurrency is not None and options.concurrency < 1:
        raise CommandError("--concurrency takes a number of at least 1")
    work(settings, options.concurrency)
    return 0


def _up(options: argparse.Namespace) -> int:
    from atrium.commands.up import up
    from atrium.seams.setting_values import LogLevel

    # On a terminal the address must not scroll away under a line for each request.
    quiet = {"access_log": False, "log_level": LogLevel.WARNING} if sys.stdout.isatty() else {}
    return up(read_known_settings(**quiet), options.host, options.port)


def _migrate(options: argparse.Namespace) -> int:
    from atrium.commands.migrate import bring_to_head

    applied = asyncio.run(bring_to_head(read_settings_with_database()))
    print("\n".join(f"applied {name}" for name in applied) or "nothing to do: the schema is at head")
    return 0


def _check(options: argparse.Namespace) -> int:
    from atrium.commands.check import examine
    from atrium.seams.settings import read_settings

    problems, notes = asyncio.run(examine(with_running_database(read_settings())))
    print("\n".join([*notes, *(f"problem: {text}" for text in problems)]))
    return 1 if problems else 0


def _doctor(options: argparse.Namespace) -> int:
    from atrium.commands.doctor import print_checkup

    return asyncio.run(print_checkup(read_settings_with_database(), as_json=options.json))


def _routes(options: argparse.Namespace) -> int:
    from atrium.commands.routes import table

    rows = table(read_known_settings())
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(f"{row['method']:7} {row['path']:44} {row['auth']:3} {row['permission'] or '':24} {row['shape']}")
    return 0


def _openapi(options: argparse.Namespace) -> int:
    from atrium.commands.routes import openapi_document

    print(json.dumps(openapi_document(read_known_settings()), indent=1))
    return 0


def _settings(options: argparse.Namespace) -> int:
    from atrium.seams.settings import describe_settings

    print(describe_settings())
    return 0


def _audit_verify(options: argparse.Namespace) -> int:
    from atrium.commands.audit import verify_audit

    return asyncio.run(verify_audit(read_settings_with_database(), options.heads))


def _quotas_verify(_: argparse.Namespace) -> int:
    from atrium.commands.quotas import verify_storage

    return asyncio.run(verify_storage(read_settings_with_database()))


def _audit_heads(options: argparse.Namespace) -> int:
    from atrium.commands.audit import print_heads

    return asyncio.run(print_heads(read_settings_with_database()))


def _audit_export(options: argparse.Namespace) -> int:
    from atrium.commands.audit import export_audit

    return asyncio.run(export_audit(read_settings_with_database(), options.company))


def _users_reset(options: argparse.Namespace) -> int:
    from atrium.commands.people import print_reset_link

    return asyncio.run(print_reset_link(read_settings_with_database(), options.username, options.url))


def _reseal(options: argparse.Namespace) -> int:
    from atrium.commands.keys import reseal

    changed = asyncio.run(reseal(read_settings_with_database()))
    print(f"{changed} secrets sealed again; older keys can be dropped from SERVICE_SECRET_KEY")
    return 0


def _blobs_verify(options: argparse.Namespace) -> int:
    from atrium.commands.blobs import verify_blobs

    return asyncio.run(verify_blobs(read_settings_with_database(), release_orphans=options.release_orphans))


def _backup_create(options: argparse.Namespace) -> int:
    from atrium.commands.backups import create_backup

    return create_backup(read_known_settings(), options.folder.resolve())


def _backup_list(options: argparse.Namespace) -> int:
    from atrium.commands.backups import list_backups

    return list_backups(options.folder, as_json=options.json)


def _backup_prune(options: argparse.Namespace) -> int:
    from atrium.commands.backups import prune_backups

    return prune_backups(options.folder, options.keep)


def _backup_verify(options: argparse.Namespace) -> int:
    from atrium.commands.backups import verify_backup

    return verify_backup(read_known_settings(), options.backup.resolve(), drill=options.drill)


def _restore(options: argparse.Namespace) -> int:
    from atrium.commands.backups import restore_backup

    return restore_backup(read_known_settings(), options.backup.resolve(), replace_people=options.replace)


def _company_export(options: argparse.Namespace) -> int:
    from atrium.commands.company import export_company

    return export_company(read_known_settings(), options.ref, options.place.resolve())


def _company_import(options: argparse.Namespace) -> int:
    from atrium.commands.company import import_company

    return import_company(read_known_settings(), options.place.resolve(), options.rename)


def _company_release(options: argparse.Namespace) -> int:
    from atrium.commands.company import release_company

    return release_company(read_known_settings(), options.ref, options.receipt, options.moved_to)


def _company_stay(options: argparse.Namespace) -> int:
    from atrium.commands.company import keep_company

    return keep_company(read_known_settings(), options.ref)


def _search_verify(options: argparse.Namespace) -> int:
    from atrium.commands.search import verify_search

    return asyncio.run(verify_search(read_settings_with_database()))


def _search_rebuild(options: argparse.Namespace) -> int:
    from atrium.commands.search import rebuild_search

    return asyncio.run(rebuild_search(read_settings_with_database()))

"""`atrium doctor`: the same look that operators have in the console, from a machine whose server may not even start."""

import contextlib
import secrets
import sys
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from atrium.admin.instance import doctor
from atrium.admin.instance.model import Checkup, HealthCheck
from atrium.boot.assemble import assemble
from atrium.boot.requirements import problems_with
from atrium.kit.crypto.keys import find_secret
from atrium.kit.refusals import CommandError
from atrium.kit.telemetry.log import set_up_logging
from atrium.seams.blobs import close_store
from atrium.seams.context import ANONYMOUS, Operation, Services
from atrium.seams.settings import Settings

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
_COLOURS = {"ok": "32", "warn": "33", "fail": "31"}


async def print_checkup(settings: Settings, *, as_json: bool) -> int:
    """Print every check; 1 when one fails. Nothing is started, migrated or made."""
    set_up_logging("error")
    checks = await _examine(settings)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(Checkup(checks))).decode())
    else:
        print("\n".join(_lines(checks)))
    return 1 if any(check.verdict == "fail" for check in checks) else 0


async def _examine(settings: Settings) -> list[HealthCheck]:
    if found := problems_with(settings):
        return [HealthCheck("settings", "fail", "; ".join(found), "Correct these settings.")]
    # A key that is not here is not made: another in its place is refused by what is sealed.
    secret = find_secret(settings.secret_key, settings.data_dir) or secrets.token_urlsafe(32)
    try:
        services = assemble(replace(settings, secret_key=secret)).services
    except CommandError as refusal:
        return [HealthCheck("settings", "fail", str(refusal), "Mend what is named; `atrium check` names it, too.")]
    return await _look(services)


async def _look(services: Services) -> list[HealthCheck]:
    with contextlib.suppress(Exception):  # the doctor finds out by itself, and says it
        await services.database.open()
    try:
        return await doctor.examine(Operation(who=ANONYMOUS, services=services))
    finally:
        await services.database.close()
        await close_store(services.blobs)
        services.staging.close()
        services.outbound.close()


def _lines(checks: list[HealthCheck]) -> Iterator[str]:
    wide = max(len(check.name) for check in checks)
    for check in checks:
        mark = _MARKS[check.verdict]
        mark = f"\x1b[{_COLOURS[check.verdict]}m{mark}\x1b[0m" if sys.stdout.isatty() else mark
        yield f"{mark}  {check.name:{wide}}  {check.found}"
        if check.remedy:
            yield f"{'':{wide + 8}}{check.remedy}"
    fails, warns = (sum(check.verdict == verdict for check in checks) for verdict in ("fail", "warn"))
    yield f"{len(checks)} checks, {fails} failed, {warns} to look at"

"""The settings that a command of `atrium` begins with. Settings themselves are imported when they are read, so that help stays quick."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from atrium.kit.refusals import CommandError

if TYPE_CHECKING:
    from atrium.seams.settings import Settings


def read_known_settings(**usual: object) -> "Settings":
    """The settings of this process; a name that is none of them is said, because it was meant to be one."""
    from atrium.seams.settings import read_settings, unknown_names

    for sentence in unknown_names():
        print(f"atrium: {sentence}", file=sys.stderr)
    return read_settings(usual=usual)


def read_settings_with_database() -> "Settings":
    """The same, for a command that needs a database: of the settings, or of the `atrium up` that runs here."""
    settings = with_running_database(read_known_settings())
    if settings.database_url:
        return settings
    raise CommandError(
        f"SERVICE_DATABASE_URL is not set, and no `atrium up` is running on {settings.data_dir.resolve()}"
    )


def with_running_database(settings: "Settings") -> "Settings":
    """With a database, if these settings name one or an `atrium up` runs here."""
    from atrium.boot.postgres import find_address, find_running

    if url := settings.database_url or settings.database_owner_url:
        return replace(settings, database_url=url)
    if url := find_running(settings.data_dir) or "":
        return replace(settings, database_url=url, base_url=settings.base_url or find_address(settings.data_dir))
    return settings

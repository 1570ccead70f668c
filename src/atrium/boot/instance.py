"""The instance that the settings name, found or started: what backups and moves are made of."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from atrium.admin.backups import service
from atrium.admin.backups.model import BackupManifest, BackupRefused, InstanceAccess
from atrium.boot.assemble import open_blobs, register
from atrium.boot.postgres import find_running, private_postgres
from atrium.boot.requirements import explain_database_errors, require_keys
from atrium.seams.blobs import close_store
from atrium.seams.settings import Settings, search_path

LOCAL_EXTRA = "a private PostgreSQL is an extra: pip install 'atrium[local]'"


@contextlib.contextmanager
def reach_instance(settings: Settings, *, new: bool = False) -> Iterator[Settings]:
    """The settings with a database: their own, the one of the `atrium up` that runs here, or that one, started for as long as this takes.

    Where there was never one, it is made if it may be `new`.
    """
    owner = settings.database_owner_url or settings.database_url
    url = owner or find_running(settings.data_dir)
    if url:
        yield replace(settings, database_url=settings.database_url or url, database_owner_url=url)
        return
    data = settings.data_dir.resolve()
    if not new and not (data / "postgres").is_dir():
        raise BackupRefused(f"SERVICE_DATABASE_URL is not set, and {data} holds no data of `atrium up`")
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(private_postgres(data))
        except ImportError as error:
            raise BackupRefused(LOCAL_EXTRA) from error
        yield replace(settings, database_url=url, database_owner_url=url)


async def back_up(settings: Settings, folder: Path) -> tuple[Path, BackupManifest]:
    """Rows and bytes of the instance that the settings name."""
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(explain_database_errors())
        instance = instance_of(settings)
        stack.push_async_callback(close_store, instance.blobs)
        return await service.create(instance, folder)


def instance_of(settings: Settings, *, restored: bool = False) -> InstanceAccess:
    """The instance that the settings name, as the login that makes backups or owns the tables."""
    owner = settings.database_owner_url or settings.database_url
    return InstanceAccess(
        owner if restored else settings.backup_database_url or owner,
        open_blobs(settings, register(settings)),
        require_keys(settings),
        search_path(),
        settings.data_dir / "staging",
    )

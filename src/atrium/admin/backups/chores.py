"""What backups do in the background: one is made and verified when the newest is old enough."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from atrium.admin.backups import service
from atrium.admin.backups.folder import BackupBusy
from atrium.admin.backups.model import InstanceAccess
from atrium.kit.refusals import CommandError
from atrium.kit.telemetry.log import log
from atrium.seams.context import Services
from atrium.seams.settings import search_path
from atrium.seams.wiring import Chore


async def make_due(services: Services) -> None:
    """Make a backup where none is as young as it should be; of several processes on one folder, one does."""
    settings = services.settings
    age = await service.read_age(settings)
    if age is None:
        return
    services.metrics.last_backup.set(age.taken_at.timestamp() if age.taken_at else 0)
    due = timedelta(hours=settings.backup_hours)
    services.metrics.backup_interval.set(due.total_seconds())
    if not due or (age.taken_at is not None and datetime.now(UTC) - age.taken_at < due):
        return
    url = settings.backup_database_url or settings.database_owner_url or settings.database_url
    instance = InstanceAccess(url, services.blobs, services.keys, search_path(), settings.data_dir / "staging")
    try:
        backup, faults = await service.create_verified(instance, Path(settings.backup_dir))
    except BackupBusy:
        return
    except CommandError as refusal:
        log.error("backup.failed", error=str(refusal))
        return
    if faults:
        log.error("backup.faulty", backup=backup.name, faults=faults)
    else:
        log.info("backup.made", backup=backup.name)
        services.metrics.last_backup.set(datetime.now(UTC).timestamp())


CHORES = (Chore("backups.make", 60, make_due),)

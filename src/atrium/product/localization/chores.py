"""What localization does in the background."""

from datetime import timedelta

from atrium.ground.tenancy import service as tenancy
from atrium.kit.ids import NIL
from atrium.kit.telemetry.log import log
from atrium.product.localization import imports, store
from atrium.product.localization.copies import Copies
from atrium.product.localization.model import ImportRunning
from atrium.seams.context import Context, Services
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore


async def look_at_disk(services: Services) -> int:
    """Once in the life of a process: take in other catalogs than the last ones, if any ever were."""
    copies: Copies = services.started["localization"]
    if copies.checked_disk:
        return 0
    async with services.database.begin_system() as db:
        founding = (await tenancy.read_instance(Context.of_company(services, db, NIL))).founding
    try:
        report = await imports.import_start(services, founding.org_id) if founding else None
    except ImportRunning:
        # It may take in less than everything, or be cut off: the next round looks again.
        return 0
    copies.checked_disk = True
    if report is not None:
        log.info("localization.imported", locales=sorted(report.locales), refused=len(report.refused))
    return len(report.locales) if report else 0


# The history keeps their texts.
RETIRED = Retention("localization.forget", always(timedelta(days=90)), store.forget_retired)
CHORES = (Chore("localization.look_at_disk", 60, look_at_disk), RETIRED.chore())

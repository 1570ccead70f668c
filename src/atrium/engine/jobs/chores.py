"""What the queue does in the background."""

from datetime import timedelta

from atrium.engine.jobs import child_jobs, queue_rows, service
from atrium.seams.retention import Retention, always, days
from atrium.seams.wiring import Chore

FINISHED = Retention("jobs.forget", days("job_retention_days"), queue_rows.forget_finished)
WORKERS = Retention("jobs.forget_workers", always(timedelta(hours=1)), queue_rows.forget_silent_workers)
CHORES = (
    Chore("jobs.sweep", 1, service.sweep),
    FINISHED.chore(),
    WORKERS.chore(),
    Chore("jobs.forget_parts", 60, child_jobs.forget),
)

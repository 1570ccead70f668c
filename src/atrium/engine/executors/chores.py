"""What executors do in the background."""

from datetime import timedelta

from atrium.engine.executors import health_checks, store
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore

PROBES = Retention("executors.forget", always(timedelta(days=1)), store.forget_probes)
CHORES = (Chore("executors.probe", 10, health_checks.probe_executors), PROBES.chore())

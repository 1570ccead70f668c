"""What executors do in the background."""

from datetime import timedelta

from atrium.engine.executors import probing, store
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore

PROBES = Retention("executors.forget", always(timedelta(days=1)), store.forget_probes)
CHORES = (Chore("executors.probe", 10, probing.probe_executors), PROBES.chore())

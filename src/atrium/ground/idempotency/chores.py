"""What idempotency does in the background."""

from datetime import timedelta

from atrium.ground.idempotency import store
from atrium.seams.retention import Retention, always

KEYS = Retention("idempotency.forget", always(timedelta(hours=24)), store.forget_keys)
CHORES = (KEYS.chore(),)

"""What limits do in the background."""

from datetime import timedelta

from atrium.ground.limits import store
from atrium.seams.retention import Retention, always

RETENTIONS = (
    Retention("limits.forget_rates", always(timedelta(minutes=5)), store.forget_rates),
    Retention("limits.forget_failures", always(timedelta(minutes=30)), store.forget_failures),
    Retention("limits.forget_sign_ins", always(timedelta(days=180)), store.forget_sign_ins),
)
CHORES = tuple(retention.chore() for retention in RETENTIONS)

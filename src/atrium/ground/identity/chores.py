"""What identity does in the background."""

from datetime import timedelta

from atrium.ground.identity import credential_rows, login, store
from atrium.seams.retention import Retention, always
from atrium.seams.wiring import Chore

RETENTIONS = (
    Retention("identity.forget_tokens", always(timedelta(days=1)), credential_rows.forget_tokens),
    Retention("identity.forget_resets", always(timedelta(0)), store.forget_resets),
    Retention("identity.forget_failed_sign_ins", always(timedelta(hours=1)), store.forget_failed_sign_ins),
)
CHORES = (
    Chore("identity.record_failures", 10, login.record_failures, last=True),
    *(retention.chore() for retention in RETENTIONS),
)

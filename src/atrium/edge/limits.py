"""The rate of one credential in this process: in memory, because asking the database would cost more than it saves."""

import time
from uuid import UUID

from atrium.ground.limits.model import TooOften

_SWEEP = 10_000


class Rates:
    """Generic cell rate per credential, a minute's worth of burst."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._interval = 60 / per_minute
        self._arrives: dict[UUID, float] = {}
        self.policy = b'"credential";q=%d;w=60' % per_minute

    def admit(self, credential: UUID) -> bytes:
        """The RateLimit header of an admitted request; refuses one that comes too early."""
        now = time.monotonic()
        arrives = max(self._arrives.get(credential, now), now)
        ahead = arrives - now
        if ahead > 60 - self._interval:
            wait = int(ahead - 60 + self._interval) + 1
            raise TooOften(f"at most {self._per_minute} requests a minute with one credential", retry_after=wait)
        if len(self._arrives) >= _SWEEP:
            self._arrives = {key: at for key, at in self._arrives.items() if at > now}
        self._arrives[credential] = arrives + self._interval
        return b'"credential";r=%d;t=%d' % (self._per_minute - ahead / self._interval - 1, ahead + 1)

"""What turns do in the background."""

from datetime import timedelta

from atrium.engine.turns import lost_turns, store, upkeep
from atrium.seams.retention import Retention, always
from atrium.seams.settings import Settings
from atrium.seams.wiring import Chore


def _turn_age(settings: Settings) -> timedelta:
    return timedelta(hours=settings.turn_retention_hours)


TURNS = Retention("turns.forget", _turn_age, store.forget_turns)
PROCESSES = Retention("turns.forget_processes", always(timedelta(days=1)), store.forget_processes)
CHORES = (
    Chore("turns.store", 1, upkeep.store_pieces),
    Chore("turns.settle_lost", 2, lost_turns.settle_lost),
    TURNS.chore(),
    PROCESSES.chore(),
)

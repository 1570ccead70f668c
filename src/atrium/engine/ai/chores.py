"""What AI does in the background."""

from atrium.engine.ai import keeping
from atrium.seams.wiring import Chore

CHORES = (
    Chore("turns.store", 1, keeping.store_pieces),
    Chore("turns.settle_lost", 2, keeping.settle_lost),
    Chore("turns.forget", 300, keeping.forget),
)

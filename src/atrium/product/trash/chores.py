"""What the trash does in the background."""

from atrium.product.trash import service
from atrium.seams.wiring import Chore

CHORES = (Chore("trash.purge", 300, service.purge_due),)

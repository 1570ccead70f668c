"""What triggers do in the background."""

from atrium.product.triggers import fire_rows
from atrium.seams.retention import Retention, days

FIRES = Retention("triggers.forget", days("run_retention_days"), fire_rows.forget_fires)
CHORES = (FIRES.chore(),)

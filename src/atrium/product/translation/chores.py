"""What translation does in the background."""

from atrium.product.translation import store
from atrium.seams.retention import Retention, days

TRANSLATIONS = Retention("translations.forget", days("translation_retention_days"), store.forget_translations)
CHORES = (TRANSLATIONS.chore(),)

"""What the repository does in the background."""

from functools import partial

from atrium.engine.repository import multipart, release
from atrium.engine.repository.model import OBJECTS
from atrium.ground.sharing import grants
from atrium.seams.wiring import Chore

CHORES = (
    Chore("repository.sweep", 60, release.sweep),
    Chore("repository.forget_grants", 300, partial(grants.forget_grants, of=OBJECTS)),
    Chore("repository.forget_uploads", 300, multipart.forget_uploads),
)

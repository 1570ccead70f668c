"""What the repository does in the background."""

from atrium.engine.repository import multipart, release, service
from atrium.seams.wiring import Chore

CHORES = (
    Chore("repository.sweep", 60, release.sweep),
    Chore("repository.forget_grants", 300, service.forget_grants),
    Chore("repository.forget_uploads", 300, multipart.forget_uploads),
)

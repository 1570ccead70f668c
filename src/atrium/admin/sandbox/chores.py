"""What guests do in the background."""

from atrium.admin.sandbox import service
from atrium.seams.wiring import Chore

CHORES = (Chore("sandbox.learn", 10, service.learn),)

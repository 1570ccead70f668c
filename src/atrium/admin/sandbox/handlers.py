"""The wire of guests."""

from atrium.admin.sandbox import service
from atrium.admin.sandbox.model import GuestPage
from atrium.seams.context import Operation


async def list_guests(op: Operation) -> GuestPage:
    """Connected sandboxed out-of-process plugins and the capabilities they may request."""
    return await service.list_guests(op)

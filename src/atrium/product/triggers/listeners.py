"""What triggers do when an object is written, whichever way, when a run that was fired is resumed, and when a member leaves."""

from atrium.engine.repository.model import ObjectWritten
from atrium.engine.workflows.run_model import FiredResumed
from atrium.ground.identity.model import MemberRemoved
from atrium.product.triggers import fires, service
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Start the workflows of the triggers that the version matches."""
    await fires.fire(ctx, event)


async def on_fired_resumed(ctx: Context, event: FiredResumed) -> None:
    """Whether the trigger's runs may send something elsewhere, as of now."""
    event.egress = await fires.may_send(ctx, event.trigger_id, event.digest)


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """The person's heir answers for their triggers."""
    event.triggers += await service.hand_over(ctx, event.person_id, event.heir)


LISTENERS = (
    Listener(ObjectWritten, on_object_written),
    Listener(FiredResumed, on_fired_resumed),
    Listener(MemberRemoved, on_member_removed),
)

"""What S3 does when something happens to a person: their key pairs are counted, or end with the rest."""

from atrium.ground.identity.model import MemberRemoved, PasswordSet
from atrium.product.s3 import service
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_password_set(ctx: Context, event: PasswordSet) -> None:
    """End the person's key pairs, or say how many they keep."""
    if event.end_all:
        event.s3_keys = await service.end_keys(ctx, event.person_id)
    else:
        event.s3_keys = await service.count_keys(ctx, event.person_id)


async def on_member_removed(ctx: Context, event: MemberRemoved) -> None:
    """End the person's key pairs."""
    event.s3_keys = await service.end_keys(ctx, event.person_id)


LISTENERS = (Listener(PasswordSet, on_password_set), Listener(MemberRemoved, on_member_removed))

"""The wire of features."""

import msgspec

from atrium.ground.features import service
from atrium.ground.features.model import Feature
from atrium.kit.web.pages import Page
from atrium.seams.context import Context


async def list_features(ctx: Context) -> Page[Feature]:
    """The team's feature flags."""
    return Page(service.list_features(ctx))


class FeatureSwitch(msgspec.Struct, forbid_unknown_fields=True):
    """On or off."""

    enabled: bool


async def switch_feature(ctx: Context, name: str, body: FeatureSwitch) -> Feature:
    """Turn a feature on or off for the team."""
    return await service.switch_feature(ctx, name, body.enabled)

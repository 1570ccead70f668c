"""The verbs of features."""

from atrium.ground.audit import service as audit
from atrium.ground.features import store
from atrium.ground.features.model import FEATURES, Feature, FeatureMissing, FeatureOff
from atrium.seams.context import Actor, Context


def require_feature(acting: Actor, name: str) -> None:
    """Refuse while the caller's team has this feature off."""
    if name not in acting.who.features:
        raise FeatureOff(f"the feature {name} is off for your team; a team admin can turn it on", feature=name)


def list_features(ctx: Context) -> list[Feature]:
    """Every flag with its state for the caller's team."""
    return [Feature(name, name in ctx.who.features) for name in FEATURES]


async def switch_feature(ctx: Context, name: str, enabled: bool) -> Feature:
    """Turn a feature on or off for the caller's team; it holds from the next request on."""
    if name not in FEATURES:
        raise FeatureMissing(f"there is no feature {name}; there are {', '.join(FEATURES)}")
    await store.put_switch(ctx.db, ctx.who.org_id, ctx.who.team_id, name, enabled)
    await audit.record(ctx, "features.switched", name, enabled=enabled)
    return Feature(name, enabled)

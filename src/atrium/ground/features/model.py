"""The flags there are."""

from functools import lru_cache

import msgspec

from atrium.kit.errors import Forbidden, Missing

# On until a team turns it off.
FEATURES = ("agent", "chat", "translate", "workflows")
# Which features a permission serves; what is not here serves none.
_SERVED = {
    "chat:use": frozenset({"agent", "chat", "translate"}),
    "workflows:read": frozenset({"workflows"}),
    "workflows:run": frozenset({"workflows"}),
    "workflows:write": frozenset({"workflows"}),
}


class Feature(msgspec.Struct, frozen=True):
    """A flag as one team has it."""

    name: str
    enabled: bool


class FeatureOff(Forbidden):
    """The team has turned this feature off."""

    code = "features.off"
    title = "This feature is off"


class FeatureMissing(Missing):
    """No feature has this name."""

    code = "features.missing"
    title = "No such feature"


@lru_cache(maxsize=4096)
def features_of(switches: tuple[str, ...]) -> frozenset[str]:
    """The features that are on, given a team's switches as `+name` and `-name`."""
    off = {switch[1:] for switch in switches if switch[0] == "-"}
    return frozenset(name for name in FEATURES if name not in off)


@lru_cache(maxsize=64)
def idle_permissions(features: frozenset[str]) -> frozenset[str]:
    """The permissions that serve features only, and none that is on."""
    return frozenset(permission for permission, served in _SERVED.items() if not served & features)

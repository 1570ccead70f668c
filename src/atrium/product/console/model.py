"""The nouns of the console."""

import msgspec

from atrium.ground.tenancy.model import LocalePolicy
from atrium.kit.errors import Missing
from atrium.seams.setting_values import Home


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the page must know before its first request; it travels inside the page."""

    title: str
    tagline: str
    logo: str | None
    theme: dict[str, str]
    locale: str
    localization: LocalePolicy
    needs_bootstrap: bool
    # Where the root shows the sign-up form, the console lives at `/index.html`.
    home: Home


class AssetMissing(Missing):
    """No file of the console has this name."""

    code = "console.asset_missing"
    title = "No such file"

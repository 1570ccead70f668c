"""The nouns of the console."""

import msgspec

from atrium.kit.errors import Missing


class LocalePolicy(msgspec.Struct, frozen=True):
    """Which languages there are, and whether people may switch."""

    default_locale: str
    locales: list[str]
    switching: bool


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the page must know before its first request; it travels inside the page."""

    title: str
    tagline: str
    logo: str | None
    theme: dict[str, str]
    locale: str
    localization: LocalePolicy
    needs_bootstrap: bool


class Policy(msgspec.Struct, frozen=True):
    """The instance's choice of language, once it is set up."""

    default_locale: str | None
    switching: bool


class AssetMissing(Missing):
    """No file of the console has this name."""

    code = "console.asset_missing"
    title = "No such file"

"""The nouns of branding."""

from typing import Annotated
from uuid import UUID

import msgspec

from atrium.kit.errors import Invalid, Stale, TooLarge

DEFAULT_TITLE = "Atrium"
# One line of text each, without control characters; a title is not blank. `$` alone would let a last line break through.
Title = Annotated[str, msgspec.Meta(max_length=80, pattern=r"^(?=.*\S)[^\x00-\x1f\x7f]+$(?!\n)")]
Tagline = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$(?!\n)")]
Theme = dict[str, str]
Logo = str | None | msgspec.UnsetType


class Branding(msgspec.Struct, frozen=True, kw_only=True):
    """A look as its viewers get it: `theme` holds the tokens that differ from the console's own, ready for a stylesheet."""

    title: str
    tagline: str
    logo: str | None
    theme: Theme
    own: bool
    revision: str

    def etag(self) -> str:
        """Changes with every edit, of the company's look or of the instance's beneath it."""
        return f'"{self.revision}"'


class Inherited(msgspec.Struct, frozen=True, kw_only=True):
    """What shows wherever an editor sets nothing."""

    title: str
    tagline: str
    theme: Theme


class EditableBranding(Branding, frozen=True, kw_only=True):
    """A look as its editors get it: what is shown, and beside it what they themselves have set; null is inherited."""

    own_title: str | None
    own_tagline: str | None
    own_logo: bool
    own_theme: Theme
    inherited: Inherited


class Layers(msgspec.Struct, frozen=True):
    """What the instance set, and on top of it what a company set; everything `own_` is empty without a company."""

    title: str | None
    tagline: str | None
    theme: Theme
    revision: UUID
    own_title: str | None
    own_tagline: str | None
    own_theme: Theme | None
    own_palette: Theme | None
    own_revision: UUID | None
    own_logo: bool
    logo: str | None


class BadToken(Invalid):
    """A theme token is unknown, malformed, or below the contrast floor; `token` names it, `nearest` is a colour that would do."""

    code = "branding.bad_token"
    title = "This theme token cannot be used"


class BadLogo(Invalid):
    """The bytes are not a PNG, JPEG or WebP image that can be read."""

    code = "branding.bad_logo"
    title = "This logo cannot be used"


class LogoTooLarge(TooLarge):
    """The logo has more bytes than a logo may have."""

    code = "branding.logo_too_large"
    title = "This logo is too large"


class BrandingStale(Stale):
    """The branding changed after it was read."""

    code = "branding.stale"
    title = "This look was changed in the meantime"

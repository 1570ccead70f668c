"""The nouns of hosting."""

import msgspec

from atrium.ground.identity.model import Person
from atrium.kit.errors import Conflict, Invalid, Unauthenticated
from atrium.product.onboarding.model import Prospect


class Provisioned(msgspec.Struct, frozen=True):
    """The tenant's owner, and the link with which they take it over; the link works once."""

    owner: Person
    activation_url: str
    activation_token: str


class DecidedProspect(Prospect, frozen=True, kw_only=True, omit_defaults=True):
    """A prospect that was decided about; the link is in the reply to the invitation, once."""

    activation_url: str | None = None
    activation_token: str | None = None


class NoUsername(Invalid):
    """The prospect's address cannot be the owner's username."""

    code = "hosting.no_username"
    title = "A username is needed"


class TenantState(msgspec.Struct, frozen=True):
    """Whether the tenant may write."""

    suspended: bool


class AlreadyProvisioned(Conflict):
    """The company already has another owner, or this owner has already set a password."""

    code = "hosting.provisioned"
    title = "Provisioned already"


class NotProvisioned(Conflict):
    """There is no tenant yet."""

    code = "hosting.not_provisioned"
    title = "Not provisioned yet"


class LinkRefused(Unauthenticated):
    """The activation link is unknown, used or too old."""

    code = "hosting.activation_refused"
    title = "This link does not work any more"

"""The nouns of identity."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.ground.access.model import OrgRole, Role
from atrium.kit.errors import Conflict, Forbidden, Invalid, Missing, Unauthenticated

Username = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$(?!\n)")]
Password = Annotated[str, msgspec.Meta(max_length=1024)]
NewPassword = Annotated[str, msgspec.Meta(min_length=8, max_length=1024)]
DisplayName = Annotated[str, msgspec.Meta(max_length=200)]
Locale = Annotated[str, msgspec.Meta(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$(?!\n)", max_length=35)]

# What a principal is made of, in the order in which a lookup's row is unpacked.
PERSON = "user_id, team_id, org_id, username, role, org_role, operator, switches, suspended"


class Person(msgspec.Struct, frozen=True):
    """A user as others see them."""

    id: UUID
    username: str
    display_name: str


class Place(msgspec.Struct, frozen=True):
    """A team or a company, by name."""

    id: UUID
    name: str


class OrgPlace(msgspec.Struct, frozen=True):
    """A company, by name and slug."""

    id: UUID
    name: str
    slug: str
    suspended: bool = False


class Member(msgspec.Struct, frozen=True):
    """A person in a team."""

    id: UUID
    team_id: UUID
    username: str
    display_name: str
    role: Role
    org_role: OrgRole | None
    two_factor: bool
    created_at: datetime


class Account(msgspec.Struct, frozen=True):
    """A user as sign-in and the second factor need them; never leaves the server."""

    id: UUID
    org_id: UUID
    team_id: UUID
    username: str
    display_name: str
    locale: str | None
    role: Role
    org_role: OrgRole | None
    operator: bool
    password_hash: str | None
    totp_sealed: bytes | None
    now: float


class Token(msgspec.Struct, frozen=True):
    """An API token without its secret."""

    id: UUID
    name: str
    user_id: UUID
    username: str
    scope: list[str] | None
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None


class Issued(msgspec.Struct, frozen=True):
    """A credential that was just made; the raw token appears here and never again."""

    id: UUID
    token: str
    expires_at: datetime | None


class IssuedToken(msgspec.Struct, frozen=True):
    """A new API token, its secret shown once."""

    id: UUID
    token: str
    name: str
    scope: list[str] | None
    created_at: datetime
    expires_at: datetime | None


class Session(msgspec.Struct, frozen=True):
    """A signed-in session."""

    token: str
    expires_at: datetime | None
    user: Person
    team: Place
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - the scheme's name


class Identity(msgspec.Struct, frozen=True):
    """Who the caller is and what they may do."""

    user: Person
    team: Place
    org: OrgPlace
    role: Role
    org_role: OrgRole | None
    operator: bool
    locale: str
    permissions: list[str]
    features: list[str]
    two_factor: bool
    credential: str


class Enrolment(msgspec.Struct, frozen=True):
    """A second factor just turned on; shown once."""

    secret: str
    otpauth_uri: str
    recovery_codes: list[str]


class UsernameTaken(Conflict):
    """Usernames are unique on the instance."""

    code = "identity.username_taken"
    title = "This username is taken"


class BadCredentials(Unauthenticated):
    """One wording for an unknown user and for a wrong password."""

    code = "identity.bad_credentials"
    title = "Sign-in refused"


class CodeRequired(Unauthenticated):
    """The password is right and the second factor is on."""

    code = "identity.totp_required"
    title = "One-time code required"


class CodeRefused(Unauthenticated):
    """Wrong, expired or already used."""

    code = "identity.code_refused"
    title = "One-time code refused"


class ConfirmRequired(Forbidden):
    """A recent sign-in, or the current password, is needed for this."""

    code = "identity.confirm_required"
    title = "Confirm it is you"


class RoleTooHigh(Forbidden):
    """Nobody grants above their own role."""

    code = "identity.role_too_high"
    title = "Above your own role"


class ScopeTooWide(Forbidden):
    """A new credential reaches no further than the one that makes it."""

    code = "identity.scope_too_wide"
    title = "Scope too wide"


class WeakPassword(Invalid):
    """Too easy to guess."""

    code = "identity.weak_password"
    title = "Choose another password"


class TwoFactorOff(Conflict):
    """There is no second factor to act on."""

    code = "identity.two_factor_off"
    title = "Two-factor is off"


class TwoFactorOn(Conflict):
    """The second factor is on already."""

    code = "identity.two_factor_on"
    title = "Two-factor is on already"


class LocaleFixed(Forbidden):
    """The instance's language is everybody's."""

    code = "identity.locale_fixed"
    title = "One language here"


class TokenMissing(Missing):
    """No such token in this team."""

    code = "identity.token_missing"
    title = "No such token"


class UserMissing(Missing):
    """No such person."""

    code = "identity.user_missing"
    title = "No such person"

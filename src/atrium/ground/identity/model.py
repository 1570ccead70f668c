"""The nouns of identity: people, their accounts, roles and second factors; those of credentials stand beside it."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.ground.access.model import OrgRole, Role
from atrium.kit.errors import Conflict, Forbidden, Invalid, Missing, Unauthenticated

Username = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$(?!\n)")]
Password = Annotated[str, msgspec.Meta(max_length=1024)]
# The caller's own, with which a session in a cookie confirms that it is the person who asks for a credential.
CurrentPassword = Annotated[
    Password, msgspec.Meta(description="The caller's own password; needed from a browser's session.")
]
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
    """A person in a team; `revision` in quotation marks is what If-Match compares."""

    id: UUID
    team_id: UUID
    username: str
    display_name: str
    role: Role
    org_role: OrgRole | None
    two_factor: bool
    created_at: datetime
    revision: str

    def etag(self) -> str:
        """Differs when their team or one of their roles does."""
        return f'"{self.revision}"'


class PersonDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A person to add; without a display name the username stands in for it."""

    username: str
    role: str
    display_name: str = ""
    org_role: OrgRole | None = None
    operator: bool = False
    password_hash: str | None = None


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


class FailedSignIns(msgspec.Struct, frozen=True):
    """Failed sign-ins of an account since they were last shown."""

    org_id: UUID
    team_id: UUID
    user_id: UUID
    failures: int
    wrong_codes: int
    address: str


class PasswordSet(msgspec.Struct):
    """A person has a new password: who keeps credentials of theirs ends them (`end_all`), and says how many there are."""

    person_id: UUID
    end_all: bool
    s3_keys: int = 0


class AfterPassword(msgspec.Struct, frozen=True):
    """What ended with the old password, and what still acts for the person."""

    sessions_ended: int
    tokens_ended: int
    s3_keys_ended: int
    tokens: int
    s3_keys: int


class PersonRoles(msgspec.Struct, frozen=True):
    """A person's current roles: in their team, in the company and on the instance."""

    id: UUID
    team_id: UUID
    role: str
    org_role: str | None
    operator: bool
    username: str
    revision: str

    def etag(self) -> str:
        """The member's own."""
        return f'"{self.revision}"'


# What happens to items that were not shared.
Private = Literal["trash", "transfer"]


class MemberRemoved(msgspec.Struct):
    """A member leaves: each listener hands their items over to `heir`, ends what acts for them, and reports counts.

    Items that were not shared go into the trash, or (`transfer`) to the heir as well. When no person was named to get them, `heir` is
    who asks, and all of it is undone if there is anything to hand over.
    """

    person_id: UUID
    heir: UUID
    private: Private
    notes: int = 0
    objects: int = 0
    trashed_notes: int = 0
    trashed_objects: int = 0
    s3_keys: int = 0
    triggers: int = 0


class RemovalReport(msgspec.Struct, frozen=True):
    """Who has left, what others got of theirs, what is in the trash, and what no longer acts for them."""

    id: UUID
    notes: int
    objects: int
    trashed_notes: int
    trashed_objects: int
    tokens: int
    s3_keys: int


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
    # Of these, what serves only features that the team has turned off: a new credential may not hold it.
    idle_permissions: list[str]
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
    """A person cannot grant a role above their own."""

    code = "identity.role_too_high"
    title = "Above your own role"


class OwnersOnly(Forbidden):
    """Only an org_owner may name or remove an org_owner, or hand over what a member kept private."""

    code = "companies.owners_only"
    title = "For company owners"


class WeakPassword(Invalid):
    """Too easy to guess."""

    code = "identity.weak_password"
    title = "Choose another password"


class RoleChanged(Conflict):
    """The caller is no longer what they were when they asked."""

    code = "identity.role_changed"
    title = "Your own role has changed"


class LastOwner(Conflict):
    """A team and a company each keep an owner."""

    code = "identity.last_owner"
    title = "The last owner stays"


class OperatorStays(Conflict):
    """An operator cannot be removed from the instance."""

    code = "identity.operator_stays"
    title = "An operator stays"


class HeirRequired(Invalid):
    """A leaving member's items need a new owner in their team."""

    code = "identity.heir_required"
    title = "Say who takes over"


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


class UserMissing(Missing):
    """No such person."""

    code = "identity.user_missing"
    title = "No such person"

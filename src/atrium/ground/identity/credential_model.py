"""The nouns of credentials: sessions, API tokens and links for a new password, and what is refused about them."""

from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import msgspec

from atrium.ground.audit.model import AuditEvent
from atrium.ground.identity.model import Person, Place
from atrium.kit.errors import Forbidden, Invalid, Missing, Unauthenticated

SignInMethod = Literal["password", "passkey", "sso", "first"]


class ResetLink(msgspec.Struct, frozen=True):
    """A link for hand delivery, with which its person chooses a new password, once."""

    url: str
    expires_at: datetime


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


class Given(msgspec.Struct, frozen=True):
    """What an API token gave, as the audit trail tells it: who or what has it (`subject`, and by which `name`), and a role, if it is one.

    `role` is one in a team and `org_role` one in the company; both are empty where a role in the company was taken away.
    """

    at: datetime
    kind: str
    subject: str
    name: str
    role: str | None
    org_role: str | None

    @classmethod
    def of(cls, event: AuditEvent, person: str | None) -> "Given":
        """As the person is told who revokes the token; `person` is the name that its person has today."""
        facts = event.facts
        name = person or facts.get("name") or facts.get("username") or ""
        return cls(event.at, event.kind, event.subject, name, facts.get("role"), facts.get("org_role"))


class TokenTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What a new credential is, what it may do, and how long it lasts."""

    kind: str
    name: str = ""
    scope: list[str] | None = None
    idle_limit: timedelta | None = None
    lifetime: timedelta | None = None
    method: SignInMethod = "password"


class TokenRow(TokenTerms, frozen=True, kw_only=True):
    """A credential as it is inserted: its holder, its digest, and the device that asked for it."""

    id: UUID
    org_id: UUID
    team_id: UUID
    user_id: UUID
    digest: bytes
    user_agent: str
    address: str


class NewCredential(msgspec.Struct, frozen=True):
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
    """A signed-in session; without its token when that went into a cookie."""

    token: str | None
    expires_at: datetime | None
    user: Person
    team: Place
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - the scheme's name


class ResetSession(Session, frozen=True):
    """The session after a reset, and which API tokens and S3 keys still act for the person."""

    tokens: int = 0
    s3_keys: int = 0


class OpenSession(msgspec.Struct, frozen=True):
    """A session, as its owner sees it."""

    id: UUID
    current: bool
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    user_agent: str
    address: str
    method: SignInMethod


class CredentialOver(Unauthenticated):
    """What a stream ends with whose credential has ended."""

    code = "identity.credential_ended"
    title = "Signed out"


class ScopeTooWide(Forbidden):
    """A new credential may not have permissions that the one making it lacks."""

    code = "identity.scope_too_wide"
    title = "Scope too wide"


class LinkSpent(Invalid):
    """A link that is unknown, used or too old."""

    code = "identity.link_spent"
    title = "This link does not work any more"


class TokenMissing(Missing):
    """No such token in this team."""

    code = "identity.token_missing"
    title = "No such token"


class SessionMissing(Missing):
    """Not a session of the caller's own, or not any more."""

    code = "identity.session_missing"
    title = "No such session"

"""The wire of identity."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.ground.access.model import Role
from atrium.ground.identity import api_tokens, login, members, passwords, resets, service, sessions, two_factor
from atrium.ground.identity.credential_model import (
    Given,
    IssuedToken,
    OpenSession,
    ResetLink,
    ResetSession,
    Session,
    Token,
)
from atrium.ground.identity.model import (
    AfterPassword,
    CurrentPassword,
    DisplayName,
    Enrolment,
    Identity,
    Locale,
    Member,
    NewPassword,
    Password,
    Private,
    RemovalReport,
    Username,
)
from atrium.ground.identity.passwords import End
from atrium.kit.web.pages import Cursor, Limit, Page
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Created, Host, IfMatch, SignedIn, SignedOut


class Deleted(msgspec.Struct, frozen=True):
    """The id of what is gone."""

    id: UUID


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    """What a person signs in with; `code` is a one-time or a recovery code."""

    username: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    password: Password
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None


async def log_in(op: Operation, body: Credentials) -> SignedIn[Session]:
    """Sign in with username and password, plus a code when two-factor is on."""
    return SignedIn(await login.log_in(op, body.username, body.password, body.code))


async def log_out(op: Operation) -> SignedOut[Deleted]:
    """Sign out: end the session that asks."""
    return SignedOut(Deleted(await sessions.log_out(op)))


async def list_sessions(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[OpenSession]:
    """Where the caller is signed in, with device, address and last use."""
    return await sessions.list_sessions(ctx, limit, cursor)


async def end_session(op: Operation, id: UUID) -> Deleted:
    """End one of one's own sessions."""
    await sessions.end_session(op, id)
    return Deleted(id)


class EndedSessions(msgspec.Struct, frozen=True):
    """How many sessions ended."""

    ended: int


async def end_other_sessions(op: Operation) -> EndedSessions:
    """End every session of one's own but the one that asks."""
    return EndedSessions(await sessions.end_other_sessions(op))


class Confirmation(msgspec.Struct, forbid_unknown_fields=True):
    """The current password; with a bearer token not needed within ten minutes of signing in."""

    password: Password | None = None


async def enable_two_factor(op: Operation, body: Confirmation) -> Enrolment:
    """Turn two-factor on; the secret and the recovery codes are returned once."""
    return await two_factor.enable(op, body.password)


class RecoveryCodes(msgspec.Struct, frozen=True):
    """A fresh set, shown once."""

    recovery_codes: list[str]


async def renew_recovery_codes(op: Operation, body: Confirmation) -> RecoveryCodes:
    """A fresh single-use set of recovery codes; outstanding ones stop working."""
    return RecoveryCodes(await two_factor.renew_recovery_codes(op, body.password))


class RecoveryCodeCount(msgspec.Struct, frozen=True):
    """How many are left."""

    unspent: int


async def count_recovery_codes(ctx: Context) -> RecoveryCodeCount:
    """The number of unspent recovery codes, never the codes."""
    return RecoveryCodeCount(await service.count_recovery_codes(ctx))


async def disable_two_factor(op: Operation, body: Confirmation) -> Deleted:
    """Turn one's own two-factor off."""
    return Deleted(await two_factor.disable(op, body.password))


async def revoke_two_factor(op: Operation, id: UUID) -> Deleted:
    """Revoke a person's two-factor seed, so that they enrol again."""
    return Deleted(await two_factor.revoke(op, id))


class PasswordChange(msgspec.Struct, forbid_unknown_fields=True):
    """The new password, and the current one unless the sign-in is fresh; `end: "all"` ends tokens and S3 keys, too."""

    new_password: NewPassword
    password: Password | None = None
    end: End = "sessions"


class PasswordChanged(AfterPassword, frozen=True):
    """What ended, which `tokens` and `s3_keys` still act for the person; a token when a first session was replaced."""

    token: str | None = None
    expires_at: datetime | None = None


async def change_password(op: Operation, body: PasswordChange) -> SignedIn[PasswordChanged]:
    """Change one's own password; other sessions end, and the first password ends whatever was issued before it."""
    after, session = await passwords.change_password(op, body.password, body.new_password, body.end)
    left = msgspec.structs.asdict(after)
    return SignedIn(
        PasswordChanged(**left, token=session.token, expires_at=session.expires_at)
        if session
        else PasswordChanged(**left)
    )


async def read_identity(ctx: Context) -> Identity:
    """Who the caller is: user, team, company, roles, locale, permissions."""
    return await service.read_identity(ctx)


class ProfileChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay."""

    display_name: DisplayName | None = None
    locale: Locale | None = None


async def update_profile(ctx: Context, body: ProfileChange) -> Identity:
    """Update one's display name and locale."""
    await service.update_profile(ctx, body.display_name, body.locale)
    return await service.read_identity(ctx)


class NewMember(msgspec.Struct, forbid_unknown_fields=True):
    """A person to add."""

    username: Username
    role: Role
    display_name: DisplayName = ""
    password: CurrentPassword | None = None


class AddedMember(msgspec.Struct, frozen=True):
    """The member and their first token, shown once: it ends when they set a password, or after 72 hours."""

    member: Member
    token: str
    expires_at: datetime | None


async def add_member(ctx: Context, body: NewMember) -> Created[AddedMember]:
    """Add a member to one's team with a role; returns their first token."""
    member, issued = await service.add_member(ctx, body.username, body.role, body.display_name)
    return Created(AddedMember(member, issued.token, issued.expires_at))


class RoleChange(msgspec.Struct, forbid_unknown_fields=True):
    """The role from now on."""

    role: Role
    password: CurrentPassword | None = None


async def change_member(ctx: Context, id: UUID, body: RoleChange, *, if_match: IfMatch | None = None) -> Member:
    """Give a member another role, at most one's own; the last owner stays."""
    return await members.change_role(ctx, id, body.role, if_match)


class LeaveChoices(msgspec.Struct, forbid_unknown_fields=True):
    """Who of the team gets what they shared, needed when there is anything, and what happens to private items."""

    transfer_to: UUID | None = None
    private: Private = "trash"


async def remove_member(
    op: Operation, id: UUID, body: LeaveChoices, *, if_match: IfMatch | None = None
) -> RemovalReport:
    """Remove a member: whatever acts for them ends, and what they shared has another owner."""
    return await members.remove_member(op, id, body.transfer_to, body.private, if_match)


class ResetOffer(msgspec.Struct, forbid_unknown_fields=True):
    """The caller's own password; needed from a browser's session."""

    password: CurrentPassword | None = None


async def offer_reset(ctx: Context, id: UUID, body: ResetOffer, *, host: Host | None = None) -> ResetLink:
    """A link with which a member chooses a new password; it works once, for a day."""
    scheme = "https" if ctx.secure else "http"
    return await resets.offer_reset(ctx, id, ctx.services.settings.base_url or f"{scheme}://{host or 'localhost'}")


class Reset(msgspec.Struct, forbid_unknown_fields=True):
    """The link's token, the new password, a code when two-factor is on; `end: "all"` ends tokens and S3 keys, too."""

    token: Annotated[str, msgspec.Meta(max_length=200)]
    password: NewPassword
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    end: End = "sessions"


async def reset_password(op: Operation, body: Reset) -> SignedIn[ResetSession]:
    """Redeem a reset link: choose a new password and sign in; every other session ends."""
    return SignedIn(await resets.reset_password(op, body.token, body.password, body.code, body.end))


async def list_members(
    ctx: Context, *, scope: Literal["team", "org"] = "team", limit: Limit = 50, cursor: Cursor | None = None
) -> Page[Member]:
    """The team's members and their roles; `scope=org` spans the company."""
    return await service.list_members(ctx, scope, limit, cursor)


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """A name to recognise it by, what it may do, how long it lives (seconds, or `never`)."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    scope: Annotated[list[str], msgspec.Meta(max_length=50)] | None = None
    ttl: Annotated[int, msgspec.Meta(ge=1, le=315_360_000)] | Literal["never"] = service.DEFAULT_TTL
    password: CurrentPassword | None = None


async def issue_token(ctx: Context, body: NewToken) -> Created[IssuedToken]:
    """Issue an API token; the raw token is returned once."""
    return Created(await api_tokens.issue_token(ctx, body.name, body.scope, body.ttl))


async def list_tokens(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[Token]:
    """The team's API tokens."""
    return await api_tokens.list_tokens(ctx, limit, cursor)


class RevokedToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """The id of the token, and what it gave, newest first: members, roles and credentials, which stay. At most 200; the trail has all."""

    id: UUID
    gave: list[Given] = []


async def revoke_token(op: Operation, id: UUID) -> RevokedToken:
    """Revoke an API token; told is what it gave, which outlives it."""
    return RevokedToken(id, await api_tokens.revoke_token(op, id))

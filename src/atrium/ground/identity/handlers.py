"""The wire of identity."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from atrium.ground.access.model import Role
from atrium.ground.identity import login, service, two_factor
from atrium.ground.identity.model import (
    DisplayName,
    Enrolment,
    Identity,
    IssuedToken,
    Locale,
    Member,
    NewPassword,
    Password,
    Session,
    Token,
    Username,
)
from atrium.kit.paging import Cursor, Limit, Page
from atrium.seams.context import Context, Operation
from atrium.seams.routes import Created


class Deleted(msgspec.Struct, frozen=True):
    """The id of what is gone."""

    id: UUID


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    """What a person signs in with; `code` is a one-time or a recovery code."""

    username: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    password: Password
    code: Annotated[str, msgspec.Meta(max_length=64)] | None = None


async def log_in(op: Operation, body: Credentials) -> Session:
    """Sign in with username and password, plus a code when two-factor is on."""
    return await login.log_in(op, body.username, body.password, body.code)


class Confirmation(msgspec.Struct, forbid_unknown_fields=True):
    """The current password; not needed within ten minutes of signing in."""

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


async def disable_two_factor(op: Operation) -> Deleted:
    """Turn one's own two-factor off."""
    return Deleted(await two_factor.disable(op, None))


async def revoke_two_factor(op: Operation, id: UUID) -> Deleted:
    """Revoke a person's two-factor seed, so that they enrol again."""
    return Deleted(await two_factor.revoke(op, id))


class PasswordChange(msgspec.Struct, forbid_unknown_fields=True):
    """The new password, and the current one unless the sign-in is fresh."""

    new_password: NewPassword
    password: Password | None = None


class PasswordChanged(msgspec.Struct, frozen=True):
    """How many other sessions ended; a token only when a first session was replaced."""

    sessions_ended: int
    token: str | None = None
    expires_at: datetime | None = None


async def change_password(op: Operation, body: PasswordChange) -> PasswordChanged:
    """Change one's own password; other sessions end."""
    ended, session = await service.change_password(op, body.password, body.new_password)
    return PasswordChanged(ended, session.token, session.expires_at) if session else PasswordChanged(ended)


async def read_identity(ctx: Context) -> Identity:
    """Who the caller is: user, team, company, roles, locale, permissions."""
    return await service.read_identity(ctx, ctx.services.settings.default_locale)


class ProfileChange(msgspec.Struct, forbid_unknown_fields=True):
    """What to change; absent fields stay."""

    display_name: DisplayName | None = None
    locale: Locale | None = None


async def update_profile(ctx: Context, body: ProfileChange) -> Identity:
    """Update one's display name and locale."""
    await service.update_profile(ctx, body.display_name, body.locale)
    return await service.read_identity(ctx, ctx.services.settings.default_locale)


class NewMember(msgspec.Struct, forbid_unknown_fields=True):
    """A person to add."""

    username: Username
    role: Role
    display_name: DisplayName = ""


class AddedMember(msgspec.Struct, frozen=True):
    """The member and their first token, shown once: it ends when they set a password, or after 72 hours."""

    member: Member
    token: str
    expires_at: datetime | None


async def add_member(ctx: Context, body: NewMember) -> Created[AddedMember]:
    """Add a member to one's team with a role; returns their first token."""
    member, issued = await service.add_member(ctx, body.username, body.role, body.display_name)
    return Created(AddedMember(member, issued.token, issued.expires_at))


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


async def issue_token(ctx: Context, body: NewToken) -> Created[IssuedToken]:
    """Issue an API token; the raw token is returned once."""
    return Created(await service.issue_token(ctx, body.name, body.scope, body.ttl))


async def list_tokens(ctx: Context, *, limit: Limit = 50, cursor: Cursor | None = None) -> Page[Token]:
    """The team's API tokens."""
    return await service.list_tokens(ctx, limit, cursor)


async def revoke_token(ctx: Context, id: UUID) -> Deleted:
    """Revoke an API token."""
    await service.revoke_token(ctx, id)
    return Deleted(id)

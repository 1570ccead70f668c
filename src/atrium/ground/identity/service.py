"""The verbs of identity: who a credential stands for, people, passwords and API tokens."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from atrium.ground.access.model import (
    INSTANCE_ROLES,
    PERMISSIONS,
    ROLES,
    NotPermitted,
    OrgRole,
    Role,
    outranks,
    permissions_of,
)
from atrium.ground.audit import service as audit
from atrium.ground.features.model import features_of
from atrium.ground.identity import sessions, store
from atrium.ground.identity.model import (
    Account,
    Identity,
    Issued,
    IssuedToken,
    LocaleFixed,
    Member,
    OrgPlace,
    Person,
    Place,
    RoleTooHigh,
    ScopeTooWide,
    Session,
    Token,
    TokenMissing,
    UserMissing,
    UsernameTaken,
    WeakPassword,
)
from atrium.ground.identity.sessions import open_first_session as open_first_session
from atrium.ground.identity.sessions import open_session as open_session
from atrium.ground.identity.two_factor import place_of
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import Org, Team
from atrium.kit.database import Connection, Database, Transaction
from atrium.kit.errors import Forbidden, Invalid, Unauthenticated
from atrium.kit.ids import NIL, new_id
from atrium.kit.keys import Keyring
from atrium.kit.paging import Page, Pager
from atrium.kit.tokens import digest_of, is_well_formed
from atrium.seams.context import Context, Operation, Principal

DEFAULT_TTL = 90 * 86_400


async def identify(database: Database, connection: Connection, token: bytes) -> Principal:
    """The principal a bearer token stands for, in one round trip."""
    if not is_well_formed(token):
        raise Unauthenticated("this is not a token of ours")
    row = await store.find_principal(database, connection, digest_of(token))
    if row is None:
        raise Unauthenticated("this token is unknown, expired or revoked; sign in again")
    credential_id, kind, scope, fresh, *person = row
    return principal_of(person, kind, credential_id, scope, fresh=fresh)


def principal_of(
    person: Sequence[Any],
    credential: str,
    credential_id: UUID = NIL,
    scope: list[str] | None = None,
    *,
    fresh: bool = False,
) -> Principal:
    """Somebody as a lookup found them, reaching as far as their role and the credential's scope do together."""
    user_id, team_id, org_id, username, role, org_role, operator, switches, suspended = person
    return Principal(
        user_id=user_id,
        team_id=team_id,
        org_id=org_id,
        username=username,
        role=role,
        org_role=org_role,
        operator=operator,
        permissions=permissions_of(role, org_role, operator, None if scope is None else tuple(scope)),
        features=features_of(tuple(switches)),
        suspended=suspended,
        credential_id=credential_id,
        credential=credential,
        scope=None if scope is None else frozenset(scope),
        fresh=fresh,
    )


async def list_principals(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, Principal]:
    """People of one company as they may act now, for what runs on their behalf while they are away."""
    return {person[0]: principal_of(person, "job") for person in await store.list_principals(db, org_id, ids)}


def narrowed(who: Principal, scope: list[str] | None) -> Principal:
    """The same person reaching no further than a scope."""
    if scope is None:
        return who
    held = permissions_of(who.role, who.org_role, who.operator, tuple(scope))
    return msgspec.structs.replace(who, permissions=held, scope=frozenset(scope))


async def read_identity(ctx: Context, default_locale: str) -> Identity:
    """Who the caller is."""
    org, team = await tenancy.read_own(ctx)
    account = await _own_account(ctx)
    chosen, switching = await store.find_locale_policy(ctx.db)
    return Identity(
        user=Person(account.id, account.username, account.display_name),
        team=Place(team.id, team.name),
        org=OrgPlace(org.id, org.name, org.slug, org.suspended_at is not None),
        role=account.role,
        org_role=account.org_role,
        operator=account.operator,
        locale=(switching and account.locale) or chosen or default_locale,
        permissions=sorted(ctx.who.permissions),
        features=sorted(ctx.who.features),
        two_factor=account.totp_sealed is not None,
        credential=ctx.who.credential,
    )


async def update_profile(ctx: Context, display_name: str | None, locale: str | None) -> None:
    """Change what was given, leave the rest; the language only while the instance lets people choose."""
    if locale is not None and not (await store.find_locale_policy(ctx.db))[1]:
        raise LocaleFixed("this instance has one language for everybody; an operator can change that")
    await store.update_profile(ctx.db, ctx.who.user_id, display_name, locale)
    await audit.record(ctx, "identity.profile_changed", ctx.who.user_id)


async def change_password(op: Operation, current: str | None, new: str) -> tuple[int, Issued | None]:
    """Set the caller's password and end their other sessions; a first session is replaced by a lasting one."""
    account = await sessions.confirm(op, current)
    require_strong(new, account.username)
    hashed = await op.services.passwords.hash(new)
    first = op.who.credential == "first"
    async with op.begin() as ctx:
        await store.set_password(ctx.db, account.id, hashed)
        ended = await store.end_sessions(ctx.db, account.id, None if first else ctx.who.credential_id)
        session = await sessions.open_session(ctx, account.id, account.team_id, account.org_id) if first else None
        await audit.record(ctx, "identity.password_changed", account.id, sessions_ended=ended)
    return ended, session


def require_strong(password: str, username: str) -> None:
    """Refuse what is guessed first; length is checked at the wire, composition rules help nobody."""
    if (
        password.lower() in {username.lower(), "password", "12345678", "123456789", "password1", "qwertyuiop"}
        or len(set(password)) < 3
    ):
        raise WeakPassword("this password is among the first ones anybody would try; choose a longer phrase")


async def create_person(
    ctx: Context,
    org: Org,
    team: Team,
    username: str,
    role: Role,
    *,
    display_name: str = "",
    org_role: OrgRole | None = None,
    operator: bool = False,
    password_hash: str | None = None,
) -> Member:
    """Add a user; the caller has settled that they may."""
    member = await store.insert_user(
        ctx.db, new_id(), org.id, team.id, username, display_name or username, role, org_role, operator, password_hash
    )
    if member is None:
        raise UsernameTaken(f"the username {username} is taken", username=username)
    return member


async def add_member(ctx: Context, username: str, role: Role, display_name: str) -> tuple[Member, Issued]:
    """Add a person to the caller's team, at most with the caller's own role, and open their first session."""
    if outranks(role, Role(ctx.who.role)) and not ctx.who.operator:
        raise RoleTooHigh(f"your own role is {ctx.who.role}; you cannot grant {role.value}")
    beyond = ROLES[role] - ctx.who.permissions
    if ctx.who.scope is not None and beyond:
        raise ScopeTooWide(f"this token does not reach as far as a {role.value}", beyond=sorted(beyond))
    if role in INSTANCE_ROLES and ctx.who.team_id != await store.find_first_team(ctx.db):
        raise Forbidden(f"{role.value} exists only in the instance's first team, which keeps the catalogs")
    org, team = await tenancy.read_own(ctx)
    member = await create_person(ctx, org, team, username, role, display_name=display_name)
    issued = await sessions.open_first_session(ctx, member.id, team.id, org.id)
    await audit.record(ctx, "identity.member_added", member.id, username=username, role=role)
    return member, issued


async def list_members(ctx: Context, scope: str, limit: int, cursor: str | None) -> Page[Member]:
    """The people of the caller's team, or (`org`) of the whole company, in the order they joined."""
    if scope == "org" and "org:read" not in ctx.who.permissions:
        raise NotPermitted("scope=org needs a role in the company, such as org_reader", permission="org:read")
    pager = Pager(ctx.services.keys, "members", ctx.who.team_id, scope)
    team_id = None if scope == "org" else ctx.who.team_id
    found = await store.list_members(ctx.db, ctx.who.org_id, team_id, pager.read(cursor, UUID), limit + 1)
    return pager.page(found, limit, lambda member: member.id)


async def find_colleague(ctx: Context, id: UUID) -> Member | None:
    """A person of the caller's company, in any team; None when there is no such one."""
    return await store.find_member(ctx.db, ctx.who.org_id, id)


async def read_colleague(ctx: Context, id: UUID) -> Member:
    """A person of the caller's company, in any team."""
    member = await find_colleague(ctx, id)
    if member is None:
        raise UserMissing("there is no such person in your company")
    return member


async def set_org_role(ctx: Context, id: UUID, org_role: OrgRole | None) -> None:
    """Write a person's role in the company; the caller has settled that they may."""
    await store.set_org_role(ctx.db, ctx.who.org_id, id, org_role)


async def read_account_of(ctx: Context, id: UUID) -> Account:
    """An account by id; only a system transaction sees those of other companies."""
    account = await store.find_account(ctx.db, id)
    if account is None:
        raise UserMissing("this account is gone")
    return account


async def take_over(ctx: Context, id: UUID, password_hash: str) -> Account:
    """Set the first password of an account that was waiting for its person."""
    await store.set_password(ctx.db, id, password_hash)
    return await read_account_of(ctx, id)


async def open_session_for(ctx: Context, account: Account) -> Session:
    """A session right after an account was taken over."""
    issued = await open_session(ctx, account.id, account.team_id, account.org_id)
    team = await tenancy.read_team(ctx, account.org_id, account.team_id)
    person = Person(account.id, account.username, account.display_name)
    return Session(issued.token, issued.expires_at, person, Place(team.id, team.name))


async def issue_token(ctx: Context, name: str, scope: list[str] | None, ttl: int | Literal["never"]) -> IssuedToken:
    """An API token that reaches no further than the credential asking for it."""
    narrowed = narrowed_scope(ctx.who, scope)
    lifetime = None if ttl == "never" else timedelta(seconds=ttl)
    issued = await sessions.issue(
        ctx, ctx.who.user_id, ctx.who.team_id, ctx.who.org_id, "token", name=name, scope=narrowed, lifetime=lifetime
    )
    await audit.record(ctx, "identity.token_issued", issued.id, name=name, scope=narrowed)
    token = await _read_token(ctx, issued.id)
    return IssuedToken(issued.id, issued.token, name, token.scope, token.created_at, token.expires_at)


async def issue_worker_token(ctx: Context, name: str) -> Issued:
    """The token of a machine: an account of its own in the caller's team that may claim jobs and nothing else."""
    org, team = await tenancy.read_own(ctx)
    account = await create_person(ctx, org, team, f"worker-{new_id().hex[-16:]}", Role.WORKER, display_name=name)
    return await sessions.issue(ctx, account.id, team.id, org.id, "worker", name=name)


async def revoke_worker_token(ctx: Context, id: UUID) -> None:
    """End a machine's token; the next request with it is refused."""
    await store.delete_worker_token(ctx.db, id)


async def still_stands(ctx: Context) -> bool:
    """Whether the token that the caller came with has been neither revoked nor outlived meanwhile."""
    return await store.token_stands(ctx.db, ctx.who.org_id, ctx.who.credential_id)


async def list_tokens(ctx: Context, limit: int, cursor: str | None) -> Page[Token]:
    """The team's API tokens, newest first."""
    pager = Pager(ctx.services.keys, "tokens", ctx.who.team_id)
    found = await store.list_tokens(ctx.db, ctx.who.org_id, ctx.who.team_id, pager.read(cursor, UUID), limit + 1)
    return pager.page(found, limit, lambda token: token.id)


async def revoke_token(ctx: Context, id: UUID) -> None:
    """End an API token of the team; the next request with it is refused."""
    token = await _read_token(ctx, id)
    if not await store.delete_token(ctx.db, ctx.who.org_id, ctx.who.team_id, id):
        raise TokenMissing("somebody else has just revoked this token")
    await audit.record(ctx, "identity.token_revoked", id, name=token.name)


async def count_recovery_codes(ctx: Context) -> int:
    """How many recovery codes the caller has left."""
    if ctx.who.credential not in ("session", "first"):
        raise Forbidden("recovery codes belong to a person; sign in first")
    return await store.count_recovery_codes(ctx.db, ctx.who.user_id)


async def count_all(ctx: Context) -> dict[str, int]:
    """How many people and API tokens the instance has; only a system transaction sees them all."""
    return {"users": await store.count_users(ctx.db), "tokens": await store.count_tokens(ctx.db)}


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every seed again under the newest key; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for org_id, user_id, sealed in await store.list_sealed_totp(db):
            if not keys.is_current(sealed):
                place = place_of(org_id, user_id)
                changed += await store.reseal_totp(db, user_id, sealed, keys.seal(keys.open(sealed, place), place))
    return changed


async def forget_expired(database: Database) -> int:
    """Drop credentials that ended more than a day ago."""
    async with database.begin_system() as db:
        return await store.forget_expired(db)


async def _own_account(ctx: Context) -> Account:
    account = await store.find_account(ctx.db, ctx.who.user_id)
    if account is None:
        raise UserMissing("this account is gone")
    return account


async def _read_token(ctx: Context, id: UUID) -> Token:
    token = await store.find_token(ctx.db, ctx.who.org_id, ctx.who.team_id, id)
    if token is None:
        raise TokenMissing("there is no such token in your team")
    return token


def narrowed_scope(who: Principal, scope: list[str] | None) -> list[str] | None:
    """A scope for a new credential, at most as wide as the caller's own."""
    if scope is None:
        return None if who.scope is None else sorted(who.scope)
    unknown = set(scope) - PERMISSIONS
    if unknown:
        raise Invalid(
            f"unknown permissions: {', '.join(sorted(unknown))}",
            errors=[{"path": "scope", "message": "unknown permission"}],
        )
    beyond = set(scope) - who.permissions
    if beyond:
        raise ScopeTooWide(f"you do not hold {', '.join(sorted(beyond))} yourself", beyond=sorted(beyond))
    return sorted(set(scope))


async def identify_optional(op: Operation, authorization: str | None) -> Principal | None:
    """Whom an Authorization header on a public row stands for; None without one, and for one that does not count."""
    scheme, _, text = (authorization or "").partition(" ")
    token = text.strip().encode("latin-1", "replace")
    if scheme.lower() != "bearer" or not is_well_formed(token):
        return None
    database = op.services.database
    try:
        async with database.borrow() as connection:
            return await identify(database, connection, token)
    except Unauthenticated:
        return None

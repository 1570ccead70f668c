"""The verbs of identity: who a credential stands for, and people."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from atrium.ground.access.model import (
    WORKER,
    NotPermitted,
    OrgRole,
    Role,
    permissions_of,
)
from atrium.ground.audit import service as audit
from atrium.ground.features.model import features_of, idle_permissions
from atrium.ground.identity import credential_rows, sessions, store
from atrium.ground.identity.credential_model import (
    NewCredential,
    Session,
)
from atrium.ground.identity.model import (
    Account,
    Identity,
    LocaleFixed,
    Member,
    OrgPlace,
    Person,
    PersonDraft,
    Place,
    UserMissing,
    UsernameTaken,
)
from atrium.ground.identity.role_changes import require_may_place, token_of
from atrium.ground.identity.sessions import open_session
from atrium.ground.identity.two_factor import totp_binding
from atrium.ground.tenancy import service as tenancy
from atrium.ground.tenancy.model import Org, Team
from atrium.kit.crypto.keys import Keyring
from atrium.kit.crypto.tokens import COOKIE, WORKER_PREFIX, digest_of, is_well_formed
from atrium.kit.errors import Forbidden, Unauthenticated
from atrium.kit.ids import NIL, new_id
from atrium.kit.postgres.database import Database, Transaction
from atrium.kit.postgres.pool import Connection
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context, Operation, Principal

CREDENTIALS_ENDED, PEOPLE = credential_rows.CREDENTIALS_ENDED, store.PEOPLE
DEFAULT_TTL = 90 * 86_400
# While the request was under way.
_LEFT = "this account has ended; sign in with another"


async def identify(
    database: Database, connection: Connection, token: bytes, *, cookie: bool = False, hosted: bool = False
) -> Principal:
    """The principal a token stands for, in one round trip; what came as a cookie counts as nothing else, and the reverse."""
    require_well_formed(token, cookie=cookie)
    if token.startswith(WORKER_PREFIX):
        return await _identify_worker(database, connection, token)
    row = await credential_rows.find_principal(database, connection, digest_of(token))
    return _found(row, cookie, hosted)


def require_well_formed(token: bytes, *, cookie: bool) -> None:
    """Refuse what is no token of ours, or did not come in the way of its kind."""
    if not is_well_formed(token) or token.startswith(COOKIE) is not cookie:
        raise Unauthenticated("this is not a token of ours")


async def identify_writer(
    db: Transaction, token: bytes, *, writing: bool, cookie: bool = False, hosted: bool = False
) -> Principal:
    """The same for a person's token, inside the transaction that writes for them; none commits after its credential ended."""
    return _found(await credential_rows.hold_principal(db, digest_of(token), writing), cookie, hosted)


def is_persons(token: bytes, *, cookie: bool) -> bool:
    """Whether a token is well formed, came in the way of its kind, and is not a worker's."""
    return is_well_formed(token) and token.startswith(COOKIE) is cookie and not token.startswith(WORKER_PREFIX)


def _found(row: Sequence[Any] | None, cookie: bool, hosted: bool) -> Principal:
    if row is None:
        raise Unauthenticated("this token is unknown, expired or revoked; sign in again")
    credential_id, kind, scope, fresh, *person = row
    return principal_of(person, kind, credential_id, scope, fresh=fresh, cookie=cookie, hosted=hosted)


async def _identify_worker(database: Database, connection: Connection, token: bytes) -> Principal:
    """The executor a worker's token was made for: it is not an account, so it owns nothing and nothing is shared with it."""
    row = await credential_rows.find_worker(database, connection, digest_of(token))
    if row is None:
        raise Unauthenticated("this worker's token is unknown, or its executor was retired")
    executor_id, bound_to, name, suspended = row
    return Principal(
        user_id=NIL,
        team_id=NIL,
        org_id=bound_to or NIL,
        username=name,
        role="worker",
        permissions=WORKER,
        scope=WORKER,
        suspended=suspended,
        credential_id=executor_id,
        credential="worker",
    )


def principal_of(
    person: Sequence[Any],
    credential: str,
    credential_id: UUID = NIL,
    scope: list[str] | None = None,
    *,
    fresh: bool = False,
    cookie: bool = False,
    hosted: bool = False,
) -> Principal:
    """The principal of a lookup's row, with the permissions of both the role and the credential's scope."""
    user_id, team_id, org_id, username, role, org_role, operator, switches, suspended = person
    return Principal(
        user_id=user_id,
        team_id=team_id,
        org_id=org_id,
        username=username,
        role=role,
        org_role=org_role,
        operator=operator,
        hosted=hosted,
        permissions=permissions_of(role, org_role, operator, None if scope is None else tuple(scope), hosted),
        features=features_of(tuple(switches)),
        suspended=suspended,
        credential_id=credential_id,
        credential=credential,
        scope=None if scope is None else frozenset(scope),
        fresh=fresh,
        cookie=cookie,
    )


async def list_principals(db: Transaction, org_id: UUID, ids: list[UUID]) -> dict[UUID, Principal]:
    """People of one company as they may act now, for what runs on their behalf while they are away."""
    return {person[0]: principal_of(person, "job") for person in await store.list_principals(db, org_id, ids)}


async def read_principal(ctx: Context) -> Principal:
    """The caller with what they may do by now, for work that goes on long after it was asked for."""
    who = ctx.who
    found = await store.list_principals(ctx.db, who.org_id, [who.user_id])
    if not found:
        raise Unauthenticated("this account is gone")
    scope = None if who.scope is None else sorted(who.scope)
    return principal_of(
        found[0], who.credential, who.credential_id, scope, fresh=who.fresh, cookie=who.cookie, hosted=who.hosted
    )


def narrow_principal(who: Principal, scope: list[str] | None) -> Principal:
    """The same person, limited to a scope."""
    if scope is None:
        return who
    held = permissions_of(who.role, who.org_role, who.operator, tuple(scope), who.hosted)
    return msgspec.structs.replace(who, permissions=held, scope=frozenset(scope))


async def read_identity(ctx: Context) -> Identity:
    """Who the caller is."""
    org, team = await tenancy.read_own(ctx)
    account = await _own_account(ctx)
    policy = (await tenancy.read_instance(ctx)).localization
    return Identity(
        user=Person(account.id, account.username, account.display_name),
        team=Place(team.id, team.name),
        org=OrgPlace(org.id, org.name, org.slug, org.suspended_at is not None),
        role=account.role,
        org_role=account.org_role,
        operator=account.operator,
        locale=(policy.switching and account.locale) or policy.default_locale,
        permissions=sorted(ctx.who.permissions),
        idle_permissions=sorted(ctx.who.permissions & idle_permissions(ctx.who.features)),
        features=sorted(ctx.who.features),
        two_factor=account.totp_sealed is not None,
        credential=ctx.who.credential,
    )


async def read_locale(ctx: Context) -> str:
    """The language of the caller."""
    found = await store.list_locales(ctx.db, ctx.who.org_id, ctx.who.user_id)
    if not found:
        raise Unauthenticated(_LEFT)
    return found[0] or ctx.services.settings.default_locale


async def update_profile(ctx: Context, display_name: str | None, locale: str | None) -> None:
    """Change what was given, leave the rest; the language only while the instance lets people choose."""
    if locale is not None:
        policy = (await tenancy.read_instance(ctx)).localization
        tenancy.require_locale(policy, locale, "locale")
        if not policy.switching:
            raise LocaleFixed("this instance has one language for everybody; an operator can change that")
    await store.update_profile(ctx.db, ctx.who.user_id, display_name, locale)
    await audit.record(ctx, "identity.profile_changed", ctx.who.user_id)


async def create_person(ctx: Context, org: Org, team: Team, person: PersonDraft) -> Member:
    """Add a user; the caller has settled that they may."""
    member = await store.insert_user(ctx.db, new_id(), org.id, team.id, person)
    if member is None:
        raise UsernameTaken(f"the username {person.username} is taken", username=person.username)
    if person.operator:
        await store.make_operator(ctx.db, org.id, member.id)
    return member


async def add_member(ctx: Context, username: str, role: Role, display_name: str) -> tuple[Member, NewCredential]:
    """Add a person to the caller's team, with a role that the caller may give, and open their first session."""
    await require_may_place(ctx, ctx.who.team_id, role)
    org, team = await tenancy.read_own(ctx)
    member = await create_person(ctx, org, team, PersonDraft(username=username, role=role, display_name=display_name))
    issued = await sessions.open_first_session(ctx, member.id, team.id, org.id)
    by = await token_of(ctx)
    await audit.record(ctx, "identity.member_added", member.id, username=username, role=role, **by)
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


async def hold_colleague(ctx: Context, id: UUID) -> Member | None:
    """The same, locked until commit so that the person cannot be removed; locked before the items they get, as in leaving."""
    return await store.find_member(ctx.db, ctx.who.org_id, id, hold=True)


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


async def tell_ended(ctx: Context) -> None:
    """Let every process end what it is doing with credentials that this transaction ends."""
    await credential_rows.tell_ended(ctx.db)


async def count_recovery_codes(ctx: Context) -> int:
    """How many recovery codes the caller has left."""
    if ctx.who.credential not in ("session", "first"):
        raise Forbidden("recovery codes belong to a person; sign in first")
    return await store.count_recovery_codes(ctx.db, ctx.who.user_id)


async def count_all(ctx: Context) -> dict[str, int]:
    """How many people and API tokens the instance has; only a system transaction sees them all."""
    return {"users": await store.count_users(ctx.db), "tokens": await credential_rows.count_tokens(ctx.db)}


async def reseal(database: Database, keys: Keyring) -> int:
    """Seal every seed again under the newest key; how many were changed."""
    changed = 0
    async with database.begin_system() as db:
        for org_id, user_id, sealed in await store.list_sealed_totp(db):
            if (again := keys.reseal(sealed, totp_binding(org_id, user_id))) is not None:
                changed += await store.reseal_totp(db, user_id, sealed, again)
    return changed


async def list_standing(database: Database, ids: list[UUID]) -> set[UUID]:
    """Which of these sessions and API tokens still count."""
    async with database.begin_system() as db:
        return await credential_rows.list_standing(db, ids)


async def list_standing_roles(database: Database, ids: list[UUID]) -> dict[UUID, tuple[UUID, str, str | None, bool]]:
    """Of those of these sessions and API tokens that still count: the person's team, role, role in the company, whether an operator."""
    async with database.begin_system() as db:
        rows = await credential_rows.list_standing_roles(db, ids)
    return {id: (team_id, role, org_role, operator) for id, team_id, role, org_role, operator in rows}


async def list_names(ctx: Context, ids: list[UUID]) -> dict[UUID, str]:
    """What people of the caller's company are called."""
    return await store.list_names(ctx.db, ctx.who.org_id, ids) if ids else {}


async def _own_account(ctx: Context) -> Account:
    account = await store.find_account(ctx.db, ctx.who.user_id)
    if account is None:
        raise Unauthenticated(_LEFT)
    return account


async def identify_optional(op: Operation, authorization: str | None) -> Principal | None:
    """The person a bearer token or the console's cookie stands for on a public row; None without one, and for one that does not count."""
    scheme, _, text = (authorization or "").partition(" ")
    bearer = text.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
    token = bearer if authorization else op.session
    if not is_well_formed(token):
        return None
    database = op.services.database
    try:
        async with database.borrow() as connection:
            hosted = op.services.settings.hosted
            who = await identify(database, connection, token, cookie=not authorization, hosted=hosted)
    except Unauthenticated:
        return None
    return None if who.credential == "worker" else who

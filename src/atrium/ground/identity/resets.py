"""Password resets: a link, delivered by hand, that sets a new password."""

from datetime import timedelta
from uuid import UUID

import msgspec

from atrium.ground.audit import service as audit
from atrium.ground.identity import members, passwords, role_changes, sessions, store, two_factor
from atrium.ground.identity.credential_model import LinkSpent, ResetLink, ResetSession
from atrium.ground.identity.model import Account, CodeRefused, ConfirmRequired, Person, Place, UserMissing
from atrium.ground.identity.passwords import End
from atrium.ground.limits import service as limits
from atrium.ground.tenancy import service as tenancy
from atrium.kit.crypto.tokens import digest_of, is_well_formed, new_token
from atrium.kit.postgres.database import Database, Transaction
from atrium.seams.context import ANONYMOUS, Context, Operation

# Handed over by a person, who may not be at hand at once; a link that travels by mail would live for half an hour.
LIFETIME = timedelta(hours=24)
_SPENT = "this link was used, is older than a day, or was replaced; ask an admin of your team for a new one"


async def offer_reset(ctx: Context, id: UUID, base_url: str) -> ResetLink:
    """A reset link for a person the caller manages and whose role is not above theirs; it replaces the one before."""
    member = await members.read_managed(ctx, id)
    if id == ctx.who.user_id:
        raise ConfirmRequired("change your own password with the one you have: POST /api/password")
    people = await members.hold(ctx, member)
    members.require_not_above(ctx, people[id])
    link = await _offered(ctx.db, ctx.who.org_id, id, base_url)
    by = await role_changes.token_of(ctx)
    await audit.record(ctx, "identity.reset_link_made", id, username=member.username, **by)
    return link


async def offer_reset_here(database: Database, username: str, base_url: str) -> ResetLink | None:
    """The same for any user of the instance, from the command line; None when there is no such user."""
    async with database.begin_system() as db:
        account = await store.find_account_by_name(db, username)
        if account is None:
            return None
        there = msgspec.structs.replace(ANONYMOUS, org_id=account.org_id, team_id=account.team_id)
        await audit.record_as(db, there, "identity.reset_link_made", account.id, username=account.username)
        return await _offered(db, account.org_id, account.id, base_url)


async def reset_password(op: Operation, token: str, password: str, code: str | None, end: End) -> ResetSession:
    """Redeem the link once: set the password, end every session there was, and sign in; a second factor is still asked for."""
    digest = digest_of(token.encode())
    account = await _account_of(op, token, digest)
    passwords.require_strong(password, account.username)
    acting = op.acting_as(sessions.principal_of_account(account))
    await limits.require_unblocked(op, account.username)
    try:
        await two_factor.spend_code(acting, account, code)
    except CodeRefused:
        await limits.note_failure(op, account.username)
        raise
    hashed = await op.services.passwords.hash(password)
    async with acting.begin(ending=(account.id,)) as ctx:
        await _require_same_factor(ctx, account)
        if not await store.spend_reset(ctx.db, account.org_id, digest):
            raise LinkSpent(_SPENT)
        session = await _signed_in(ctx, account, hashed, end)
    await limits.note_success(op, account.username)
    return session


async def _require_same_factor(ctx: Context, account: Account) -> None:
    """Refuse when the person turned a second factor on, or another one, while the password was being hashed."""
    now = await store.hold_account(ctx.db, account.id)
    if now is not None and now.totp_sealed != account.totp_sealed:
        raise CodeRefused("the second factor was changed meanwhile; open the link again and enter its code")


async def _offered(db: Transaction, org_id: UUID, user_id: UUID, base_url: str) -> ResetLink:
    raw = new_token("reset")
    # Behind the `#`, so that it is in no server's log and in no Referer.
    url = f"{base_url.rstrip('/')}/index.html#/reset?token={raw}"
    link = await store.replace_reset(db, org_id, user_id, digest_of(raw.encode()), url, LIFETIME)
    if link is None:
        raise UserMissing("this person has just left")
    return link


async def _account_of(op: Operation, token: str, digest: bytes) -> Account:
    async with op.begin_system() as ctx:
        user_id = await store.find_reset(ctx.db, digest) if is_well_formed(token.encode()) else None
        account = await store.find_account(ctx.db, user_id) if user_id else None
    if account is None:
        raise LinkSpent(_SPENT)
    return account


async def _signed_in(ctx: Context, account: Account, hashed: str, end: End) -> ResetSession:
    after = await passwords.set_password(ctx, account, hashed, end, None)
    issued = await sessions.open_session(ctx, account.id, account.team_id, account.org_id)
    _, team = await tenancy.read_own(ctx)
    await audit.record(
        ctx, "identity.password_reset", account.id, address=ctx.address, sessions_ended=after.sessions_ended
    )
    return ResetSession(
        issued.token,
        issued.expires_at,
        Person(account.id, account.username, account.display_name),
        Place(team.id, team.name),
        tokens=after.tokens,
        s3_keys=after.s3_keys,
    )

"""Sessions: opening, ending, and whether one is fresh enough for what protects the account."""

from datetime import timedelta
from uuid import UUID

from atrium.ground.access.model import permissions_of
from atrium.ground.identity import store
from atrium.ground.identity.model import Account, ConfirmRequired, Issued, UserMissing
from atrium.ground.limits import service as limits
from atrium.kit.ids import new_id
from atrium.kit.tokens import digest_of, new_token
from atrium.seams.context import Context, Operation, Principal

IDLE, ABSOLUTE, FIRST = timedelta(hours=12), timedelta(days=30), timedelta(hours=72)


async def open_session(ctx: Context, account_id: UUID, team_id: UUID, org_id: UUID) -> Issued:
    """A session after a good sign-in."""
    return await issue(ctx, account_id, team_id, org_id, "session", idle_limit=IDLE, lifetime=ABSOLUTE)


async def open_first_session(ctx: Context, user_id: UUID, team_id: UUID, org_id: UUID) -> Issued:
    """What a new member starts with: it ends when they set a password."""
    return await issue(ctx, user_id, team_id, org_id, "first", lifetime=FIRST)


async def issue(
    ctx: Context,
    user_id: UUID,
    team_id: UUID,
    org_id: UUID,
    kind: str,
    *,
    name: str = "",
    scope: list[str] | None = None,
    idle_limit: timedelta | None = None,
    lifetime: timedelta | None = None,
) -> Issued:
    """Make a credential: the raw token leaves here once, the digest stays."""
    raw = new_token(kind)
    issued = await store.insert_token(
        ctx.db,
        new_id(),
        org_id,
        team_id,
        user_id,
        kind,
        digest_of(raw.encode()),
        raw,
        name,
        scope,
        idle_limit,
        lifetime,
    )
    if issued is None:
        raise UserMissing("this person is gone")
    return issued


async def read_account(op: Operation) -> Account:
    """The caller's own account."""
    async with op.begin() as ctx:
        account = await store.find_account(ctx.db, ctx.who.user_id)
    if account is None:
        raise UserMissing("this account is gone")
    return account


async def confirm(op: Operation, password: str | None) -> Account:
    """Refuse unless a person is at the keyboard: a session signed in within ten minutes, or the current password."""
    account = await read_account(op)
    if op.who.credential not in ("session", "first"):
        raise ConfirmRequired("this needs a signed-in session, not a token; sign in first")
    if password is not None:
        # Counted with the failed sign-ins: a borrowed session must not become a way to guess the password.
        await limits.require_unblocked(op, account.username)
        if not await op.services.passwords.matches(account.password_hash, password):
            await limits.note_failure(op, account.username)
            raise ConfirmRequired("the current password is not right")
    elif not (op.who.fresh or (account.password_hash is None and op.who.credential == "first")):
        raise ConfirmRequired("your sign-in is older than ten minutes; send the current password, or sign in again")
    return account


def principal_of_account(account: Account) -> Principal:
    """The account as a principal with all that its role allows."""
    return Principal(
        user_id=account.id,
        team_id=account.team_id,
        org_id=account.org_id,
        username=account.username,
        role=account.role,
        org_role=account.org_role,
        operator=account.operator,
        permissions=permissions_of(account.role, account.org_role, account.operator, None),
    )

"""Sessions: opening, listing, ending, and whether one is fresh enough for what protects the account."""

from datetime import timedelta
from uuid import UUID

import msgspec

from atrium.ground.access.model import permissions_of
from atrium.ground.audit import service as audit
from atrium.ground.identity import credential_rows, store
from atrium.ground.identity.credential_model import (
    NewCredential,
    OpenSession,
    SessionMissing,
    SignInMethod,
    TokenRow,
    TokenTerms,
)
from atrium.ground.identity.model import Account, ConfirmRequired, UserMissing
from atrium.ground.limits import service as limits
from atrium.kit.crypto.tokens import digest_of, new_token
from atrium.kit.ids import new_id
from atrium.kit.web.pages import Page, Pager
from atrium.seams.context import Context, Operation, Principal

IDLE, ABSOLUTE, FIRST = timedelta(hours=12), timedelta(days=30), timedelta(hours=72)


async def open_session(
    ctx: Context, account_id: UUID, team_id: UUID, org_id: UUID, method: SignInMethod = "password"
) -> NewCredential:
    """A session after a good sign-in, on the device that asks."""
    return await issue(
        ctx, account_id, team_id, org_id, TokenTerms(kind="session", idle_limit=IDLE, lifetime=ABSOLUTE, method=method)
    )


async def open_first_session(ctx: Context, user_id: UUID, team_id: UUID, org_id: UUID) -> NewCredential:
    """What a new member starts with: it ends when they set a password."""
    return await issue(ctx, user_id, team_id, org_id, TokenTerms(kind="first", lifetime=FIRST, method="first"))


async def issue(ctx: Context, user_id: UUID, team_id: UUID, org_id: UUID, terms: TokenTerms) -> NewCredential:
    """Make a credential: the raw token leaves here once, the digest stays."""
    raw = new_token("cookie" if terms.kind == "session" and ctx.wants_cookie else terms.kind)
    # The first session is opened by the administrator who adds the person, so that device is not recorded.
    agent, address = ("", "") if terms.method == "first" else (ctx.user_agent, ctx.address)
    token = TokenRow(
        **msgspec.structs.asdict(terms),
        id=new_id(),
        org_id=org_id,
        team_id=team_id,
        user_id=user_id,
        digest=digest_of(raw.encode()),
        user_agent=agent,
        address=address,
    )
    issued = await credential_rows.insert_token(ctx.db, token, raw)
    if issued is None:
        raise UserMissing("this person is gone")
    return issued


async def list_sessions(ctx: Context, limit: int, cursor: str | None) -> Page[OpenSession]:
    """Where the caller is signed in, newest first."""
    pager = Pager(ctx.services.keys, "sessions", ctx.who.user_id)
    found = await credential_rows.list_sessions(
        ctx.db, ctx.who.org_id, ctx.who.user_id, ctx.who.credential_id, pager.read(cursor, UUID), limit + 1
    )
    return pager.page(found, limit, lambda session: session.id)


async def log_out(op: Operation) -> UUID:
    """End the session that asks; from the acknowledgement on nothing is done with it any more."""
    async with op.begin(ending=(op.who.user_id,)) as ctx:
        await _end_one(ctx, op.who.credential_id)
        await audit.record(ctx, "identity.signed_out", op.who.user_id, address=op.address)
    return op.who.credential_id


async def end_session(op: Operation, id: UUID) -> None:
    """End one of the caller's own sessions, wherever it is used."""
    async with op.begin(ending=(op.who.user_id,)) as ctx:
        await _end_one(ctx, id)
        await audit.record(ctx, "identity.session_ended", op.who.user_id, session=id)


async def end_other_sessions(op: Operation) -> int:
    """End every session of the caller but the one that asks; how many there were."""
    async with op.begin(ending=(op.who.user_id,)) as ctx:
        ended = await end_sessions(ctx, op.who.user_id, keep=op.who.credential_id)
        await audit.record(ctx, "identity.sessions_ended", op.who.user_id, sessions_ended=ended)
    return ended


async def end_sessions(ctx: Context, person_id: UUID, keep: UUID | None = None) -> int:
    """End a person's sessions, first ones included; the transaction began with `ending` them."""
    ctx.require_ending(person_id)
    ended = await credential_rows.end_sessions(ctx.db, person_id, keep)
    await credential_rows.tell_ended(ctx.db)
    return ended


async def end_credentials(ctx: Context, person_id: UUID) -> int:
    """End whatever a person may present as a bearer: sessions and API tokens; the transaction began with `ending` them."""
    ctx.require_ending(person_id)
    ended = await credential_rows.end_credentials(ctx.db, person_id)
    await credential_rows.tell_ended(ctx.db)
    return ended


async def _end_one(ctx: Context, id: UUID) -> None:
    if not await credential_rows.end_session(ctx.db, ctx.who.org_id, ctx.who.user_id, id):
        raise SessionMissing("you have no such session; it may have ended already")
    await credential_rows.tell_ended(ctx.db)


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
            raise ConfirmRequired("the current password is incorrect")
    elif op.who.cookie:
        # A script in the page could ask within the ten minutes, too; it cannot know the password.
        raise ConfirmRequired("send the current password: from a browser's session this is always asked for")
    elif not (op.who.fresh or (account.password_hash is None and op.who.credential == "first")):
        raise ConfirmRequired("your sign-in is older than ten minutes; send the current password, or sign in again")
    return account


async def confirm_giving(op: Operation, password: str | None) -> None:
    """Refuse to let a session in a cookie give anything unless the person at the keyboard gave their password."""
    if op.who.cookie:
        await confirm(op, password)


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

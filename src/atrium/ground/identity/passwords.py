"""Passwords: which are taken, changing one, and what ends with the old one."""

from typing import Literal
from uuid import UUID

from atrium.ground.audit import service as audit
from atrium.ground.identity import credential_rows, sessions, store
from atrium.ground.identity.credential_model import NewCredential
from atrium.ground.identity.model import Account, AfterPassword, PasswordSet, WeakPassword
from atrium.kit.crypto.passwords import is_common
from atrium.seams.context import Context, Operation

# What a new password ends beside the old one: the person's other sessions, or whatever else acts for them as well.
End = Literal["sessions", "all"]


def require_strong(password: str, username: str) -> None:
    """Refuse what is guessed first; length is checked at the wire, composition rules are not used."""
    if password.lower() == username.lower() or len(set(password)) < 3 or is_common(password):
        raise WeakPassword("this password is among the first ones anybody would try; choose a longer phrase")


async def change_password(
    op: Operation, current: str | None, new: str, end: End
) -> tuple[AfterPassword, NewCredential | None]:
    """Set the caller's password and end their other sessions; a first session is replaced by a lasting one."""
    account = await sessions.confirm(op, current)
    require_strong(new, account.username)
    hashed = await op.services.passwords.hash(new)
    first = op.who.credential == "first"
    async with op.begin(ending=(account.id,)) as ctx:
        after = await set_password(ctx, account, hashed, end, None if first else ctx.who.credential_id)
        session = await sessions.open_session(ctx, account.id, account.team_id, account.org_id) if first else None
        await audit.record(
            ctx,
            "identity.password_changed",
            account.id,
            sessions_ended=after.sessions_ended,
            tokens_ended=after.tokens_ended,
            s3_keys_ended=after.s3_keys_ended,
        )
    return after, session


async def set_password(ctx: Context, account: Account, hashed: str, end: End, keep: UUID | None) -> AfterPassword:
    """Write it and end what ends with it; the transaction began with `ending` the person.

    The first password ends whatever was issued before: until then the administrator who handed over the first token had it, too.
    """
    all_of_it = end == "all" or account.password_hash is None
    await store.set_password(ctx.db, account.id, hashed)
    ended = await sessions.end_sessions(ctx, account.id, keep)
    tokens = (
        await credential_rows.end_tokens(ctx.db, account.id)
        if all_of_it
        else await credential_rows.count_tokens_of(ctx.db, account.id)
    )
    others = PasswordSet(account.id, all_of_it)
    await ctx.announce(others)
    if all_of_it:
        return AfterPassword(ended, tokens, others.s3_keys, 0, 0)
    return AfterPassword(ended, 0, 0, tokens, others.s3_keys)

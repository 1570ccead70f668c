"""The second factor: one-time codes that work once, and single-use recovery codes for when the phone is gone."""

from uuid import UUID

import msgspec

from atrium.ground.audit import service as audit
from atrium.ground.identity import sessions, store
from atrium.ground.identity.model import (
    Account,
    CodeRefused,
    CodeRequired,
    Enrolment,
    TwoFactorOff,
    TwoFactorOn,
    UserMissing,
)
from atrium.kit.crypto import totp
from atrium.seams.context import Context, Operation
from atrium.seams.wiring import Sealed

ISSUER = "Atrium"


async def enable(op: Operation, password: str | None) -> Enrolment:
    """Turn the caller's second factor on; the secret and the recovery codes are shown this once. Ends other sessions."""
    account = await sessions.confirm(op, password)
    secret, codes = totp.new_secret(), totp.new_recovery_codes()
    sealed = op.services.keys.seal(secret.encode(), totp_binding(account.org_id, account.id))
    async with op.begin(ending=(account.id,)) as ctx:
        if not await store.set_totp(ctx.db, account.id, sealed):
            raise TwoFactorOn("two-factor is on already; turn it off first to enrol another device")
        await _replace_codes(ctx, codes)
        ended = await sessions.end_sessions(ctx, account.id, ctx.who.credential_id)
        await audit.record(ctx, "identity.two_factor_enabled", account.id, sessions_ended=ended)
    return Enrolment(secret, totp.address_of(secret, account.username, ISSUER), codes)


async def renew_recovery_codes(op: Operation, password: str | None) -> list[str]:
    """A fresh set; the outstanding ones stop working at once."""
    account = await sessions.confirm(op, password)
    if account.totp_sealed is None:
        raise TwoFactorOff("two-factor is off; enable it first")
    codes = totp.new_recovery_codes()
    async with op.begin() as ctx:
        await _replace_codes(ctx, codes)
        await audit.record(ctx, "identity.recovery_codes_renewed", account.id)
    return codes


async def disable(op: Operation, password: str | None) -> UUID:
    """Turn the caller's second factor off; its seed and codes stop working. Ends other sessions."""
    account = await sessions.confirm(op, password)
    async with op.begin(ending=(account.id,)) as ctx:
        await _clear(ctx, account.id)
        ended = await sessions.end_sessions(ctx, account.id, ctx.who.credential_id)
        await audit.record(ctx, "identity.two_factor_disabled", account.id, sessions_ended=ended)
    return account.id


async def revoke(op: Operation, user_id: UUID) -> UUID:
    """An operator takes away a person's seed, in any company; they enrol again. Ends that person's sessions."""
    async with op.begin_system(ending=(user_id,)) as ctx:
        account = await store.find_account(ctx.db, user_id)
        if account is None:
            raise UserMissing("no such person")
        await _clear(ctx, user_id)
        ended = await sessions.end_sessions(ctx, user_id)
        # Recorded in both companies: whose account it was, and whose operator did it. The operator is the actor in both.
        there = msgspec.structs.replace(sessions.principal_of_account(account), user_id=ctx.who.user_id)
        await audit.record(
            ctx.acting_as(there), "identity.two_factor_revoked", user_id, by=ctx.who.user_id, sessions_ended=ended
        )
        if account.org_id != ctx.who.org_id:
            await audit.record(ctx, "identity.two_factor_revoked", user_id, company=account.org_id)
    return user_id


async def spend_code(op: Operation, account: Account, code: str | None) -> None:
    """Refuse unless the code is good; whichever it was, it is then used up."""
    if account.totp_sealed is None:
        return
    if not code:
        raise CodeRequired("this account uses two-factor: send the one-time code, or a recovery code, as `code`")
    code = code.strip()
    secret = op.services.keys.open(account.totp_sealed, totp_binding(account.org_id, account.id)).decode()
    step = totp.step_of(secret, code, account.now)
    async with op.begin() as ctx:
        if step is not None and await store.spend_step(ctx.db, account.id, step):
            return
        if await store.spend_recovery_code(ctx.db, account.id, totp.recovery_digest(code)):
            await audit.record(ctx, "identity.recovery_code_used", account.id)
            return
    raise CodeRefused("this code is wrong, expired or already used")


def totp_binding(org_id: UUID, user_id: UUID) -> str:
    """What binds a sealed seed to its account; copied to another row it cannot be opened."""
    return f"{org_id}|users.totp|{user_id}"


SEALED = (Sealed("users", "totp_sealed", lambda row: totp_binding(UUID(row["org_id"]), UUID(row["id"]))),)


async def _replace_codes(ctx: Context, codes: list[str]) -> None:
    await store.replace_recovery_codes(
        ctx.db, ctx.who.org_id, ctx.who.user_id, [totp.recovery_digest(code) for code in codes]
    )


async def _clear(ctx: Context, user_id: UUID) -> None:
    if not await store.clear_totp(ctx.db, user_id):
        raise TwoFactorOff("two-factor is off for this person")
    await store.delete_recovery_codes(ctx.db, user_id)

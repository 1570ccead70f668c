"""Sign-in: a password, a code when the second factor is on, and backoff after failures."""

import msgspec

from atrium.ground.audit import service as audit
from atrium.ground.identity import sessions, store, two_factor
from atrium.ground.identity.credential_model import Session
from atrium.ground.identity.model import Account, BadCredentials, CodeRefused, CodeRequired, Person, Place
from atrium.ground.limits import service as limits
from atrium.ground.tenancy import service as tenancy
from atrium.seams.context import ANONYMOUS, Context, Operation, Services

_RECORDED_AT_ONCE = 1000


async def log_in(op: Operation, username: str, password: str, code: str | None) -> Session:
    """A session for the right password and code; unknown user and wrong password look and last the same."""
    await limits.require_unblocked(op, username)
    account = await _account_for(op, username, password)
    acting = op.acting_as(sessions.principal_of_account(account))
    # Asked again: guesses that were being hashed while the account got blocked must not slip through.
    await limits.require_unblocked(op, username)
    try:
        await two_factor.spend_code(acting, account, code)
    except CodeRefused:
        await _refused(op, username, "code")
        raise
    except CodeRequired:
        op.services.metrics.refused_logins.labels("code_required").inc()
        raise
    await limits.note_success(op, username)
    return await _open(acting, account, password)


async def _account_for(op: Operation, username: str, password: str) -> Account:
    async with op.begin_system() as ctx:
        account = await store.find_account_by_name(ctx.db, username)
    matches = await op.services.passwords.matches(account.password_hash if account else None, password)
    if account is None or not matches:
        await _refused(op, username, "credentials")
        raise BadCredentials("the username or the password is incorrect")
    return account


async def _open(op: Operation, account: Account, password: str) -> Session:
    passwords = op.services.passwords
    stale = account.password_hash is not None and passwords.needs_rehash(account.password_hash)
    rehashed = await passwords.hash(password) if stale else None
    async with op.begin() as ctx:
        await _require_unchanged(ctx, account)
        if rehashed:
            await store.set_password(ctx.db, account.id, rehashed)
        issued = await sessions.open_session(ctx, account.id, account.team_id, account.org_id)
        _, team = await tenancy.read_own(ctx)
        await audit.record(ctx, "identity.signed_in", account.id, address=op.address)
    return Session(
        issued.token,
        issued.expires_at,
        Person(account.id, account.username, account.display_name),
        Place(team.id, team.name),
    )


async def _require_unchanged(ctx: Context, account: Account) -> None:
    """Refuse when the person left, or got another password or second factor, while this one was being looked at."""
    now = await store.hold_account(ctx.db, account.id)
    if now is None or (now.password_hash, now.totp_sealed) != (account.password_hash, account.totp_sealed):
        raise BadCredentials("the username or the password is incorrect")


async def _refused(op: Operation, username: str, reason: str) -> None:
    op.services.metrics.refused_logins.labels(reason).inc()
    await limits.note_failure(op, username)
    async with op.begin_system() as ctx:
        await store.add_failed_sign_in(ctx.db, username, reason == "code", op.address)


async def record_failures(services: Services) -> int:
    """Tell companies about failed sign-ins to their people: soon after the first, then at most four times an hour each."""
    op = Operation(who=ANONYMOUS, services=services)
    async with op.begin_system() as ctx:
        found = await store.take_failed_sign_ins(ctx.db, _RECORDED_AT_ONCE)
        for one in found:
            there = ctx.acting_as(msgspec.structs.replace(ANONYMOUS, org_id=one.org_id, team_id=one.team_id))
            await audit.record(
                there,
                "identity.sign_in_failed",
                one.user_id,
                failures=one.failures,
                wrong_codes=one.wrong_codes,
                address=one.address,
            )
    return len(found)

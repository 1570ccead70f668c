"""Admitting or turning away by rate. The count is shared by every process."""

import math

from atrium.ground.limits import store
from atrium.ground.limits.model import TooManyFailures, TooOften, key_of
from atrium.kit.database import Database
from atrium.seams.context import Operation

LONGEST_ACCOUNT_WAIT, LONGEST_ADDRESS_WAIT = 900, 60


async def admit_public_write(database: Database, address: str, per_minute: int) -> None:
    """Refuse an address that writes without a credential too often."""
    async with database.begin_system() as db:
        wait = await store.spend(db, key_of("public-write", address), per_minute)
    if wait:
        raise TooOften(f"at most {per_minute} a minute from one address", retry_after=math.ceil(wait))


async def require_unblocked(op: Operation, username: str) -> None:
    """Refuse while sign-in for this account or from this address is backing off."""
    async with op.begin_system() as ctx:
        wait = await store.blocked_seconds(ctx.db, [key_of("account", username), key_of("address", op.address)])
    if wait:
        seconds = math.ceil(wait)
        raise TooManyFailures(f"too many failed sign-ins; try again in {seconds} s", retry_after=seconds)


async def note_failure(op: Operation, username: str) -> None:
    """Count a failed sign-in against the account and the address."""
    allowed = op.services.settings.login_failures
    async with op.begin_system() as ctx:
        await store.add_failure(ctx.db, key_of("account", username), allowed, LONGEST_ACCOUNT_WAIT)
        await store.add_failure(ctx.db, key_of("address", op.address), allowed, LONGEST_ADDRESS_WAIT)


async def note_success(op: Operation, username: str) -> None:
    """A good sign-in clears the account, never the address: one's own account must not reset guessing at others."""
    async with op.begin_system() as ctx:
        await store.clear_failures(ctx.db, key_of("account", username))


async def forget_old(database: Database) -> int:
    """Drop counts that no longer matter."""
    async with database.begin_system() as db:
        return await store.forget_old(db)

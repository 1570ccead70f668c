"""Admitting or turning away by rate. The count is shared by every process."""

import math

from atrium.ground.limits import store
from atrium.ground.limits.model import Guess, TooManyFailures, TooOften, key_of
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Database
from atrium.kit.web.addresses import counted_as
from atrium.seams.context import Operation

LONGEST_ACCOUNT_WAIT, LONGEST_ADDRESS_WAIT = 900, 60


async def admit_public_write(database: Database, address: str, per_minute: int) -> None:
    """Refuse an address that writes without a credential too often."""
    await admit_public(database, "public-write", address, per_minute)


async def admit_public(database: Database, kind: str, address: str, per_minute: int) -> None:
    """Refuse an address that asks for one kind of thing too often, without a credential."""
    async with database.begin_system() as db:
        wait = await store.spend(db, key_of(kind, counted_as(address)), per_minute)
    if wait:
        raise TooOften(f"at most {per_minute} a minute from one address", retry_after=math.ceil(wait))


async def require_unblocked(op: Operation, username: str) -> None:
    """Refuse while guessing at this account from here is backing off."""
    async with op.begin_system() as ctx:
        wait = await store.blocked_seconds(ctx.db, _guess(op, username))
    if wait:
        seconds = math.ceil(wait)
        raise TooManyFailures(f"too many failed sign-ins; try again in {seconds} s", retry_after=seconds)


async def note_failure(op: Operation, username: str) -> None:
    """Count a wrong password or code for the account and, unless it signed in from there before, for the address."""
    allowed, guess = op.services.settings.login_failures, _guess(op, username)
    async with op.begin_system() as ctx:
        await store.add_failure(ctx.db, guess.account, allowed, LONGEST_ACCOUNT_WAIT)
        if guess.address is not None and not await store.is_known(ctx.db, guess.account):
            await store.add_failure(ctx.db, guess.address, allowed, LONGEST_ADDRESS_WAIT)


async def note_success(op: Operation, username: str) -> None:
    """A good sign-in clears the account here and makes the address known to it.

    It never clears the address: one's own account must not reset guessing at others.
    """
    guess = _guess(op, username)
    async with op.begin_system() as ctx:
        await store.clear_failures(ctx.db, guess.account)
        await store.keep_known(ctx.db, guess.account)


def _guess(op: Operation, username: str) -> Guess:
    # Inside a session guesses are counted for the session, not the address: a stolen one gets no more tries by moving.
    if op.who.credential_id != NIL:
        return Guess(key_of("session", str(op.who.credential_id)))
    address = counted_as(op.address)
    return Guess(key_of("account", f"{username}|{address}"), key_of("address", address))

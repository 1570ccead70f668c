"""Failures of PostgreSQL: which are outages, and what the caller hears of them in our own words."""

import asyncpg

from atrium.kit.errors import AppError, Conflict, Invalid, Unavailable
from atrium.kit.postgres import credential_hold
from atrium.kit.work.shares import Busy

OUTAGES = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # What the driver says about a connection that was told to end and has not ended yet.
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.DiskFullError,
    asyncpg.OutOfMemoryError,
    asyncpg.ReadOnlySQLTransactionError,
    ConnectionError,
    TimeoutError,
)
_CONTENTION = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)


def refusal_of(error: BaseException) -> AppError | None:
    """A database failure that the caller should hear about in our own words; None for what is a defect."""
    if isinstance(error, Busy):
        return error
    # The driver's own complaint about an argument is an InterfaceError too, and a defect of ours, not an outage.
    if isinstance(error, OUTAGES) and not isinstance(error, ValueError):
        return Unavailable("the database does not answer; try again shortly", retry_after=1)
    if isinstance(error, asyncpg.DataError) and isinstance(error.__cause__, OverflowError):
        # A moment at the end of all years has none in UTC; only the driver finds out.
        return Invalid("a moment or a number in the request is out of range")
    if (ended := credential_hold.refusal_of(error)) is not None:
        return ended
    if isinstance(error, _CONTENTION):
        return Conflict("another request changed the same rows at the same moment; try again")
    if isinstance(
        error, asyncpg.CharacterNotInRepertoireError | asyncpg.UntranslatableCharacterError | UnicodeEncodeError
    ):
        return Invalid("the text has a character that cannot be stored")
    return None

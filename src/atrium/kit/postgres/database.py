"""PostgreSQL: one pool, short transactions behind the tenant wall, rows mapped straight to models."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable
from contextlib import asynccontextmanager
from functools import lru_cache
from itertools import starmap
from types import TracebackType
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import msgspec

from atrium.kit.postgres import credential_hold
from atrium.kit.postgres.credential_hold import CredentialHold
from atrium.kit.postgres.failures import OUTAGES
from atrium.kit.postgres.jsonb import teach_jsonb
from atrium.kit.postgres.pool import ACQUIRE_SECONDS, Connection, Pool, patiently
from atrium.kit.postgres.traced_connection import TracedConnection
from atrium.kit.telemetry import trace_context
from atrium.kit.work.shares import HEALTH, Shares, account

T = TypeVar("T", bound=msgspec.Struct)

APP_ROLE, SYSTEM_ROLE = "atrium_app", "atrium_system"
# Owns the functions that search past row-level security; no connection ever takes it.
SEARCH_ROLE = "atrium_search"
# Neither a cast, nor what follows a colon inside of a word such as 'notes:read'.
_NAME = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")


class LostCommit(RuntimeError):
    """COMMIT ended in a rollback: a statement had failed and its error was swallowed."""


class StatementTookTooLong(RuntimeError):
    """A statement was ended because it took longer than its caller gave it."""


class UsedAfterEnd(RuntimeError):
    """A statement on a transaction that has ended: its connection may serve another company by now."""


class _EndedTransaction:
    def __getattr__(self, name: str) -> Any:
        raise UsedAfterEnd("this transaction has ended")


_ENDED = _EndedTransaction()


class _Observed:
    def __init__(self, connection: Connection, used: Callable[[], None]) -> None:
        self._connection, self._used = connection, used

    def __getattr__(self, name: str) -> Any:
        self._used()
        return getattr(self._connection, name)


@lru_cache(maxsize=4096)
def compile_statement(sql: str) -> tuple[str, tuple[str, ...]]:
    """A statement with `:names` turned into PostgreSQL's numbers, and the names in that order."""
    names = tuple(dict.fromkeys(_NAME.findall(sql)))
    numbers = {name: str(index) for index, name in enumerate(names, 1)}
    return _NAME.sub(lambda found: "$" + numbers[found[1]], sql), names


class Transaction:
    """An open transaction; stores are the only callers. Values travel as named parameters, never inside the text."""

    __slots__ = ("_connection", "_followers")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._followers: list[Callable[[], None]] | None = None

    def observed(self, used: Callable[[], None]) -> "Transaction":
        """The same transaction for a caller who is observed: `used` is called when it sends something."""
        self._followers = [] if self._followers is None else self._followers
        seen = Transaction(_Observed(self._connection, used))
        seen._followers = self._followers
        return seen

    def after_commit(self, follow: Callable[[], None]) -> None:
        """Call this once the transaction has been committed, and never if it is not."""
        if self._followers is None:
            self._followers = []
        self._followers.append(follow)

    def follow(self) -> None:
        """The commit is done."""
        for follow in self._followers or ():
            follow()

    def end(self) -> Connection:
        """Detach the connection, which returns to the pool; the transaction object is unusable afterwards."""
        connection, self._connection = self._connection, _ENDED
        return connection

    async def one(self, model: type[T], sql: str, **values: object) -> T | None:
        """The row as a model, its columns in the order of the model's fields; None when there is none."""
        text, names = compile_statement(sql)
        record = await self._connection.fetchrow(text, *[values[name] for name in names])
        return None if record is None else model(*record)

    async def all(self, model: type[T], sql: str, **values: object) -> list[T]:
        """Every row as a model."""
        text, names = compile_statement(sql)
        return list(starmap(model, await self._connection.fetch(text, *[values[name] for name in names])))

    async def value(self, sql: str, **values: object) -> Any:
        """The first column of the first row; None when there is none."""
        text, names = compile_statement(sql)
        return await self._connection.fetchval(text, *[values[name] for name in names])

    async def rows(self, sql: str, **values: object) -> list[tuple[Any, ...]]:
        """Every row as a plain tuple."""
        text, names = compile_statement(sql)
        return list(map(tuple, await self._connection.fetch(text, *[values[name] for name in names])))

    async def run(self, sql: str, **values: object) -> int:
        """Execute, and say how many rows were touched."""
        text, names = compile_statement(sql)
        status: str = await self._connection.execute(text, *[values[name] for name in names])
        return int(status.rpartition(" ")[2])

    async def copy_out(self, sql: str, sink: Callable[[bytes], Awaitable[None]]) -> None:
        """Every row of a query in PostgreSQL's own text, piece by piece; the query holds no values of a request."""
        await self._connection.copy_from_query(sql, output=sink, format="text")

    async def copy_in(self, table: str, columns: list[str], source: AsyncIterator[bytes]) -> None:
        """Rows in PostgreSQL's own text into a table."""
        await self._connection.copy_to_table(table, source=source, columns=columns, schema_name="public", format="text")

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """A block that is undone, and nothing before it, when it raises; the transaction goes on."""
        await self._connection.execute("SAVEPOINT block")
        try:
            yield
        except BaseException:
            await self._connection.execute("ROLLBACK TO SAVEPOINT block")
            raise
        await self._connection.execute("RELEASE SAVEPOINT block")

    @asynccontextmanager
    async def within(self, milliseconds: int) -> AsyncIterator[None]:
        """A block whose statements end after so long each; that of one that does not is undone, and StatementTookTooLong raised."""
        await self._connection.execute(f"SAVEPOINT timed;SET LOCAL statement_timeout={max(1, milliseconds)}")
        try:
            yield
        except asyncpg.QueryCanceledError as error:
            await self._connection.execute("ROLLBACK TO SAVEPOINT timed")
            raise StatementTookTooLong(f"a statement took more than {milliseconds} ms") from error
        await self._connection.execute("SET LOCAL statement_timeout TO DEFAULT;RELEASE SAVEPOINT timed")

    async def run_unless_taken(self, sql: str, **values: object) -> bool:
        """Execute; False, with nothing done, when a unique index has what this would write."""
        return await self._run_unless(asyncpg.UniqueViolationError, sql, values)

    async def run_unless_referenced(self, sql: str, **values: object) -> bool:
        """Execute; False, with nothing done, when a foreign key needs what this would delete."""
        return await self._run_unless(asyncpg.ForeignKeyViolationError, sql, values)

    async def _run_unless(self, violation: type[Exception], sql: str, values: dict[str, object]) -> bool:
        await self._connection.execute("SAVEPOINT taken")
        try:
            await self.run(sql, **values)
        except violation:
            await self._connection.execute("ROLLBACK TO SAVEPOINT taken")
            return False
        await self._connection.execute("RELEASE SAVEPOINT taken")
        return True


class BorrowedConnection:
    """One connection for the length of a block; only a block that ends well leaves it ready for the next."""

    __slots__ = ("_connection", "_database", "_owner")

    def __init__(self, database: "Database", owner: Hashable) -> None:
        self._database, self._owner = database, owner

    async def __aenter__(self) -> Connection:
        self._connection = await self._database.take(self._owner)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._database.give_back(self._connection, clean=kind is None)


class OpenTransaction:
    """One transaction: committed when the block ends well, rolled back otherwise."""

    __slots__ = ("_database", "_given", "_owner", "_preamble", "_transaction")

    def __init__(self, database: "Database", preamble: str, given: Connection | None, owner: Hashable = None) -> None:
        self._database, self._preamble, self._given, self._owner = database, preamble, given, owner

    async def __aenter__(self) -> Transaction:
        connection = self._given or await self._database.take(self._owner)
        try:
            await connection.execute(self._preamble)
        except BaseException as error:
            await self._give_back(connection, clean=False)
            if (refusal := credential_hold.refusal_of(error)) is not None:
                raise refusal from error
            raise
        self._transaction = Transaction(connection)
        return self._transaction

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection, clean = self._transaction.end(), False
        try:
            if kind is not None:
                await connection.execute("ROLLBACK")
            elif await connection.execute("COMMIT") != "COMMIT":
                raise LostCommit("a statement failed earlier in this transaction")
            clean = True
        finally:
            await self._give_back(connection, clean=clean)
        if kind is None:
            self._transaction.follow()

    async def _give_back(self, connection: Connection, *, clean: bool) -> None:
        if self._given is None:
            await self._database.give_back(connection, clean=clean)


class Long:
    """A transaction whose statements may take long: it waits for one of few places before it takes a connection."""

    __slots__ = ("_begun", "_owner", "_places")

    def __init__(self, places: Shares, owner: Hashable, begun: OpenTransaction) -> None:
        self._places, self._owner, self._begun = places, owner, begun

    async def __aenter__(self) -> Transaction:
        await self._places.take(self._owner, ACQUIRE_SECONDS)
        try:
            return await self._begun.__aenter__()
        except BaseException:
            self._places.give_back(self._owner)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._begun.__aexit__(kind, error, trace)
        finally:
            self._places.give_back(self._owner)


class Database:
    """The pool; the only way to a transaction. Every transaction is a tenant's, or openly the system's."""

    def __init__(
        self, url: str, *, pool_size: int = 10, statement_cache: int = 1024, long_transactions: int = 2
    ) -> None:
        self._url, self._pool_size, self._statement_cache = url, pool_size, statement_cache
        self._pool: Any = None
        # Of what takes long, so that the rest of the connections is soon free again.
        self.long = Shares(max(1, min(long_transactions, pool_size - 1)))

    async def open(self) -> None:
        """Connect; every connection drops to the unprivileged role at once."""
        self._pool = Pool(await patiently(self._driver), self._pool_size)

    async def _driver(self) -> Any:
        return await asyncpg.create_pool(
            self._url,
            min_size=1,
            max_size=self._pool_size,
            statement_cache_size=self._statement_cache,
            init=self._prepare_connection,
            reset=_reset_connection,
        )

    async def close(self) -> None:
        """Wait for transactions in flight, then disconnect."""
        if self._pool is not None:
            await self._pool.close()

    async def take(self, owner: Hashable = None) -> Connection:
        """A connection out of the pool, on this owner's account or on that of whom it is done for; the caller must release it."""
        connection = await self._pool.take(owner or account.get())
        return connection if trace_context.recorded_span() is None else TracedConnection(connection)

    async def give_back(self, connection: Connection, *, clean: bool) -> None:
        """Return a connection; `clean` promises that everything done on it ended well."""
        taken = connection.inner if type(connection) is TracedConnection else connection
        await self._pool.give_back(taken, clean=clean)

    def borrow(self, owner: Hashable = None) -> "BorrowedConnection":
        """A connection for the length of a block, on this owner's account or on that of whom it is done for."""
        return BorrowedConnection(self, owner)

    def owned_by(self, connection: Connection, owner: Hashable) -> None:
        """On whose account a connection is, once a credential was found with it."""
        self._pool.owned_by(connection.inner if type(connection) is TracedConnection else connection, owner)

    def begin(
        self,
        org_id: UUID,
        on: Connection | None = None,
        hold: CredentialHold | None = None,
        ending: Collection[UUID] = (),
        *,
        reading: bool = False,
        long: bool = False,
        steady: bool = False,
    ) -> OpenTransaction | Long:
        """A transaction that sees one company's rows and no other's; refused when the credential to hold has ended.

        With `reading` PostgreSQL refuses every change in it; one that is `steady` sees one moment. One that is `long` waits for its place
        among those that are.
        """
        # The role again in every transaction: behind a transaction pooler the session's own is not ours to keep.
        first = credential_hold.statement(hold, ending) + (";SET TRANSACTION READ ONLY" if reading else "")
        isolation = " ISOLATION LEVEL REPEATABLE READ" if steady else ""
        preamble = f"BEGIN{isolation};SET LOCAL ROLE {APP_ROLE};SET LOCAL app.org_id='{org_id}'{first}"
        begun = OpenTransaction(self, preamble, on, org_id)
        return Long(self.long, org_id, begun) if long else begun

    def begin_unidentified(self, on: Connection) -> OpenTransaction:
        """A transaction that sees no company's rows until a credential is found in it, which names its company."""
        return OpenTransaction(self, f"BEGIN;SET LOCAL ROLE {APP_ROLE}", on)

    def begin_system(
        self,
        *,
        steady: bool = False,
        repeatable: bool = False,
        hold: CredentialHold | None = None,
        ending: Collection[UUID] = (),
    ) -> OpenTransaction:
        """A transaction over the directory of all companies, with no grant on anybody's content; `steady` sees one moment.

        `repeatable` says that losing it in a crash of PostgreSQL costs no more than doing it again, so that the commit does not wait for
        the disk; whatever is committed after it and kept keeps it too.
        """
        isolation = " ISOLATION LEVEL REPEATABLE READ" if steady else ""
        durability = ";SET LOCAL synchronous_commit=off" if repeatable else ""
        first = credential_hold.statement(hold, ending)
        preamble = f"BEGIN{isolation};SET LOCAL ROLE {SYSTEM_ROLE}{durability}{first}"
        return OpenTransaction(self, preamble, None)

    async def ask(self, connection: Connection, sql: str, *values: object) -> Any:
        """One statement outside a tenant's transaction: the credential lookup, before the tenant is known."""
        if self._statement_cache:
            return await connection.fetchrow(sql, *values)
        async with connection.transaction():
            return await connection.fetchrow(sql, *values)

    def count_connections(self) -> dict[str, int]:
        """Connections of this process by what they do; `wanted` are those that something waits for."""
        used, idle, wanted = self._pool.count() if self._pool is not None else (0, 0, 0)
        return {"used": used, "idle": idle, "wanted": wanted}

    async def is_reachable(self) -> bool:
        """Whether PostgreSQL answers within a second."""
        try:
            async with asyncio.timeout(1), self.borrow(HEALTH) as connection:
                await connection.execute("SELECT 1")
        except (*OUTAGES, asyncpg.PostgresError):
            return False
        return True

    async def _prepare_connection(self, connection: Connection) -> None:
        await teach_jsonb(connection)
        await connection.execute(f"SET ROLE {APP_ROLE}")


def old_rows(table: str, since: str, key: str = "id", also: str = "true") -> str:
    """A statement that deletes at most `:most` rows whose time in the column `since` lies further back than `:age`.

    The condition stands twice: a row may have changed, or be gone, since it was chosen.
    """
    old = f"{since} < now() - :age::interval AND {also}"
    return f"DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {old} ORDER BY {since} LIMIT :most) AND {old}"


async def _reset_connection(connection: Connection) -> None:
    # Nothing here uses session state, so the driver's full reset would be a wasted round trip; an open transaction is not.
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")

"""Admit a spend before the work, settle it after: the one way that anything is metered.

Every change to a company's books happens under that company's lock, so a limit is never passed by two at once. What many
ask for at the same moment in one process is done in one round, so a busy company pays one commit for all of them. What a
transaction uses it only notes, beside its other rows and without the lock; the next round enters it.
"""

from datetime import timedelta
from uuid import UUID

import msgspec

from atrium.ground.audit import service as audit
from atrium.ground.quotas import store
from atrium.ground.quotas.model import (
    CONCURRENCY,
    DIMENSIONS,
    STORAGE,
    WINDOWS,
    Admission,
    Amounts,
    Books,
    Dimension,
    Level,
    Limit,
    LimitChange,
    LimitReached,
    Meter,
    QuotaExceeded,
    ReservationRequest,
    Settlement,
    SpaceLacking,
    Usage,
    UsageEntry,
    Window,
    end_of,
    usual_window,
)
from atrium.ground.quotas.origins import list_origins, tightest
from atrium.kit.errors import Exhausted
from atrium.kit.ids import NIL, new_id
from atrium.kit.postgres.database import Database, Transaction
from atrium.seams.context import Context, Operation

LEASE = 120
# As much as writers that see nothing of each other can add together: a hundred and more of the largest texts at once.
_MARGIN = 256 << 20
# After so many notes a writer enters them, so that looking at them stays cheap; others go on meanwhile, up to so many more.
_NOTES, _MOST_NOTES = 200, 5000
# The company's limit and the team's: each may ask for more than the other.
_LIMITS = 2
Item = ReservationRequest | Settlement


async def admit(op: Operation, amounts: Amounts, *, lease: int = LEASE, team_id: UUID | None = None) -> Admission:
    """Reserve every amount at team and company, or refuse; frees itself after `lease` seconds unless settled or extended."""
    reservation = _reservation(op.who.org_id, team_id or op.who.team_id, amounts, lease)
    try:
        await _do(op, reservation)
    except QuotaExceeded as refusal:
        async with op.begin(held=False, reading=True) as ctx:
            await _say_whom_to_ask(ctx, reservation.admission.team_id, refusal)
        raise
    return reservation.admission


async def settle(op: Operation, admission: Admission, actual: Amounts) -> bool:
    """Count what was used instead of what was reserved; a repeated call changes nothing and says False."""
    op.spent.update(actual)
    return await _do(op, Settlement(admission, actual))


async def admit_within(ctx: Context, org_id: UUID, team_id: UUID, amounts: Amounts, *, lease: int = LEASE) -> Admission:
    """Reserve inside the caller's transaction; the company's books stay locked until it ends, so end it soon."""
    reservation = _reservation(org_id, team_id, amounts, lease)
    await store.lock_books(ctx.db, org_id)
    try:
        _raise_first(await _work(ctx.db, org_id, [reservation]))
    except QuotaExceeded as refusal:
        await _say_whom_to_ask(ctx, team_id, refusal)
        raise
    return reservation.admission


async def _say_whom_to_ask(ctx: Context, team_id: UUID, refusal: QuotaExceeded) -> None:
    """Who may raise the limit: a few whom the caller may know, else what they are called."""
    reached = LimitReached(refusal.facts["level"], team_id)  # type: ignore[arg-type]
    await ctx.announce(reached)
    named = [{"name": name, "role": "operator"} for name in reached.known]
    refusal.facts["ask"] = named or [{"name": None, "role": "operator"}]


async def settle_within(ctx: Context, admission: Admission, actual: Amounts) -> None:
    """Settle together with the caller's transaction; what was reserved counts until the next round enters this."""
    ctx.spent.update(actual)
    await store.insert_entry(ctx.db, admission.org_id, new_id(), admission.team_id, admission.id, actual)


async def admit_each_within(
    db: Transaction, org_id: UUID, wanted: list[tuple[UUID, Amounts]], *, lease: int
) -> list[Admission | Exception]:
    """Reserve for several teams of one company inside the caller's transaction: each gets its admission or its refusal."""
    reservations = [_reservation(org_id, team_id, amounts, lease) for team_id, amounts in wanted]
    await store.lock_books(db, org_id)
    results = await _work(db, org_id, [*reservations])
    return [
        result if isinstance(result, Exception) else reservation.admission
        for reservation, result in zip(reservations, results, strict=True)
    ]


async def settle_each_within(db: Transaction, org_id: UUID, used: dict[UUID, Amounts | None]) -> None:
    """Settle admissions by id inside the caller's transaction; None counts what was reserved as used."""
    await store.lock_books(db, org_id)
    holds = await store.list_holds(db, org_id, list(used))
    settlements: list[Item] = [
        Settlement(Admission(hold.id, org_id, hold.team_id, hold.amounts), hold.amounts if spent is None else spent)
        for hold in holds
        for spent in (used[hold.id],)
    ]
    await _work(db, org_id, settlements)


async def use_within(ctx: Context, team_id: UUID, amounts: Amounts) -> None:
    """Count usage without a reservation, in the caller's transaction; a negative amount gives back. Never refused."""
    await store.insert_entry(ctx.db, ctx.who.org_id, new_id(), team_id, None, amounts)


async def has_space(ctx: Context, team_id: UUID, size: int) -> bool:
    """Whether so much storage is left that a writer of rows may go on without waiting for the books; the rows note themselves."""
    space = await store.read_space(ctx.db, ctx.who.org_id, team_id, _MOST_NOTES)
    if space is None or space.left is None:
        return True
    if space.notes >= _MOST_NOTES or space.left - max(0, space.noted) - size < _MARGIN:
        return False
    if space.notes >= _NOTES and await store.try_lock_books(ctx.db, ctx.who.org_id):
        await _work(ctx.db, ctx.who.org_id, [])
    return True


async def require_space(ctx: Context, team_id: UUID, size: int) -> None:
    """Refuse rows of so many bytes where the storage of team or company has no place for them; keeping them counts them."""
    if not await has_space(ctx, team_id, size):
        await leave_to_rows(ctx, await admit_space_within(ctx, team_id, size))


async def admit_space_within(ctx: Context, team_id: UUID, size: int, *, lease: int = LEASE) -> Admission:
    """Reserve storage in the caller's transaction; what can be let go of gives way where that is enough, and stays where it is not."""
    amounts: Amounts = {STORAGE: size}
    for _ in range(_LIMITS):
        try:
            return await admit_within(ctx, ctx.who.org_id, team_id, amounts, lease=lease)
        except QuotaExceeded as refusal:
            lacking = SpaceLacking(team_id, _lacking(refusal, size))
            if lacking.bytes > 0:
                await ctx.announce(lacking)
            if not lacking.let_go:
                raise
    return await admit_within(ctx, ctx.who.org_id, team_id, amounts, lease=lease)


def _lacking(refusal: QuotaExceeded, size: int) -> int:
    """How many bytes too many; none where the limit is on how much is written in a time, which nothing gives back."""
    limit, used = refusal.facts["limit"], refusal.facts["used"]
    if refusal.facts["window"] != "total" or not isinstance(limit, int) or not isinstance(used, int):
        return 0
    return used + size - limit


async def leave_to_rows(ctx: Context, admission: Admission) -> None:
    """Free a reservation with the commit of the caller's transaction, whose rows count themselves."""
    await store.insert_entry(ctx.db, admission.org_id, new_id(), admission.team_id, admission.id, {STORAGE: 0})


async def enter_noted(database: Database, companies: int = 1000) -> int:
    """Enter what was noted in companies where nothing is being admitted; how many companies there were."""
    async with database.begin_system() as db:
        found = await store.list_companies_with_entries(db, companies)
    for org_id in found:
        async with database.begin(org_id) as db:
            await store.lock_books(db, org_id)
            await _work(db, org_id, [])
    return len(found)


async def extend(op: Operation, admission: Admission, seconds: int = LEASE) -> bool:
    """Keep a reservation for longer; False when it has lapsed or was settled."""
    async with op.begin() as ctx:
        return await store.extend_hold(ctx.db, admission.org_id, admission.id, timedelta(seconds=seconds))


async def extend_within(ctx: Context, admission: Admission, seconds: int) -> bool:
    """Keep a reservation for longer, from the commit of the caller's transaction on; False when it has lapsed."""
    return await store.extend_hold(ctx.db, admission.org_id, admission.id, timedelta(seconds=seconds))


async def read_usage(ctx: Context) -> list[Usage]:
    """What the caller's team and company have used, per dimension and window."""
    who = ctx.who
    return await _report(ctx, who.org_id, (("team", who.team_id), ("org", who.org_id)))


async def read_company_usage(ctx: Context, org_id: UUID) -> list[Usage]:
    """What a whole company has used, per dimension and window."""
    return await _report(ctx, org_id, (("org", org_id),))


async def _report(ctx: Context, org_id: UUID, scopes: tuple[tuple[Level, UUID], ...]) -> list[Usage]:
    ids = [scope_id for _, scope_id in scopes]
    limits = await store.list_limits(ctx.db, org_id, ids)
    books = await open_entered(ctx.db, org_id, ids)
    running = await store.list_running_jobs(ctx.db, org_id)
    origins = await list_origins(ctx, org_id, ids)
    lines = []
    for level, scope_id in scopes:
        for dimension in DIMENSIONS:
            meter = books.meter(scope_id, dimension)
            limited = limits.get((scope_id, dimension), {})
            if dimension in CONCURRENCY:
                at_once = running.get((scope_id, dimension), (meter.reserved, _least(limited)))
                lines.append(origins.explain(_running(level, dimension, *at_once), scope_id, tightest(limited)))
                continue
            windows = [window for window in WINDOWS if window in limited] or [usual_window(dimension)]
            for window in windows:
                line = _line(level, dimension, window, meter, limited.get(window))
                if dimension == STORAGE:
                    line = msgspec.structs.replace(line, parts=books.parts(scope_id, window))
                lines.append(origins.explain(line, scope_id, window if window in limited else None))
    return lines


async def open_entered(db: Transaction, org_id: UUID, scopes: list[UUID]) -> Books:
    """The books as the next round would find them: what was noted is entered, and what has lapsed is freed."""
    entries = await store.list_entries(db, org_id)
    entries += [kept.entry() for kept in await store.list_kept(db, org_id)]
    books = await _open_books(db, org_id, scopes, await store.list_limits(db, org_id, scopes), entries, [])
    entered = [entry.hold_id for entry in entries if entry.hold_id is not None]
    for hold in await store.list_lapsed(db, org_id, entered):
        books.free(hold)
    return books


async def list_limits(ctx: Context, org_id: UUID, scope_id: UUID) -> list[Limit]:
    """The limits of one team, or of the company itself."""
    found = await store.list_limits(ctx.db, org_id, [scope_id])
    level: Level = "org" if scope_id == org_id else "team"
    return [
        Limit(dimension, found[scope_id, dimension][window], window, level)
        for dimension in DIMENSIONS
        for window in WINDOWS
        if window in found.get((scope_id, dimension), {})
    ]


async def set_limit(
    ctx: Context, org_id: UUID, scope_id: UUID, dimension: Dimension, window: Window, limit: int | None
) -> Limit:
    """Set or (`None`) clear a limit; it holds from the next admission on, for what was used in the window already too."""
    if limit is None:
        await store.delete_limit(ctx.db, org_id, scope_id, dimension, window)
    else:
        setter = None if ctx.who.user_id == NIL else ctx.who.user_id
        await store.put_limit(ctx.db, org_id, scope_id, LimitChange(dimension, limit, window), setter)
    level: Level = "org" if scope_id == org_id else "team"
    await audit.record(ctx, "quotas.limit_set", scope_id, level=level, dimension=dimension, window=window, limit=limit)
    return Limit(dimension, limit, window, level)


async def apply_plan(ctx: Context, org_id: UUID, caps: dict[tuple[str, str], int]) -> list[Limit]:
    """Give a company the caps of a plan in place of its last one's; what was set by hand stays, and is returned."""
    await store.delete_plan_limits(ctx.db, org_id)
    for (dimension, window), most in caps.items():
        await store.put_plan_limit(ctx.db, org_id, dimension, window, most)
    return await store.list_set_by_hand(ctx.db, org_id)


def _reservation(org_id: UUID, team_id: UUID, amounts: Amounts, lease: int) -> ReservationRequest:
    return ReservationRequest(Admission(new_id(), org_id, team_id, amounts), timedelta(seconds=lease))


async def _do(op: Operation, item: Item) -> bool:
    org_id, database = op.who.org_id, op.services.database

    async def work(items: list[Item]) -> list[bool | Exception]:
        async with database.begin(org_id) as db:
            await store.lock_books(db, org_id)
            return await _work(db, org_id, items)

    return await op.services.combiner.submit(("quotas", org_id), item, work)


async def _work(db: Transaction, org_id: UUID, items: list[Item]) -> list[bool | Exception]:
    """One round over a company's books, under its lock: what was noted is entered, every item gets True, False or its refusal."""
    entries = await store.take_entries(db, org_id)
    entries += [kept.entry() for kept in await store.take_kept(db, org_id)]
    asked = [item.admission.id for item in items if isinstance(item, Settlement)]
    noted = [entry.hold_id for entry in entries if entry.hold_id is not None]
    await _free_lapsed(db, org_id, asked + noted)
    scopes = list({org_id, *(item.admission.team_id for item in items), *(entry.team_id for entry in entries)})
    books = await _open_books(db, org_id, scopes, await store.list_limits(db, org_id, scopes), entries, asked)
    results = [_entered(books, item) for item in items]
    done = [item for item, result in zip(items, results, strict=True) if result is True]
    admitted = [item for item in done if isinstance(item, ReservationRequest)]
    settled = noted + [item.admission.id for item in done if isinstance(item, Settlement)]
    if books.touched:
        await store.write_meters(db, org_id, list(books.touched.values()))
    if admitted:
        await store.insert_holds(db, org_id, admitted)
    if settled:
        await store.mark_settled(db, org_id, settled)
    return results


async def _free_lapsed(db: Transaction, org_id: UUID, but: list[UUID]) -> None:
    """Give back what was reserved and never settled in time; `but` are about to be settled."""
    parts = [
        (scope, dimension, amount)
        for hold in await store.lapse_holds(db, org_id, but)
        for dimension, amount in hold.amounts.items()
        for scope in (org_id, hold.team_id)
    ]
    if parts:
        scopes, dimensions, amounts = map(list, zip(*parts, strict=True))
        await store.free(db, org_id, scopes, dimensions, amounts)


async def _open_books(
    db: Transaction,
    org_id: UUID,
    scopes: list[UUID],
    limits: store.Limits,
    entries: list[UsageEntry],
    asked: list[UUID],
) -> Books:
    """The books with what was noted entered, and the holds that are asked about at hand."""
    holds = asked + [entry.hold_id for entry in entries if entry.hold_id is not None]
    books = Books(
        org_id,
        await store.read_clock(db),
        limits,
        await store.list_meters(db, org_id, scopes),
        await store.list_holds(db, org_id, holds) if holds else [],
    )
    # What gives back comes last: before what it gives back was counted, there might be nothing to take it from.
    for entry in sorted(entries, key=lambda one: any(amount < 0 for amount in one.amounts.values())):
        books.enter(entry)
    return books


def _entered(books: Books, item: Item) -> bool | Exception:
    if isinstance(item, Settlement):
        return books.settle(item.admission, item.actual)
    try:
        books.admit(item.admission)
    except Exhausted as refusal:
        return refusal
    return True


def _raise_first(results: list[bool | Exception]) -> bool:
    result = results[0]
    if isinstance(result, Exception):
        raise result
    return result


def _least(limited: dict[str, int]) -> int | None:
    return min(limited.values(), default=None)


def _running(level: Level, dimension: Dimension, used: int, limit: int | None) -> Usage:
    remaining = None if limit is None else max(0, limit - used)
    return Usage(
        level=level, dimension=dimension, window=None, used=used, reserved=0, limit=limit, remaining=remaining, resets_at=None
    )  # fmt: skip


def _line(level: Level, dimension: Dimension, window: Window, meter: Meter, limit: int | None) -> Usage:
    used = meter.used(window)
    remaining = None if limit is None else max(0, limit - used - meter.reserved)
    return Usage(
        level=level, dimension=dimension, window=window, used=used, reserved=meter.reserved, limit=limit, remaining=remaining,
        resets_at=end_of(window, meter.counted_at),
    )  # fmt: skip

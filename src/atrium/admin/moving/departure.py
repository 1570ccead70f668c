"""The sending side of a company's move: read-only, written out as of one instant, released when the other side has it; or it stays."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import msgspec

from atrium import __version__
from atrium.admin.backups.model import SchemaVersion
from atrium.admin.moving import archive as archives
from atrium.admin.moving import lines, store
from atrium.admin.moving.archive import Draft, blob_name, rows_name
from atrium.admin.moving.model import (
    FORMAT,
    RECEIPT,
    Blob,
    LentKey,
    Move,
    MoveManifest,
    Mover,
    MoveRefused,
    MoveTotals,
    MovingCompany,
    Receipt,
    Rows,
    Table,
)
from atrium.ground.audit import chain_keys
from atrium.ground.audit import service as audit
from atrium.ground.tenancy import service as tenancy
from atrium.kit.crypto.keys import Keyring
from atrium.kit.ids import NIL
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.snapshots import begin_as_owner, export_snapshot
from atrium.seams.blobs import BlobMissing
from atrium.seams.context import ANONYMOUS, Principal

Progress = Callable[[int], None]


async def export(mover: Mover, ref: str, place: Path, progress: Progress | None = None) -> MoveManifest:
    """Write a company into an archive; it is read-only from the moment that the archive shows, and stays so."""
    with Draft(place) as draft:
        async with begin_as_owner(mover.url) as db:
            company = await _require_movable(db, mover, ref)
            blobs = await store.list_blobs(db, company.id)
        # Most bytes go while people still write; what comes meanwhile follows.
        await _write_blobs(mover, draft, company.id, blobs, progress)
        fresh = await _mark(mover, company)
        try:
            manifest = await _write(mover, draft, company, progress)
            digest = draft.finish(manifest, mover.transfer)
            await _written(mover, company, digest)
        except BaseException:
            if fresh:
                await stay(mover, str(company.id))
            raise
    return manifest


async def stay(mover: Mover, ref: str) -> MovingCompany:
    """Call a move off: the company is as it was before, and no receipt of an archive made until now counts."""
    async with begin_as_owner(mover.url) as db:
        company = await _found(db, mover, ref)
        await store.lock_company(db, company.id)
        move = await store.find_move(db, company.id)
        if move is None or move.state != "leaving":
            raise MoveRefused(f"the company {company.slug} is not on its way anywhere")
        await store.unmark(db, company.id, move.was_suspended)
        await store.forget_move(db, company.id)
        await audit.record_as(db, command_principal(company.id), "companies.move_called_off", company.id)
    return company


def read_receipt(transfer: Keyring, raw: bytes) -> Receipt:
    """What another instance signed after it imported."""
    try:
        receipt = msgspec.json.decode(raw, type=Receipt)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MoveRefused(f"this is not a receipt of `atrium company import`: {error}") from error
    bare = archives.encode_manifest(msgspec.structs.replace(receipt, signature=""))
    if not transfer.verify(RECEIPT, bare, archives.parse_signature(receipt.signature)):
        raise MoveRefused("the receipt was edited, or signed with another SERVICE_TRANSFER_KEY")
    return receipt


async def release(mover: Mover, ref: str, receipt: Receipt, moved_to: str | None) -> tuple[int, int]:
    """Drop a company that another instance has, and remember where it went; how many rows and blobs went."""
    location = (moved_to or receipt.location).rstrip("/")
    if not location.startswith(("http://", "https://")):
        raise MoveRefused("say with --moved-to where people find the company now, such as https://b.example.com")
    async with begin_as_owner(mover.url) as db:
        await require_everything(db)
        move, org_id = await store.find_move(db, receipt.company), receipt.company
        company = await store.find_company(db, str(org_id))
        if move is None or move.archive != receipt.archive or move.state not in ("leaving", "left"):
            raise MoveRefused("the receipt is of another archive than the last one that was made of this company here")
        if ref not in (receipt.slug, str(org_id), company.slug if company else ref):
            raise MoveRefused(f"the receipt is of the company {receipt.slug}, not of {ref}")
        if company is None:
            rows, blobs = 0, None
        else:
            rows, blobs = await _drop(db, org_id, move, location)
    return rows, await _drop_bytes(mover, org_id, blobs)


async def _drop(db: Transaction, org_id: UUID, move: Move, location: str) -> tuple[int, list[Blob]]:
    await store.lock_company(db, org_id)
    blobs = await store.list_blobs(db, org_id)
    tokens, keys, domain = await store.list_presented(db, org_id)
    digests = [tenancy.moved_digest("token", one) for one in tokens]
    digests += [tenancy.moved_digest("s3", one.encode()) for one in keys]
    digests += [tenancy.moved_digest("host", domain.encode())] if domain else []
    tables = lines.sort_tables(await store.list_tables(db))
    rows = 0
    for table in reversed(tables):
        rows += await store.delete_rows(db, table, org_id)
    await store.drop_feed(db, org_id)
    await store.remember_names(db, org_id, digests, location)
    await store.keep_move(db, org_id, "left", move.was_suspended, move.archive, location)
    return rows, blobs


async def _drop_bytes(mover: Mover, org_id: UUID, blobs: list[Blob] | None) -> int:
    """After the rows, which name them; a release that was broken off in between finds them by looking at the store."""
    found = [one.sha256 for one in blobs] if blobs is not None else []
    if blobs is None:
        found = [sha256 async for namespace, sha256 in mover.blobs.walk() if namespace == org_id]
    for sha256 in found:
        await mover.blobs.delete(org_id, sha256)
    return len(found)


async def require_everything(db: Transaction) -> None:
    """Refuse a login that row-level security keeps from a company's rows."""
    if not await store.sees_everything(db):
        raise MoveRefused(
            "this login does not see every company's rows, so it cannot move one; set SERVICE_DATABASE_OWNER_URL to a superuser,"
            " or give the owner of the tables the right: ALTER ROLE … BYPASSRLS"
        )


async def read_schema(db: Transaction) -> SchemaVersion:
    """Of this database, which was migrated."""
    schema = await store.read_schema(db)
    if schema is None:
        raise MoveRefused("this database was never migrated")
    return schema


def command_principal(org_id: UUID) -> Principal:
    """The command, in the company's own trail."""
    return msgspec.structs.replace(ANONYMOUS, org_id=org_id, team_id=NIL)


async def _found(db: Transaction, mover: Mover, ref: str) -> MovingCompany:
    await require_everything(db)
    company = await store.find_company(db, ref)
    if company is None:
        raise MoveRefused(f"there is no company {ref}")
    return company


async def _require_movable(db: Transaction, mover: Mover, ref: str) -> MovingCompany:
    company = await _found(db, mover, ref)
    if await store.is_first(db, company.id):
        raise MoveRefused(
            f"{company.slug} is the company that this instance began with; back up and restore the instance"
        )
    operators = await store.list_operators(db, company.id)
    if operators:
        raise MoveRefused(
            f"{', '.join(operators)} of {company.slug} run this instance; operators do not move: take that role from them first"
        )
    unwalled = await store.list_unwalled(db)
    if unwalled:
        raise MoveRefused(
            f"nothing is known of how {', '.join(unwalled)} moves: it names companies and is not walled off"
        )
    unknown = await store.list_sealed(db) - mover.sealed.keys()
    if unknown:
        raise MoveRefused(
            f"nothing is known of how {'.'.join(sorted(unknown)[0])} is sealed; it would be lost on the other side"
        )
    return company


async def _mark(mover: Mover, company: MovingCompany) -> bool:
    """Read-only from here on, for every writer; False when it was already."""
    async with begin_as_owner(mover.url) as db:
        await store.lock_company(db, company.id)
        move = await store.find_move(db, company.id)
        if move is not None and move.state == "leaving":
            return False
        await audit.record_as(db, command_principal(company.id), "companies.leaving", company.id)
        await store.return_jobs(db, company.id)
        await store.keep_move(db, company.id, "leaving", company.suspended, None, None)
        await store.mark_leaving(db, company.id)
    return True


async def _write(mover: Mover, draft: Draft, company: MovingCompany, progress: Progress | None) -> MoveManifest:
    async with export_snapshot(mover.url) as (db, _):
        await store.write_plainly(db)
        move = await store.find_move_read(db, company.id)
        now = await store.find_company(db, str(company.id))
        if move is None or now is None:
            raise MoveRefused(f"the move of {company.slug} was called off meanwhile")
        tables = await store.list_tables(db)
        kept = {table.name: await _write_rows(db, mover, draft, table, company.id) for table in tables}
        blobs = await store.list_blobs(db, company.id)
        lent = await chain_keys.lend(db, mover.keys, company.id)
        schema = await read_schema(db)
    missing = await _write_blobs(mover, draft, company.id, blobs, progress)
    draft.forget_blobs({one.sha256.hex() for one in blobs})
    draft.add(archives.BLOBS, "".join(f"{one.sha256.hex()} {one.size}\n" for one in blobs).encode())
    there = [one for one in blobs if one.sha256.hex() not in missing]
    return MoveManifest(
        format=FORMAT,
        atrium=__version__,
        schema=schema,
        exported_at=datetime.now(UTC),
        company=msgspec.structs.replace(now, suspended=move.was_suspended),
        tables=kept,
        blobs=MoveTotals(len(there), sum(one.size for one in there)),
        missing=missing,
        chain_keys=[
            LentKey(key.id.hex(), mover.transfer.seal(key.secret, lent_binding(company.id, key.id)).hex())
            for key in lent
        ],
        key_id=mover.transfer.ids()[0],
        files=draft.files,
        sizes=draft.sizes,
    )


def lent_binding(org_id: UUID, id: bytes) -> str:
    """What binds a key in an archive to the company it travels with."""
    return f"{org_id}|audit_keys|{id.hex()}"


async def _write_rows(db: Transaction, mover: Mover, draft: Draft, table: Table, org_id: UUID) -> Rows:
    change = lines.make_resealer(table, mover.sealed, mover.keys, mover.transfer)
    splitter, count = lines.Splitter(), 0
    with draft.adding(rows_name(table.name)) as file:

        async def sink(piece: bytes) -> None:
            nonlocal count
            if change is None:
                count += piece.count(b"\n")
                file.write(piece)
                return
            for line in splitter.lines(piece):
                count += 1
                file.write(lines.change_line(line, change) + b"\n")

        await store.copy_rows(db, table, org_id, sink)
    return Rows(table.columns, count)


async def _write_blobs(
    mover: Mover, draft: Draft, org_id: UUID, blobs: list[Blob], progress: Progress | None
) -> list[str]:
    """Have these bytes in the archive; which the store does not have."""
    missing = []
    for one in blobs:
        digest = one.sha256.hex()
        if draft.has(blob_name(digest)):
            continue
        if await mover.blobs.stat(org_id, one.sha256) != one.size:
            missing.append(digest)
            continue
        pieces = mover.blobs.get(org_id, one.sha256)
        try:
            with draft.adding(blob_name(digest)) as file:
                async for piece in pieces:
                    file.write(piece)
        except BlobMissing as error:
            raise MoveRefused(f"bytes were released while they were copied (sha256 {digest}); try again") from error
        finally:
            await pieces.aclose()
        if draft.files[blob_name(digest)] != digest:
            raise MoveRefused(
                f"the blob store holds other bytes than it should (sha256 {digest}); run `atrium blobs verify`"
            )
        if progress is not None:
            progress(one.size)
    return missing


async def _written(mover: Mover, company: MovingCompany, digest: str) -> None:
    async with begin_as_owner(mover.url) as db:
        move = await store.find_move(db, company.id)
        if move is None or move.state != "leaving":
            raise MoveRefused(f"the move of {company.slug} was called off meanwhile")
        await store.keep_move(db, company.id, "leaving", move.was_suspended, digest, None)
        # The other side knows the old ones now: nothing more is tied with them here.
        await chain_keys.make_key(db, mover.keys)

"""The receiving side of a company's move: the archive is checked and compared with who is here, then all of it is written or nothing."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from atrium.admin.backups import service as backups
from atrium.admin.moving import archive as archives
from atrium.admin.moving import archive_check, lines, store
from atrium.admin.moving.archive import Archive, blob_name, rows_name
from atrium.admin.moving.archive_check import ArchiveNames
from atrium.admin.moving.departure import command_principal, lent_binding, read_schema, require_everything
from atrium.admin.moving.model import FORMAT, RECEIPT, Move, MoveFailed, Mover, MoveRefused, Receipt, Table
from atrium.ground.audit import chain_check, chain_keys
from atrium.ground.audit import service as audit
from atrium.ground.audit.model import ChainKey
from atrium.kit.crypto.keys import Unsealable
from atrium.kit.postgres.database import Transaction
from atrium.kit.postgres.snapshots import RowsRefused, begin_as_owner

Progress = Callable[[int], None]
Renames = dict[str, str]
_MOST_LISTED = 50


async def bring_in(mover: Mover, place: Path, renames: Renames, progress: Progress | None = None) -> Receipt:
    """Import an archive; the receipt with which the other side lets go. Repeated, it is the same receipt."""
    with Archive(place, mover.transfer) as archive:
        async with begin_as_owner(mover.url) as db:
            await require_everything(db)
            arrived = await _arrived(db, archive)
            if arrived is not None:
                return _receipt(mover, archive, arrived, await _count(db, archive))
            archive_check.require_schema(archive.manifest, await read_schema(db))
            tables = lines.sort_tables(await store.list_tables(db))
            archive_check.require_tables(archive.manifest, tables)
            found = archive_check.judge(archive, tables)
            await _require_no_collisions(db, mover, archive, found, renames)
        put = await _put_blobs(mover, archive, progress)
        try:
            move = await _write(mover, archive, tables, found, renames)
        except BaseException:
            await _take_back(mover, archive.manifest.company.id, put)
            raise
        return _receipt(mover, archive, move, found.rows)


async def _arrived(db: Transaction, archive: Archive) -> Move | None:
    """That this very archive was imported before; another one of the same company is refused."""
    org_id = archive.manifest.company.id
    await store.lock_arrival(db, org_id)
    if await store.find_company(db, str(org_id)) is None:
        return None
    move = await store.find_move(db, org_id)
    if move is not None and move.state == "arrived" and move.archive == archive.digest:
        return move
    raise MoveRefused(f"the company {archive.manifest.company.slug} is on this instance already; nothing was written")


async def _count(db: Transaction, archive: Archive) -> int:
    return sum(rows.rows for rows in archive.manifest.tables.values())


async def _require_no_collisions(
    db: Transaction, mover: Mover, archive: Archive, found: ArchiveNames, renames: Renames
) -> None:
    """Every name that is taken here, at once, before anything is written."""
    company = archive.manifest.company
    slug = renames.get(company.slug, company.slug)
    names = [renames.get(name, name) for name in found.usernames]
    unknown = sorted(renames.keys() - {company.slug, *found.usernames})
    if unknown:
        raise MoveRefused(f"--rename {unknown[0]}: the archive has no such username, and its slug is {company.slug}")
    taken = [f"the slug {slug}"] if await store.is_taken(db, slug) else []
    if company.domain and await store.is_host_taken(db, company.domain):
        taken.append(
            f"the hostname {company.domain}, which cannot be renamed: take it from the company that has it here"
        )
    lowered = [name.lower() for name in names]
    twice = {name for name in lowered if lowered.count(name) > 1} if len(set(lowered)) < len(lowered) else set[str]()
    people = sorted({*await store.list_taken_usernames(db, lowered), *twice})
    taken += [f"the username {name}" for name in people[:_MOST_LISTED]]
    if len(people) > _MOST_LISTED:
        taken.append(f"{len(people) - _MOST_LISTED} more usernames")
    if taken:
        listed = "".join(f"\n  {one}" for one in taken)
        raise MoveRefused(f"taken on this instance; say --rename OLD=NEW for each, nothing was written:{listed}")
    strangers = await store.list_known(db, archive_check.ids_of(found))
    if strangers:
        table = found.ids[str(strangers[0])]
        raise MoveRefused(f"a row of {table} names {strangers[0]}, who is of another company of this instance")
    if not mover.multitenant and await store.count_companies(db):
        raise MoveRefused("this server carries one company; start it with SERVICE_MULTITENANT=1 to add others")


async def _put_blobs(mover: Mover, archive: Archive, progress: Progress | None) -> list[bytes]:
    """Bytes before rows: what stops here leaves bytes that no row names. Which ones were not there before."""
    org_id, put = archive.manifest.company.id, list[bytes]()
    await asyncio.to_thread(lambda: mover.staging.mkdir(parents=True, exist_ok=True))

    async def put_one(item: tuple[str, int]) -> None:
        digest, size = item
        staged, sha256 = mover.staging / f"import-{uuid4().hex}", bytes.fromhex(digest)
        try:
            await asyncio.to_thread(_stage, archive, digest, staged)
            if await mover.blobs.stat(org_id, sha256) is None:
                put.append(sha256)
            await mover.blobs.put(org_id, sha256, staged)
        finally:
            await asyncio.to_thread(staged.unlink, missing_ok=True)
        if progress is not None:
            progress(size)

    await backups.each(archive.blobs(), put_one)
    return put


def _stage(archive: Archive, digest: str, staged: Path) -> None:
    with staged.open("xb") as file:
        for piece in archive.pieces(blob_name(digest)):
            file.write(piece)


async def _take_back(mover: Mover, org_id: UUID, put: list[bytes]) -> None:
    async with begin_as_owner(mover.url) as db:
        if await store.find_company(db, str(org_id)) is not None:
            return
    for sha256 in put:
        await mover.blobs.delete(org_id, sha256)


async def _write(mover: Mover, archive: Archive, tables: list[Table], found: ArchiveNames, renames: Renames) -> Move:
    """All rows in one transaction, compared with what was sent before it ends."""
    company = archive.manifest.company
    try:
        async with begin_as_owner(mover.url) as db:
            if (arrived := await _arrived(db, archive)) is not None:
                return arrived
            # Looked at again: a name may have been taken while the bytes were put.
            await _require_no_collisions(db, mover, archive, found, renames)
            await store.write_plainly(db)
            sent = {table.name: await _load(db, mover, archive, table, renames) for table in tables}
            await store.settle_constraints(db)
            await _require_equal(db, mover, archive, tables, sent, renames)
            await _require_bytes(db, mover, archive)
            await _adopt_chain(db, mover, archive)
            await store.drop_feed(db, company.id)
            await store.unmark(db, company.id, company.suspended)
            await store.take_turns_anew(db, company.id)
            await store.forget_names(db, company.id)
            await audit.record_as(
                db, command_principal(company.id), "companies.arrived", company.id, archive=archive.digest
            )
            await store.keep_move(db, company.id, "arrived", company.suspended, archive.digest, None)
            move = await store.find_move(db, company.id)
            assert move is not None  # noqa: S101 - written the statement before
            return move
    except RowsRefused as refused:
        raise MoveRefused(f"the rows do not fit this instance, nothing was written: {refused}") from refused


async def _load(db: Transaction, mover: Mover, archive: Archive, table: Table, renames: Renames) -> bytes:
    """Put a table's rows; the digest of what was sent. What triggers wrote for the newcomer gives way."""
    hashed = hashlib.sha256()
    reseal = lines.make_resealer(table, mover.sealed, mover.transfer, mover.keys)
    rename = _renaming(table, renames)

    async def source() -> AsyncIterator[bytes]:
        splitter = lines.Splitter()
        for piece in archive.pieces(rows_name(table.name)):
            if reseal is None and rename is None:
                hashed.update(piece)
                yield piece
                continue
            for line in splitter.lines(piece):
                made = lines.change_line(lines.change_line(line, reseal), rename) + b"\n"
                hashed.update(made)
                yield made

    await store.delete_rows(db, table, archive.manifest.company.id)
    try:
        await store.load_rows(db, table, source())
    except Unsealable as error:
        raise MoveRefused(f"a secret in {table.name} cannot be opened: {error}") from error
    return hashed.digest()


def _renaming(table: Table, renames: Renames) -> lines.Change | None:
    column = {"users": "username", "orgs": "slug"}.get(table.name)
    if column is None or not renames:
        return None
    place = table.columns.index(column)

    def change(fields: list[bytes]) -> list[bytes]:
        name = lines.text_of(fields[place])
        fields[place] = lines.field_of(renames.get(name, name))
        return fields

    return change


async def _require_equal(
    db: Transaction, mover: Mover, archive: Archive, tables: list[Table], sent: dict[str, bytes], renames: Renames
) -> None:
    """Every row as it was sent. Triggers of the schema write rows of their own on the way; those tables are put once more."""
    parents = {name for table in tables for name in table.parents}
    for table in tables:
        if await _digest(db, table, archive.manifest.company.id) != sent[table.name] and table.name not in parents:
            sent[table.name] = await _load(db, mover, archive, table, renames)
            await store.settle_constraints(db)
    for table in tables:
        if await _digest(db, table, archive.manifest.company.id) != sent[table.name]:
            raise MoveFailed(
                f"the rows of {table.name} differ from the archive's after they were written; nothing was kept"
            )


async def _digest(db: Transaction, table: Table, org_id: UUID) -> bytes:
    hashed = hashlib.sha256()

    async def sink(piece: bytes) -> None:
        hashed.update(piece)

    await store.copy_rows(db, table, org_id, sink)
    return hashed.digest()


async def _require_bytes(db: Transaction, mover: Mover, archive: Archive) -> None:
    org_id, missing = archive.manifest.company.id, {*archive.manifest.missing}
    for one in await store.list_blobs(db, org_id):
        kept = await mover.blobs.stat(org_id, one.sha256)
        if kept != one.size and one.sha256.hex() not in missing:
            raise MoveRefused(f"the rows name bytes that the archive does not hold (sha256 {one.sha256.hex()})")


async def _adopt_chain(db: Transaction, mover: Mover, archive: Archive) -> None:
    org_id = archive.manifest.company.id
    try:
        lent = [
            ChainKey(id, mover.transfer.open(bytes.fromhex(key.sealed), lent_binding(org_id, id)))
            for key in archive.manifest.chain_keys
            for id in (bytes.fromhex(key.id),)
        ]
        await chain_keys.adopt(db, mover.keys, lent)
    except (Unsealable, ValueError) as error:
        raise MoveRefused(f"the keys of the audit chain cannot be taken over: {error}") from error
    verdict = await chain_check.verify_one(db, mover.keys, org_id)
    if verdict.problem:
        raise MoveRefused(f"the audit chain does not hold: {verdict.problem}")


def _receipt(mover: Mover, archive: Archive, move: Move, rows: int) -> Receipt:
    company, blobs = archive.manifest.company, archive.manifest.blobs
    bare = Receipt(
        format=FORMAT,
        company=company.id,
        slug=company.slug,
        archive=archive.digest,
        rows=rows,
        blobs=blobs.count,
        location=mover.location,
        imported_at=move.changed_at,
    )
    return msgspec.structs.replace(bare, signature=mover.transfer.sign(RECEIPT, archives.encode_manifest(bare)).hex())

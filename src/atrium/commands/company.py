"""`atrium company`: what a person does at the machine to move one company to another instance."""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from atrium.admin.moving import archive as archives
from atrium.admin.moving import arrival, departure
from atrium.admin.moving.model import Mover, MoveRefused, Receipt
from atrium.boot.assemble import open_blobs, register
from atrium.boot.instance import reach_instance
from atrium.boot.requirements import (
    explain_database_errors,
    require_at_head,
    require_keys,
    require_known_database,
)
from atrium.boot.wiring import DOMAINS
from atrium.kit.crypto.keys import Keyring
from atrium.seams.blobs import close_store
from atrium.seams.settings import Settings

_LEAST = 32


def sealed_columns() -> dict[tuple[str, str], object]:
    """What every domain seals of a company's rows."""
    return {(one.table, one.column): one.binding for domain in DOMAINS for one in domain.sealed}


def transfer_keys(settings: Settings) -> Keyring:
    """The key of transfers, which both sides have to have."""
    if len(settings.transfer_key) < _LEAST or "," in settings.transfer_key:
        raise MoveRefused(
            f"set SERVICE_TRANSFER_KEY to the same {_LEAST} characters or more, without a comma, on both instances"
        )
    return Keyring(settings.transfer_key)


@contextlib.asynccontextmanager
async def opened_mover(settings: Settings) -> AsyncIterator[Mover]:
    """The instance that the settings name, as one side of a move."""
    transfer = transfer_keys(settings)
    require_at_head(await require_known_database(settings))
    blobs = open_blobs(settings, register(settings))
    try:
        with explain_database_errors():
            yield Mover(
                settings.database_owner_url or settings.database_url,
                blobs,
                require_keys(settings),
                transfer,
                settings.data_dir / "staging",
                sealed_columns(),
                settings.base_url,
                settings.multitenant,
            )
    finally:
        await close_store(blobs)


def export_company(settings: Settings, ref: str, place: Path) -> int:
    """Write a company into an archive; it is read-only from then on."""
    with reach_instance(settings) as found:
        return asyncio.run(_export(found, ref, place))


async def _export(settings: Settings, ref: str, place: Path) -> int:
    began = time.monotonic()
    async with opened_mover(settings) as mover:
        manifest = await departure.export(mover, ref, place)
    rows, blobs = sum(one.rows for one in manifest.tables.values()), manifest.blobs
    print(
        f"{place}: {rows} rows and {blobs.count} blobs with {blobs.bytes / 1e6:,.1f} MB of {manifest.company.slug},"
        f" in {time.monotonic() - began:.1f} s"
    )
    for digest in manifest.missing:
        print(f"the blob store had lost before: sha256 {digest}", file=sys.stderr)
    print("the company is read-only here until `atrium company release`, or `atrium company stay`", file=sys.stderr)
    return 0


def import_company(settings: Settings, place: Path, renames: list[str]) -> int:
    """Bring a company in, whole or not at all, and print its receipt."""
    pairs = dict(_pair(text) for text in renames)
    with reach_instance(settings) as found:
        return asyncio.run(_import(found, place, pairs))


def _pair(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not old or not new or new != new.strip():
        raise MoveRefused(f"--rename takes OLD=NEW, not {text!r}")
    return old, new


async def _import(settings: Settings, place: Path, renames: dict[str, str]) -> int:
    async with opened_mover(settings) as mover:
        receipt = await arrival.bring_in(mover, place, renames)
    sys.stdout.write(archives.encode_manifest(receipt).decode())
    sys.stdout.flush()
    return 0


def release_company(settings: Settings, ref: str, receipt: Path, moved_to: str | None) -> int:
    """Drop a company that another instance has."""
    with reach_instance(settings) as found:
        return asyncio.run(_release(found, ref, receipt, moved_to))


async def _release(settings: Settings, ref: str, place: Path, moved_to: str | None) -> int:
    async with opened_mover(settings) as mover:
        receipt = await asyncio.to_thread(_read_receipt, mover, place)
        rows, blobs = await departure.release(mover, ref, receipt, moved_to)
    await asyncio.to_thread(os.sync)
    print(f"{receipt.slug} was released: {rows} rows and {blobs} blobs are gone from here")
    return 0


def _read_receipt(mover: Mover, place: Path) -> Receipt:
    try:
        return departure.read_receipt(mover.transfer, place.read_bytes())
    except OSError as error:
        raise MoveRefused(f"{place} cannot be read: {error.strerror}") from error


def keep_company(settings: Settings, ref: str) -> int:
    """Call a move off."""
    with reach_instance(settings) as found:
        return asyncio.run(_keep(found, ref))


async def _keep(settings: Settings, ref: str) -> int:
    async with opened_mover(settings) as mover:
        company = await departure.stay(mover, ref)
    print(f"{company.slug} stays: it is as it was before the export, and the archive is worth nothing; delete it")
    return 0

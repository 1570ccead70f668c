"""Instances to back up and to restore into, and what is compared between them."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atrium.admin.backups import restoration, service
from atrium.admin.backups.model import Facts, InstanceAccess
from atrium.boot.assemble import Application
from atrium.boot.instance import instance_of
from atrium.boot.wiring import DOMAINS
from atrium.kit.postgres.snapshots import begin_as_owner
from atrium.seams.blobs import close_store
from atrium.seams.wiring import Domain
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

HOURS = 168


@dataclass(frozen=True, slots=True)
class Source:
    """A serving instance with one person in it."""

    house: Application
    company: Company
    writer: Client
    folder: Path

    @property
    def url(self) -> str:
        return self.house.services.settings.database_url

    @property
    def backups(self) -> Path:
        return self.folder / "backups"

    async def back_up(self, folder: Path | None = None) -> Path:
        """A backup of the moment."""
        async with opened(self.house.services.settings) as instance:
            return (await service.create(instance, folder or self.backups))[0]


@asynccontextmanager
async def source(domains: tuple[Domain, ...] = DOMAINS, **settings: Any) -> AsyncIterator[Source]:
    """An instance on a database and in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="atrium-backup-") as name:
        folder = Path(name)
        async with fresh_database() as url:
            chosen = {"data_dir": folder / "data", "blob_keep_hours": HOURS} | settings
            async with open_application(settings_for(url, **chosen), domains=domains) as house:
                company = await found_company(house)
                yield Source(house, company, await company.join("owner", org_role="org_owner", operator=True), folder)


@asynccontextmanager
async def opened(settings: Any, *, restored: bool = False) -> AsyncIterator[InstanceAccess]:
    """An instance as a command sees it."""
    instance = instance_of(settings, restored=restored)
    try:
        yield instance
    finally:
        await close_store(instance.blobs)


async def restore(url: str, data: Path, backup: Path, **settings: Any) -> int:
    """The generation of an instance into which a backup was restored."""
    async with opened(settings_for(url, data_dir=data, **settings), restored=True) as instance:
        manifest = await restoration.require_restorable(backup, instance.keys)
        await restoration.require_empty(url, replace=False)
        return await restoration.restore(instance, backup, manifest)


async def facts_of(url: str) -> Facts:
    async with begin_as_owner(url) as db:
        return await service.read_facts(db)


async def put(client: Client, key: str, body: bytes) -> str:
    answer = await client.put(f"/api/repo/{key}", body, headers={"content-type": "text/plain"})
    assert answer.status in (200, 201), answer.raw
    return str(answer["id"])


async def purge(client: Client, id: str) -> None:
    """Away for good, not to the trash."""
    assert (await client.delete(f"/api/repo-obj/{id}")).status == 200
    assert (await client.delete(f"/api/trash/{id}")).status == 200

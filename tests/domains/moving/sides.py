"""Two instances with keys of their own, a company with a row in every table, and what is compared between them."""

import hashlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from atrium.admin.moving import arrival, departure, lines, store
from atrium.admin.moving.model import MoveManifest, Receipt, Table
from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.commands.company import opened_mover, sealed_columns
from atrium.kit.crypto.keys import Keyring
from atrium.kit.postgres.snapshots import begin_as_owner
from atrium.seams.settings import Settings
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import left_to_tests, open_application, settings_for
from tests.walls.population import Populated, populate

TRANSFER = "a key for transfers that is long enough to be one"
SECRETS = ("the key of the first instance is long enough", "the key of the second instance is long enough")
# What housekeeping does by the clock is not what a move changes.
QUIET = left_to_tests("extraction.text", *(chore.name for domain in DOMAINS for chore in domain.chores))
# Made anew where a company arrives: the event that says so, a place in the round, the marks of the move itself.
ANEW = {"job_lanes": {"turn", "open"}, "orgs": {"suspended_at"}, "job_teams": {"org_open"}}


@dataclass(frozen=True, slots=True)
class Side:
    """A serving instance."""

    house: Application
    folder: Path

    @property
    def settings(self) -> Settings:
        return self.house.services.settings

    @property
    def url(self) -> str:
        return self.settings.database_url

    @property
    def keys(self) -> Keyring:
        return self.house.services.keys

    async def export(self, ref: object, place: Path) -> MoveManifest:
        async with opened_mover(self.settings) as mover:
            return await departure.export(mover, str(ref), place)

    async def bring_in(self, place: Path, **renames: str) -> Receipt:
        async with opened_mover(self.settings) as mover:
            return await arrival.bring_in(mover, place, renames)

    async def release(
        self, ref: object, receipt: Receipt, moved_to: str | None = "https://b.example.com"
    ) -> tuple[int, int]:
        async with opened_mover(self.settings) as mover:
            return await departure.release(mover, str(ref), receipt, moved_to)

    async def stay(self, ref: object) -> None:
        async with opened_mover(self.settings) as mover:
            await departure.stay(mover, str(ref))

    def mover(self) -> Any:
        return opened_mover(self.settings)

    async def join(self) -> Company:
        """A company that has nothing to do with the move."""
        return await found_company(self.house)

    async def rows(self, org_id: UUID) -> dict[str, list[dict[str, str | None]]]:
        """Every row of a company, its secrets opened; what is made anew on the other side is left out."""
        async with begin_as_owner(self.url) as db:
            await store.write_plainly(db)
            return {table.name: await self._rows_of(db, table, org_id) for table in await store.list_tables(db)}

    async def _rows_of(self, db: Any, table: Table, org_id: UUID) -> list[dict[str, str | None]]:
        got = bytearray()

        async def sink(piece: bytes) -> None:
            got.extend(piece)

        await store.copy_rows(db, table, org_id, sink)
        found = [self._row(table, line) for line in bytes(got).split(b"\n")[:-1]]
        return [row for row in found if row.get("kind") != "companies.arrived"]

    def _row(self, table: Table, line: bytes) -> dict[str, str | None]:
        row = {
            name: None if field == lines.NULL else lines.text_of(field)
            for name, field in zip(table.columns, line.split(b"\t"), strict=True)
        }
        for (name, column), binding in sealed_columns().items():
            if name == table.name and (value := row[column]) is not None:
                plain = self.keys.open(bytes.fromhex(value.removeprefix("\\x")), binding(row))  # type: ignore[operator]
                row[column] = plain.hex()
        return {name: value for name, value in row.items() if name not in ANEW.get(table.name, ())}

    async def counts(self) -> dict[str, int]:
        """How many rows of every company there are, in every table."""
        async with begin_as_owner(self.url) as db:
            tables = await store.list_tables(db)
        counted = " UNION ALL ".join(f"SELECT '{table.name}', count(*) FROM \"{table.name}\"" for table in tables)
        return {row[0]: row[1] for row in await run_as_owner(self.url, counted)}

    async def bytes_of(self, org_id: UUID) -> dict[str, str]:
        """Digests of what the store holds for a company, by name."""
        found = {}
        async for namespace, sha256 in self.house.services.blobs.walk():
            if namespace == org_id:
                pieces = [piece async for piece in self.house.services.blobs.get(org_id, sha256)]
                found[sha256.hex()] = hashlib.sha256(b"".join(pieces)).hexdigest()
        return found


@asynccontextmanager
async def two_sides(**settings: Any) -> AsyncIterator[tuple[Side, Side]]:
    """Two instances, each with a database, a folder and a key of its own; they share the key of transfers."""
    with tempfile.TemporaryDirectory(prefix="atrium-moving-") as name:
        async with (
            _side(Path(name) / "a", SECRETS[0], settings) as a,
            _side(Path(name) / "b", SECRETS[1], settings) as b,
        ):
            yield a, b


@asynccontextmanager
async def _side(folder: Path, secret: str, given: dict[str, Any]) -> AsyncIterator[Side]:
    chosen = {
        "data_dir": folder / "data", "secret_key": secret, "transfer_key": TRANSFER, "multitenant": True, "blob_keep_hours": 168,
    }  # fmt: skip
    async with (
        fresh_database() as url,
        open_application(settings_for(url, **(chosen | given)), domains=QUIET) as house,
    ):
        yield Side(house, folder)


async def populated(side: Side) -> Populated:
    """A company with a row in every table, its secrets sealed as the instance seals them."""
    made = await populate(side.house)
    sealed = side.keys.seal(b"a secret of the form", "onboarding|secret")
    await run_as_owner(
        side.url, "UPDATE onboarding_secrets SET sealed = $2 WHERE org_id = $1", made.company.org.id, sealed
    )
    return made


def at(side: Side, client: Client) -> Client:
    """The same credential, presented to the other instance."""
    return Client(side.house.app, client.token, client.user_id, client.team_id, client.org_id, client.username)

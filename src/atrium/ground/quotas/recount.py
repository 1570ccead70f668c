"""Recounting: what the books say is kept, beside what is there."""

from collections.abc import Iterable
from uuid import UUID

import msgspec

from atrium.ground.quotas import service
from atrium.ground.quotas.model import PARTS
from atrium.kit.postgres.database import Database, Transaction
from atrium.seams.wiring import Keeper


class StorageDifference(msgspec.Struct, frozen=True):
    """A team or company whose books say something else than is there; `part` is what of."""

    org_id: UUID
    scope_id: UUID
    part: str
    counted: int
    there: int


async def recount(database: Database, keepers: Iterable[Keeper], org_id: UUID) -> list[StorageDifference]:
    """Where a company's books differ from its rows, both as of one moment; writers go on meanwhile."""
    async with database.begin(org_id, steady=True) as db:
        there = await _list_there(db, keepers, org_id)
        teams = sorted({team_id for team_id, _ in there if team_id != org_id})
        books = await service.open_entered(db, org_id, [org_id, *teams])
    found = []
    for scope_id in (org_id, *teams):
        counted = books.parts(scope_id, "total")
        # Files are compared for the company: what its sign-up pages show belongs to no team.
        for part in PARTS if scope_id != org_id else ("files", *PARTS):
            if (said := getattr(counted, part)) != (truth := there.get((scope_id, part), 0)):
                found.append(StorageDifference(org_id, scope_id, part, said, truth))
    return found


async def _list_there(db: Transaction, keepers: Iterable[Keeper], org_id: UUID) -> dict[tuple[UUID, str], int]:
    """Bytes by scope and part; the company's are those of all its teams."""
    there: dict[tuple[UUID, str], int] = {}
    for keeper in keepers:
        for team_id, size in (await keeper.count(db, org_id)).items():
            for scope_id in {team_id, org_id}:
                there[scope_id, keeper.part] = there.get((scope_id, keeper.part), 0) + size
    return there

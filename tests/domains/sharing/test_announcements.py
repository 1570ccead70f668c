"""What changes without being announced is found, and so is what is announced without a change."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from atrium.ground.sharing.model import ThingsChanged
from atrium.kit.ids import new_id
from atrium.product.notes.model import NOTES
from atrium.seams.context import Context
from tests.postgres import fresh_database
from tests.support import announcements
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for


@pytest.fixture
async def watched() -> AsyncIterator[Company]:
    """A company on a database of its own whose changes are compared."""
    async with fresh_database() as url, announcements.compared(url), open_application(settings_for(url)) as house:
        yield await found_company(house)


def url_of(house: Application) -> str:
    return house.services.settings.database_url


async def test_what_the_services_change_is_announced(watched: Company) -> None:
    alice, bob = await watched.join("admin"), await watched.join("member")
    id = (await alice.post("/api/notes", {"title": "Tides", "visibility": "private"}))["id"]
    await alice.post(f"/api/notes/{id}/share", {"user_id": bob.user_id, "permission": "notes:read"})
    await alice.post(f"/api/notes/{id}/share", {"user_id": bob.user_id, "permission": None})
    await alice.put("/api/repo/tides.txt", b"high")
    await alice.delete(f"/api/notes/{id}")

    assert await announcements.differences(url_of(watched.house)) == []


async def test_a_change_that_is_not_announced_is_found(watched: Company) -> None:
    alice = await watched.join("member")
    id = (await alice.post("/api/notes", {"title": "Tides"}))["id"]
    async with watched.house.services.database.begin(watched.org.id) as db:
        await db.run("UPDATE notes SET title = 'Ebb' WHERE org_id = :org_id AND id = :id", org_id=watched.org.id, id=id)

    [found] = await announcements.differences(url_of(watched.house))

    assert found.startswith(f"note {id}: 2 to 2 transactions changed it, 1 announced it: ")
    assert "UPDATE notes SET title" in found
    await announcements.forget(url_of(watched.house))


async def test_an_announcement_of_nothing_is_found(watched: Company) -> None:
    services, id = watched.house.services, new_id()
    async with services.database.begin(watched.org.id) as db:
        await Context.of_company(services, db, watched.org.id).announce(ThingsChanged(NOTES, [id], "shared"))

    assert await announcements.differences(url_of(watched.house)) == [
        f"note {id}: 0 to 0 transactions changed it, 1 announced it: "
    ]
    await announcements.forget(url_of(watched.house))

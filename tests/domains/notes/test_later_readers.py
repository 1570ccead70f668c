"""A finding about notes: a later reader reads older versions."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_g13_a_later_reader_reads_older_versions_of_a_note(alice: Client, bob: Client) -> None:
    note = await alice.post("/api/notes", {"title": "Berths", "body": "first", "visibility": "private"})
    at = f"/api/notes/{note['id']}"
    await alice.put(at, {"body": "second"})

    assert (await bob.get(f"{at}/versions")).status == 404
    await alice.post(f"{at}/share", {"user_id": bob.user_id, "permission": "notes:read"})

    assert [(await bob.get(f"{at}/versions/{number}"))["body"] for number in (1, 2)] == ["first", "second"]

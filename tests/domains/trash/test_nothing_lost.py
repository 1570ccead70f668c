"""What a click could lose before: texts that were written over, and whatever was deleted. And samples of documents."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_f21_what_was_deleted_comes_back(alice: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "Plan", "body": "words"}))["id"]
    document = (await alice.post("/api/documents", {"title": "Offer", "body": "text"}))["id"]
    stored = (await alice.put("/api/repo/a.bin", b"bytes"))["id"]
    paths = [f"/api/notes/{note}", f"/api/documents/{document}", f"/api/repo-obj/{stored}"]
    before = [(await alice.get(path)).body for path in paths]

    for path in paths:
        await alice.delete(path)
    gone = [(await alice.get(path)).status for path in paths]
    for item in (await alice.get("/api/trash"))["items"]:
        await alice.post(f"/api/trash/{item['id']}/restore", {})

    assert gone == [404, 404, 404]
    assert [(await alice.get(path)).body for path in paths] == before

"""A finding about notes: a text that was written over is still there."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_f21_a_text_that_was_written_over_is_still_there(alice: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "Plan", "body": "first"}))["id"]

    for body in ("second", "third"):
        await alice.put(f"/api/notes/{note}", {"body": body})

    texts = [(await alice.get(f"/api/notes/{note}/versions/{number}"))["body"] for number in (1, 2, 3)]
    assert texts == ["first", "second", "third"]
    assert (await alice.post(f"/api/notes/{note}/restore", {"version": 1}))["body"] == "first"

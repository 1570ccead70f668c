"""A finding about documents: they are plain Markdown."""

import pytest

from tests.support.client import Client

pytestmark = pytest.mark.finding


async def test_d15_a_document_is_plain_markdown(alice: Client) -> None:
    made = await alice.post("/api/documents", {"title": "x"})
    sent = {"content-type": "Text/Markdown; charset=utf-8"}
    uploaded = await alice.put("/api/repo/readme.md", b"# x", headers=sent)

    stored = await alice.get(f"/api/repo-obj/{made['id']}")
    listed = await alice.get("/api/documents")

    assert stored["content_type"] == "text/markdown"
    assert {one["id"] for one in listed["items"]} == {made["id"], uploaded["id"]}

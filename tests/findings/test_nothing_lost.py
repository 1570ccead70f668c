"""What a click could lose before: texts that were written over, and whatever was deleted. And samples of documents."""

from tests.client import Client


async def test_f21_a_text_that_was_written_over_is_still_there(alice: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "Plan", "body": "first"}))["id"]

    for body in ("second", "third"):
        await alice.put(f"/api/notes/{note}", {"body": body})

    texts = [(await alice.get(f"/api/notes/{note}/versions/{number}"))["body"] for number in (1, 2, 3)]
    assert texts == ["first", "second", "third"]
    assert (await alice.post(f"/api/notes/{note}/restore", {"version": 1}))["body"] == "first"


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


async def test_d8_the_seed_makes_documents_too(admin: Client, bob: Client) -> None:
    made = await admin.post("/api/admin/seed")

    found = (await bob.get("/api/documents"))["items"]
    assert made["documents"] == len(found) > 0
    for one in found:
        assert (await bob.get(f"/api/documents/{one['id']}"))["body"]

"""Text documents over HTTP: Markdown objects with a version per update."""

from typing import Any

from tests.support.client import Client
from tests.support.people import Company


async def document_of(client: Client, **fields: str) -> dict[str, Any]:
    answer = await client.post("/api/documents", {"title": "Plan", "body": "# Hi", **fields})
    assert answer.status == 201, answer.raw
    return dict(answer.body)


async def test_a_document_reads_back_as_it_was_written(alice: Client) -> None:
    document = await document_of(alice, title="Grüße 🌍", body="# Hi\n\n- [ ] one")

    answer = await alice.get(f"/api/documents/{document['id']}")

    assert answer.body == document
    assert document["key"].startswith("documents/gru-e-") or document["key"].startswith("documents/grue")
    assert document["key"].endswith(".md")


async def test_a_document_is_a_markdown_object(alice: Client) -> None:
    document = await document_of(alice)

    detail = await alice.get(f"/api/repo-obj/{document['id']}")
    content = await alice.get(f"/api/repo-obj/{document['id']}/content")

    assert detail["content_type"].startswith("text/markdown")
    assert content.raw == b"# Hi"


async def test_every_update_is_a_version(alice: Client) -> None:
    document = await document_of(alice)

    changed = await alice.put(f"/api/documents/{document['id']}", {"body": "better"})

    assert (changed["version"], changed["title"], changed["body"]) == (2, "Plan", "better")
    assert (await alice.get(f"/api/repo-obj/{document['id']}/content", version=1)).raw == b"# Hi"


async def test_a_title_changes_alone(alice: Client) -> None:
    document = await document_of(alice)

    await alice.put(f"/api/documents/{document['id']}", {"title": "New"})

    answer = await alice.get(f"/api/documents/{document['id']}")
    assert (answer["title"], answer["body"], answer["version"]) == ("New", "# Hi", 2)


async def test_an_edit_on_top_of_an_old_state_is_refused(alice: Client) -> None:
    document = await document_of(alice)
    tag = (await alice.get(f"/api/documents/{document['id']}")).headers["etag"]
    await alice.put(f"/api/documents/{document['id']}", {"body": "two"}, headers={"if-match": tag})

    answer = await alice.put(f"/api/documents/{document['id']}", {"body": "three"}, headers={"if-match": tag})

    assert (answer.status, answer.code) == (412, "documents.stale")
    assert (await alice.get(f"/api/documents/{document['id']}"))["body"] == "two"


async def test_a_private_document_is_missing_to_a_teammate(alice: Client, bob: Client) -> None:
    document = await document_of(alice)

    assert (await bob.get(f"/api/documents/{document['id']}")).code == "documents.missing"
    assert (await bob.get("/api/documents"))["items"] == []


async def test_a_team_document_is_edited_by_teammates_who_may_not_hide_it(alice: Client, bob: Client) -> None:
    document = await document_of(alice, visibility="team")

    assert (await bob.put(f"/api/documents/{document['id']}", {"body": "x"})).status == 200
    assert (await bob.put(f"/api/documents/{document['id']}", {"visibility": "private"})).status == 403
    assert (await bob.delete(f"/api/documents/{document['id']}")).status == 403
    assert (await alice.delete(f"/api/documents/{document['id']}")).body == {"id": document["id"]}


async def test_an_editor_of_another_team_saves_a_version(company: Company, alice: Client) -> None:
    document = await document_of(alice)
    elsewhere = await company.join("viewer", team=await company.add_team())
    share = {"principal_type": "user", "principal_id": elsewhere.user_id, "capability": "edit"}
    await alice.post(f"/api/repo-obj/{document['id']}/share", share)

    changed = await elsewhere.put(f"/api/documents/{document['id']}", {"body": "from outside"})

    assert (changed.status, changed["version"], changed["team_id"]) == (200, 2, alice.team_id)


async def test_the_list_has_documents_and_no_other_objects(alice: Client) -> None:
    document = await document_of(alice)
    await alice.put("/api/repo/picture.png", b"x", headers={"content-type": "image/png"})
    await alice.put("/api/repo/readme.md", b"# x", headers={"content-type": "text/markdown"})

    items = (await alice.get("/api/documents"))["items"]

    assert [item["title"] for item in items] == ["Plan", "readme.md"]
    assert items[0]["id"] == document["id"]
    assert "body" not in items[0]


async def test_an_object_that_is_no_markdown_is_no_document(alice: Client) -> None:
    stored = await alice.put("/api/repo/picture.png", b"x", headers={"content-type": "image/png"})

    assert (await alice.get(f"/api/documents/{stored['id']}")).code == "documents.missing"
    assert (await alice.delete(f"/api/documents/{stored['id']}")).status == 404


async def test_a_repeated_create_with_one_key_makes_one_document(alice: Client) -> None:
    key = {"idempotency-key": "once"}

    first = await alice.post("/api/documents", {"title": "Plan"}, headers=key)
    second = await alice.post("/api/documents", {"title": "Plan"}, headers=key)

    assert first.body == second.body
    assert len((await alice.get("/api/documents"))["items"]) == 1


async def test_a_viewer_creates_nothing(company: Company) -> None:
    viewer = await company.join("viewer")

    assert (await viewer.post("/api/documents", {"title": "x"})).status == 403

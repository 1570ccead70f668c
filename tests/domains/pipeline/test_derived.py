"""Documents beside their sources: who may have them made, who sees them, what they replace, and several at once."""

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.kit.errors import AppError
from atrium.product.pipeline import derived
from atrium.seams.context import Context
from tests.domains.pipeline.conftest import SCHEMA, Kept, Reader, call, put, read_body
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.spoken_house import reserved, used

TOOLS: dict[str, dict[str, Any]] = {
    "doc_extract_fields": {"schema": SCHEMA, "text": "Invoice"},
    "doc_render": {"template": "Form {{ x }}", "data": {"x": 1}},
    "doc_translate": {"locale": "es"},
}


async def refusal(house: Application, person: Client, name: str, id: str, **more: Any) -> AppError:
    with pytest.raises(AppError) as refused:
        await call(person, house, name, object=id, **TOOLS[name], **more)
    return refused.value


async def hide(person: Client, id: str) -> None:
    assert (await person.post(f"/api/repo-obj/{id}/visibility", {"visibility": "private"})).status == 200


async def make(house: Application, person: Client, id: str, text: str = "x") -> Any:
    return await call(person, house, "doc_render", object=id, template=text, data={})


@pytest.mark.parametrize("name", TOOLS)
async def test_a_viewer_and_a_narrow_token_make_nothing(
    house: Application, company: Company, alice: Client, reader: Reader, name: str
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    viewer = await company.join("viewer")
    without_writing = await company.join("member", scope=["files:read", "chat:use"])
    without_reading = await company.join("member", scope=["files:write", "chat:use"])
    without_chat = await company.join("member", scope=["files:read", "files:write"])

    found = [await refusal(house, person, name, id) for person in (viewer, without_writing, without_reading)]

    assert [one.code for one in found] == ["access.permission_missing"] * 3
    if name != "doc_render":
        assert (await refusal(house, without_chat, name, id)).facts["permission"] == "chat:use"
    assert reader.asked == []
    assert (await alice.get("/api/repo", prefix="bill.md."))["items"] == []


@pytest.mark.parametrize("name", TOOLS)
async def test_what_the_caller_cannot_read_is_missing(
    house: Application, company: Company, alice: Client, bob: Client, stranger: Client, reader: Reader, name: str
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "private")
    colleague = await company.join("owner", team=await company.add_team())

    found = [await refusal(house, person, name, id) for person in (bob, colleague, stranger)]

    assert [one.code for one in found] == ["repository.missing"] * 3
    assert reader.asked == []


@pytest.mark.parametrize("name", TOOLS)
async def test_a_private_source_gives_a_private_document_of_who_runs(
    house: Application, alice: Client, bob: Client, reader: Reader, name: str
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "private")

    made = await call(alice, house, name, object=id, **TOOLS[name])

    written = await alice.get(f"/api/repo-obj/{made['object_id']}")
    assert (written["visibility"], written["owner_id"]) == ("private", alice.user_id)
    assert (await bob.get(f"/api/repo-obj/{made['object_id']}")).status == 404


async def test_grants_are_not_inherited_and_who_was_let_in_gets_their_own(
    house: Application, alice: Client, bob: Client
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "private")
    await alice.post(f"/api/repo-obj/{id}/share", {"user_id": bob.user_id})

    made = await make(house, bob, id)

    written = await bob.get(f"/api/repo-obj/{made['object_id']}")
    assert (written["owner_id"], written["visibility"]) == (bob.user_id, "shared")
    assert (await alice.get(f"/api/repo-obj/{made['object_id']}")).status == 404
    assert (await refusal(house, alice, "doc_render", id)).code == "repository.key_taken"


async def test_a_document_of_another_team_becomes_a_private_one_in_ones_own(
    house: Application, company: Company, alice: Client
) -> None:
    team = await company.add_team()
    colleague, neighbour = await company.join("member", team=team), await company.join("member", team=team)
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")
    grant = {"principal_type": "team", "principal_id": str(team.id), "capability": "view"}
    await alice.post(f"/api/repo-obj/{id}/share", grant)

    made = await make(house, colleague, id)

    written = await colleague.get(f"/api/repo-obj/{made['object_id']}")
    assert (written["team_id"], written["visibility"]) == (str(team.id), "private")
    assert (await neighbour.get(f"/api/repo-obj/{made['object_id']}")).status == 404
    assert (await alice.get(f"/api/repo-obj/{made['object_id']}")).status == 404


async def test_an_existing_one_gets_a_new_version(house: Application, alice: Client, bob: Client) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")

    first = await make(house, alice, id, "first")
    second = await make(house, bob, id, "second")

    assert first["object_id"] == second["object_id"]
    assert first["version_id"] != second["version_id"]
    assert await read_body(alice, first["object_id"]) == "second"
    assert (await alice.get(f"/api/repo-obj/{first['object_id']}"))["owner_id"] == alice.user_id
    assert len((await alice.get(f"/api/repo-obj/{first['object_id']}/derivations"))["items"]) == 2


@pytest.mark.parametrize("name", TOOLS)
async def test_a_persons_document_is_not_replaced(house: Application, alice: Client, reader: Reader, name: str) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    for ending in ("fields.json", "form.md", "es.md"):
        await put(alice, f"bill.md.{ending}", b"mine")

    refused = await refusal(house, alice, name, id)

    assert refused.code == "doc.key_taken"
    assert reader.asked == []


async def test_what_a_person_has_edited_is_not_replaced(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    made = await make(house, alice, id)
    await alice.put(f"/api/documents/{made['object_id']}", {"body": "corrected by hand"})

    assert (await refusal(house, alice, "doc_render", id)).code == "doc.key_taken"
    assert await read_body(alice, made["object_id"]) == "corrected by hand"


async def test_what_was_made_from_another_document_is_not_replaced(house: Application, alice: Client) -> None:
    other = await put(alice, "bill.md", b"Invoice", "text/markdown")
    made = await make(house, alice, other)
    await alice.send("DELETE", f"/api/repo-obj/{other}")
    id = await put(alice, "bill.md", b"Another", "text/markdown")

    assert id != other
    assert (await refusal(house, alice, "doc_render", id)).code == "doc.key_taken"
    assert (await alice.get(f"/api/repo-obj/{made['object_id']}"))["version"]["number"] == 1


async def test_a_key_that_the_caller_cannot_see_is_refused(
    house: Application, alice: Client, bob: Client, reader: Reader
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    await put(bob, "bill.md.form.md", b"secret", visibility="private")

    assert (await refusal(house, alice, "doc_render", id)).code == "repository.key_taken"


async def test_one_in_the_trash_makes_room(house: Application, alice: Client) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    first = await make(house, alice, id)
    await alice.send("DELETE", f"/api/repo-obj/{first['object_id']}")

    second = await make(house, alice, id)

    assert first["object_id"] != second["object_id"]


async def test_a_source_that_became_private_takes_its_documents_along(
    house: Application, alice: Client, bob: Client
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")
    made = await make(house, alice, id, "open")
    await hide(alice, id)

    await make(house, alice, id, "secret")

    assert (await bob.get(f"/api/repo-obj/{made['object_id']}")).status == 404
    assert await read_body(alice, made["object_id"]) == "secret"


async def test_another_persons_document_gets_nothing_of_a_private_source(
    house: Application, alice: Client, bob: Client
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")
    made = await make(house, bob, id, "open")
    await hide(alice, id)

    refused = await refusal(house, alice, "doc_render", id)

    assert refused.code == "doc.key_taken"
    assert await read_body(bob, made["object_id"]) == "open"


async def test_a_source_that_becomes_private_meanwhile_gives_a_private_document(
    house: Application, alice: Client, bob: Client, reader: Reader
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")

    reader.meanwhile = partial(hide, alice, id)
    made = await call(alice, house, "doc_translate", object=id, locale="es")

    assert (await alice.get(f"/api/repo-obj/{made['object_id']}"))["visibility"] == "private"
    assert (await bob.get(f"/api/repo-obj/{made['object_id']}")).status == 404


async def test_a_source_that_becomes_private_at_the_last_moment_gives_a_private_document(
    house: Application, alice: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, find_place, looks = await put(alice, "bill.md", b"Invoice", "text/markdown", "team"), derived._find_place, 0

    async def overtaken(ctx: Context, source_id: UUID, key: str) -> Any:
        nonlocal looks
        looks += 1
        place = await find_place(ctx, source_id, key)
        if looks == 2:
            # The first look is before anything is rendered, the second before the document is written.
            await hide(alice, id)
        return place

    monkeypatch.setattr(derived, "_find_place", overtaken)
    made = await make(house, alice, id)

    assert looks == 3
    assert (await alice.get(f"/api/repo-obj/{made['object_id']}"))["visibility"] == "private"
    assert (await bob.get(f"/api/repo-obj/{made['object_id']}")).status == 404


async def test_a_source_that_is_taken_away_meanwhile_leaves_nothing(
    house: Application, alice: Client, bob: Client, reader: Reader
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")

    reader.meanwhile = partial(hide, alice, id)

    assert (await refusal(house, bob, "doc_translate", id)).code == "repository.missing"
    assert (await alice.get("/api/repo", prefix="bill.md."))["items"] == []
    assert (await bob.get("/api/repo", prefix="bill.md."))["items"] == []


async def test_a_source_that_is_deleted_meanwhile_leaves_nothing(
    house: Application, alice: Client, reader: Reader
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")

    async def delete() -> None:
        await alice.send("DELETE", f"/api/repo-obj/{id}")

    reader.meanwhile = delete

    assert (await refusal(house, alice, "doc_translate", id)).code == "repository.missing"
    assert (await alice.get("/api/repo", prefix="bill.md."))["items"] == []


async def test_a_person_who_takes_the_key_meanwhile_keeps_it(
    house: Application, alice: Client, bob: Client, reader: Reader
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")

    async def take() -> None:
        await put(bob, "bill.md.es.md", b"mine", visibility="team")

    reader.meanwhile = take

    assert (await refusal(house, alice, "doc_translate", id)).code == "doc.key_taken"
    (found,) = (await bob.get("/api/repo", prefix="bill.md."))["items"]
    assert (found["version"]["number"], await read_body(bob, found["id"])) == (1, "mine")


@pytest.mark.parametrize("same", [True, False])
async def test_several_at_once_on_one_key_are_versions_of_one_document(
    house: Application, alice: Client, bob: Client, same: bool
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    before = (await used(alice))["storage.bytes"]

    made = await asyncio.gather(
        *(make(house, alice if number % 2 else bob, id, "same" if same else f"form {number}") for number in range(8))
    )

    assert len({one["object_id"] for one in made}) == 1
    assert len({one["version_id"] for one in made}) == 8
    found = await alice.get(f"/api/repo-obj/{made[0]['object_id']}")
    assert found["version_count"] == 8
    assert len((await alice.get(f"/api/repo-obj/{found['id']}/derivations"))["items"]) == 8
    assert (await used(alice))["storage.bytes"] - before == sum(one["size"] for one in found["versions"])
    assert await reserved(alice) == 0


async def test_attempts_of_one_step_at_once_write_once(house: Application, alice: Client) -> None:
    class Already(AppError):
        code = "workflows.already_done"

    class Once(Kept):
        async def end(self, ctx: Any, result: Any) -> None:
            self.refuses = Already("done") if self.results else None
            await super().end(ctx, result)

    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    kept = Once("form")

    made = await asyncio.gather(
        *(kept.call(house, alice, "doc_render", object=id, template="x", data={}) for _ in range(4)),
        return_exceptions=True,
    )

    assert sum(isinstance(one, Already) for one in made) == 3
    (found,) = (await alice.get("/api/repo", prefix="bill.md."))["items"]
    assert found["version"]["number"] == 1


async def test_storage_that_is_used_up_leaves_nothing(house: Application, company: Company, alice: Client) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown")
    operator = await company.join("owner", operator=True)
    await operator.post("/api/quota", {"dimension": "storage.bytes", "limit": 8, "window": "total"})

    refused = await refusal(house, alice, "doc_render", id)

    assert refused.code == "quotas.exceeded"
    assert (await alice.get("/api/repo", prefix="bill.md."))["items"] == []
    assert await reserved(alice) == 0


async def test_the_longest_key_has_documents_too(house: Application, alice: Client) -> None:
    first, second = "þ" * 511 + "a", "þ" * 511 + "b"
    one, other = await put(alice, first, b"x", "text/markdown"), await put(alice, second, b"y", "text/markdown")

    made, also = await make(house, alice, one), await make(house, alice, other)

    assert made["key"] != also["key"]
    assert len(made["key"].encode()) <= 1024
    assert made["key"].endswith(".form.md")
    assert (await make(house, alice, one))["object_id"] == made["object_id"]


async def test_another_company_has_its_own(house: Application, alice: Client) -> None:
    other = await (await found_company(house)).join()
    mine, theirs = [await put(person, "bill.md", b"Invoice", "text/markdown") for person in (alice, other)]

    made, also = await make(house, alice, mine), await make(house, other, theirs)

    assert made["object_id"] != also["object_id"]
    assert (await other.get(f"/api/repo-obj/{made['object_id']}")).status == 404


async def test_processing_tells_both_ends_to_those_who_can_read_them(
    house: Application, alice: Client, bob: Client
) -> None:
    id = await put(alice, "bill.md", b"Invoice", "text/markdown", "team")
    form = await make(house, alice, id)
    await hide(alice, form["object_id"])

    mine, theirs = await alice.get(f"/api/repo-obj/{id}/processing"), await bob.get(f"/api/repo-obj/{id}/processing")
    back = await alice.get(f"/api/repo-obj/{form['object_id']}/processing")

    assert [one["key"] for one in mine["derived"]] == ["bill.md.form.md"]
    assert theirs["derived"] == []
    assert [one["source_id"] for one in back["sources"]] == [id]

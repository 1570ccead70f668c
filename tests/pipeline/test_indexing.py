"""repo_list_unindexed, repo_extract_text and doc_text: what has no text yet, and that it gets one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.extraction.service import TEXT_KIND
from atrium.kit.errors import AppError
from tests.client import Client
from tests.extraction import honest, hostile
from tests.people import Company, found_company
from tests.pipeline.conftest import Kept, call, put
from tests.postgres import fresh_database, run_as_owner
from tests.servers import left_to_tests, open_application, settings_for


@pytest.fixture(scope="module")
async def quiet_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server that reads no text by itself, and none of whose jobs that read one ever begins."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("quiet"), extraction=False)
        async with open_application(settings, domains=left_to_tests(TEXT_KIND)) as house:
            yield house


@pytest.fixture
async def firm(quiet_house: Application) -> Company:
    return await found_company(quiet_house)


@pytest.fixture
async def ann(firm: Company) -> Client:
    return await firm.join()


async def unindexed(house: Application, person: Client) -> list[str]:
    return list(await call(person, house, "repo_list_unindexed"))


async def extracted(house: Application, person: Client, id: str) -> Any:
    """As a step of a workflow."""
    return await Kept("extract").call(house, person, "repo_extract_text", id=id)


async def test_what_has_no_text_is_listed_oldest_first_until_it_has(quiet_house: Application, ann: Client) -> None:
    ids = [await put(ann, f"{name}.txt", b"text") for name in ("c", "a", "b")]

    before = await unindexed(quiet_house, ann)
    found = await extracted(quiet_house, ann, ids[0])
    after = await unindexed(quiet_house, ann)

    assert before == ids
    assert (found["object_id"], found["state"], found["characters"]) == (ids[0], "done", 4)
    assert after == ids[1:]


async def test_an_overwritten_one_is_stale_and_the_last(quiet_house: Application, ann: Client) -> None:
    old, new = await put(ann, "old.txt", b"first"), await put(ann, "new.txt", b"x")
    first = await extracted(quiet_house, ann, old)
    await extracted(quiet_house, ann, new)
    await put(ann, "old.txt", b"second one", visibility=None)

    assert await unindexed(quiet_house, ann) == [old]
    second = await extracted(quiet_house, ann, old)

    assert second["version_id"] != first["version_id"]
    assert second["characters"] == 10
    assert await unindexed(quiet_house, ann) == []


async def test_forty_at_most_and_the_rest_afterwards(quiet_house: Application, ann: Client) -> None:
    ids = [await put(ann, f"{number}.txt", b"text") for number in range(43)]

    first = await unindexed(quiet_house, ann)
    await asyncio.gather(*(extracted(quiet_house, ann, id) for id in first))

    assert first == ids[:40]
    assert await unindexed(quiet_house, ann) == ids[40:]


async def test_what_has_no_reader_or_no_bytes_is_not_listed(quiet_house: Application, ann: Client) -> None:
    await put(ann, "p.png", b"\x89PNG", "image/png")
    await put(ann, "empty.txt", b"")
    await put(ann, "thing.bin", b"x", "application/octet-stream")
    marked = await put(ann, "gone.txt", b"x")
    await ann.send("DELETE", f"/api/repo-obj/{marked}")
    vague = await put(ann, "a.PDF", honest.pdf(1), "application/octet-stream")
    spelled = await put(ann, "b", b"<p>x</p>", "Text/HTML ; charset=utf-8")

    assert await unindexed(quiet_house, ann) == [vague, spelled]


@pytest.mark.parametrize("name", honest.SAMPLES)
async def test_every_type_is_listed_and_read(quiet_house: Application, ann: Client, name: str) -> None:
    content_type, make = honest.SAMPLES[name]
    id = await put(ann, name, make(), content_type)

    assert await unindexed(quiet_house, ann) == [id]
    assert (await extracted(quiet_house, ann, id))["state"] == "done"


async def test_one_that_failed_says_why_is_not_listed_again_and_can_be_tried_again(
    quiet_house: Application, ann: Client
) -> None:
    id = await put(ann, "broken.pdf", hostile.pdf_cut_off(), "application/pdf")

    first = await extracted(quiet_house, ann, id)
    second = await extracted(quiet_house, ann, id)

    assert first["state"] == second["state"] == "failed"
    assert first["problem"]
    assert await unindexed(quiet_house, ann) == []


async def test_one_without_a_reader_says_none(quiet_house: Application, ann: Client) -> None:
    id = await put(ann, "p.png", b"\x89PNG", "image/png")

    assert (await extracted(quiet_house, ann, id))["state"] == "none"


async def test_only_what_the_caller_can_read_in_their_team(
    quiet_house: Application, firm: Company, ann: Client
) -> None:
    team = await firm.add_team()
    ben, colleague, stranger = (
        await firm.join(),
        await firm.join(team=team),
        await (await found_company(quiet_house)).join(),
    )
    open_one, mine = await put(ann, "open.txt", b"x"), await put(ann, "mine.txt", b"x", visibility="private")
    shared = await put(ann, "shared.txt", b"x", visibility="private")
    await ann.post(f"/api/repo-obj/{shared}/share", {"user_id": ben.user_id})
    await ann.post(f"/api/repo-obj/{shared}/share", {"user_id": colleague.user_id})

    assert await unindexed(quiet_house, ann) == [open_one, mine, shared]
    assert await unindexed(quiet_house, ben) == [open_one, shared]
    assert await unindexed(quiet_house, colleague) == []
    assert await unindexed(quiet_house, stranger) == []
    with pytest.raises(AppError) as refused:
        await extracted(quiet_house, ben, mine)
    assert refused.value.code == "repository.missing"


async def test_rights(quiet_house: Application, firm: Company, ann: Client) -> None:
    id = await put(ann, "a.txt", b"x")
    viewer, other = await firm.join("viewer"), await firm.join("member", scope=["chat:use"])

    assert await unindexed(quiet_house, viewer) == [id]
    for person, name, arguments in (
        (viewer, "repo_extract_text", {"id": id}),
        (other, "repo_extract_text", {"id": id}),
        (other, "repo_list_unindexed", {}),
    ):
        with pytest.raises(AppError) as refused:
            await call(person, quiet_house, name, **arguments)
        assert refused.value.code == "access.permission_missing"


async def test_several_at_once_on_one_document_read_it_and_agree(quiet_house: Application, ann: Client) -> None:
    id = await put(ann, "a.txt", b"text")

    found = await asyncio.gather(*(extracted(quiet_house, ann, id) for _ in range(6)))

    assert [(one["state"], one["characters"]) for one in found] == [("done", 4)] * 6


async def test_a_step_does_not_wait_for_a_job_that_its_team_may_not_run(quiet_house: Application, ann: Client) -> None:
    id = await put(ann, "a.txt", b"text")

    found = await asyncio.wait_for(Kept("text").call(quiet_house, ann, "doc_text", object=id), 20)

    assert found["text"] == "text"


async def test_a_person_waits_for_the_job(house: Application, alice: Client) -> None:
    id = await put(alice, "a.txt", b"text")
    await run_as_owner(house.services.settings.database_url, "DELETE FROM object_texts WHERE object_id = $1", UUID(id))

    found = await call(alice, house, "doc_text", object=id)
    again = await call(alice, house, "repo_extract_text", id=id)

    assert (found["text"], found["characters"], found["truncated"]) == ("text", 4, False)
    assert (again["state"], again["version_id"]) == ("done", found["version_id"])


async def test_two_people_who_ask_for_a_missing_text_at_once_both_get_it(house: Application, alice: Client) -> None:
    id = await put(alice, "a.txt", b"text")
    await run_as_owner(house.services.settings.database_url, "DELETE FROM object_texts WHERE object_id = $1", UUID(id))

    found = await asyncio.gather(*(call(alice, house, "doc_text", object=id) for _ in range(5)))

    assert {one["text"] for one in found} == {"text"}


async def test_a_document_without_text_says_why(house: Application, alice: Client) -> None:
    broken = await put(alice, "broken.pdf", hostile.pdf_cut_off(), "application/pdf")
    picture = await put(alice, "p.png", b"\x89PNG", "image/png")

    for id in (broken, picture):
        with pytest.raises(AppError) as refused:
            await call(alice, house, "doc_text", object=id)
        assert refused.value.code == "doc.no_text"
        assert refused.value.message

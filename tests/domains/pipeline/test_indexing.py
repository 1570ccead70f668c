"""repo_list_unindexed, repo_extract_text and doc_text: what has no text yet, and that it gets one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atrium.boot.assemble import Application
from atrium.engine.extraction.service import TEXT_KIND
from atrium.engine.extraction.text_process import ENDINGS, TYPES, VAGUE, is_extractable
from atrium.engine.repository import trash
from atrium.engine.repository.text_rows import UNREAD
from atrium.kit.errors import AppError
from atrium.kit.postgres.database import compile_statement
from tests.domains.extraction import hostile
from tests.domains.pipeline.conftest import Kept, acting, call, put
from tests.postgres import blocks_read, fresh_database, run_as_owner
from tests.support import honest
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import left_to_tests, open_application, settings_for

# Objects of a team as they are once their texts were read: copies of one object, all with a text.
SEA = """
    WITH o AS (
      INSERT INTO objects (id, org_id, team_id, owner_id, key, visibility, version_id, size)
      SELECT gen_random_uuid(), org_id, team_id, $1, 'sea/' || n, 'team', gen_random_uuid(), 4 FROM objects, generate_series(1, 1000) n
       WHERE id = $2 RETURNING *
    ), v AS (
      INSERT INTO object_versions (id, org_id, object_id, number, sha256, size, etag, content_type, filename, created_by)
      SELECT o.version_id, o.org_id, o.id, 1, s.sha256, s.size, s.etag, s.content_type, s.filename, $1
        FROM o, object_versions s WHERE s.object_id = $2 RETURNING *
    )
    INSERT INTO object_texts (version_id, org_id, object_id, state) SELECT id, org_id, object_id, 'done' FROM v
"""


@pytest.fixture(scope="module")
async def quiet_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server that reads no text by itself, and none of whose jobs that read one ever begins."""
    async with fresh_database() as url:
        chosen = settings_for(url, data_dir=tmp_path_factory.mktemp("quiet"), extraction=False)
        async with open_application(chosen, domains=left_to_tests(TEXT_KIND)) as house:
            yield house


@pytest.fixture
async def firm(quiet_house: Application) -> Company:
    return await found_company(quiet_house)


@pytest.fixture
async def ann(firm: Company) -> Client:
    return await firm.join()


async def unindexed(house: Application, person: Client) -> list[str]:
    return list(await call(person, house, "repo_list_unindexed"))


async def quiet_rows(house: Application, person: Client) -> int:
    """How many objects of a person's team are noted as unread."""
    url = house.services.settings.database_url
    counted = await run_as_owner(url, "SELECT count(*) FROM unread_objects WHERE team_id = $1", UUID(person.team_id))
    return int(counted[0][0])


async def pages_touched(house: Application, person: Client) -> int:
    """Pages of the database that listing what a person's team has not read touches, with a plan that is made for any value."""
    text, names = compile_statement(UNREAD)
    org_id, team_id, user_id = (UUID(id) for id in (person.org_id, person.team_id, person.user_id))
    values = {
        "org_id": org_id, "team_id": team_id, "user_id": user_id, "principals": [user_id, team_id, org_id], "by_role": True,
        "org_wide": False, "most": 40,
    }  # fmt: skip
    return await blocks_read(house.services.settings.database_url, org_id, text, *(values[name] for name in names))


async def without_version(house: Application, person: Client, id: str, version_id: str) -> None:
    """Take a version away, as S3 does in a versioned bucket."""
    async with (await acting(house, person)).begin() as ctx:
        await trash.delete_version(ctx, UUID(id), UUID(version_id), keep=False)


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


async def test_a_version_that_is_current_again_is_listed_when_it_has_no_text(
    quiet_house: Application, ann: Client
) -> None:
    id = await put(ann, "a.txt", b"first")
    read = await extracted(quiet_house, ann, id)
    second = await ann.put("/api/repo/a.txt", b"second")
    third = await ann.put("/api/repo/a.txt", b"third")

    await without_version(quiet_house, ann, id, third["version"]["id"])
    unread = await unindexed(quiet_house, ann)
    await without_version(quiet_house, ann, id, second["version"]["id"])

    assert unread == [id]
    assert await unindexed(quiet_house, ann) == []
    assert (await extracted(quiet_house, ann, id))["version_id"] == read["version_id"]


async def test_one_that_becomes_a_picture_goes_and_comes_back_with_its_text(
    quiet_house: Application, ann: Client
) -> None:
    id = await put(ann, "a", b"first")
    await put(ann, "a", b"\x89PNG", "image/png", visibility=None)
    as_picture = await unindexed(quiet_house, ann)
    await put(ann, "a", b"third", visibility=None)

    assert as_picture == []
    assert await unindexed(quiet_house, ann) == [id]
    assert await quiet_rows(quiet_house, ann) == 1


async def test_where_texts_are_read_nothing_is_noted(house: Application, alice: Client) -> None:
    await put(alice, "a.txt", b"text")
    await put(alice, "a.txt", b"more", visibility=None)

    assert await quiet_rows(house, alice) == 0


@given(
    content_type=st.sampled_from(
        [*TYPES, *VAGUE, "text/plain", "text/x-odd", "image/png", "textual/x", "application/x-pdf"]
    ),
    parameter=st.sampled_from(["", "; charset=utf-8", " ;x=y"]),
    loud=st.booleans(),
    name=st.sampled_from(["", "plain", "a."]),
    ending=st.sampled_from([*ENDINGS, "PDF", "Docx", "png", "", "pdf.zip", "pdf "]),
    size=st.sampled_from([0, 1, 1 << 40]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_postgresql_and_the_readers_agree_on_what_has_text(
    quiet_house: Application, content_type: str, parameter: str, loud: bool, name: str, ending: str, size: int
) -> None:
    typed, filename = (content_type.upper() if loud else content_type) + parameter, name + ending

    [(answer,)] = await run_as_owner(
        quiet_house.services.settings.database_url, "SELECT has_text($1, $2, $3)", typed, filename, size
    )

    assert answer is is_extractable(typed, filename, size)


async def test_listing_reads_no_more_beside_many_objects_that_have_their_text(
    quiet_house: Application, ann: Client
) -> None:
    url = quiet_house.services.settings.database_url
    ids = [await put(ann, f"{number}.txt", b"text") for number in range(3)]
    few = await pages_touched(quiet_house, ann)
    await run_as_owner(url, SEA, UUID(ann.user_id), UUID(ids[0]))
    await run_as_owner(url, "VACUUM ANALYZE objects, object_versions, object_texts, unread_objects")

    assert await pages_touched(quiet_house, ann) <= few + 20
    assert await unindexed(quiet_house, ann) == ids


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

    found = await asyncio.wait_for(Kept("text").call(quiet_house, ann, "doc_text", object=id), PATIENCE)

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

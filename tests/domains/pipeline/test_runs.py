"""process-upload and index-documents as runs: whole, in parts after each step has failed, and at a team that may run one job at once."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.engine.extraction.service import TEXT_KIND
from tests.domains.pipeline.conftest import FIELDS, SCHEMA, Reader, put, read_body
from tests.domains.workflows.engine import Engine, Starter
from tests.postgres import fresh_database
from tests.support import honest
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import left_to_tests, open_application, settings_for
from tests.support.spoken_house import reserved, used

FORM = "# Invoice {{ number }}\n\nTotal {{ total }}\n"
TOOL_OF = {
    "text": "doc_text",
    "fields": "doc_extract_fields",
    "form": "doc_render",
    "translate_form": "doc_translate",
}
# What a turn of the model costs here.
TURN = 30


@pytest.fixture
async def starter(house: Application, company: Company) -> Starter:
    return Starter(Engine(house), company, await company.join("admin"))


async def run(starter: Starter, slug: str, given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    id = await starter.start(slug, given, **more)
    async with starter.engine.working():
        return await starter.ended(id)


async def uploaded(person: Client) -> dict[str, Any]:
    """The input of a run over a PDF."""
    id = await put(person, "in/bill.pdf", honest.pdf(1), "application/pdf")
    return {"object_id": id, "schema": SCHEMA, "template": FORM, "locales": ["es", "nl"]}


async def documents(person: Client) -> dict[str, dict[str, Any]]:
    """What was made, by key."""
    found = (await person.get("/api/repo", prefix="in/bill.pdf."))["items"]
    return {one["key"].removeprefix("in/bill.pdf."): one for one in found}


async def test_an_upload_becomes_fields_a_form_and_its_translations(starter: Starter, reader: Reader) -> None:
    person = starter.client
    given = await uploaded(person)

    ended = await run(starter, "process-upload", given)

    assert ended["state"] == "succeeded", ended["error"]
    made = await documents(person)
    assert sorted(made) == ["fields.json", "form.md", "form.md.es.md", "form.md.nl.md"]
    assert json.loads(await read_body(person, made["fields.json"]["id"])) == FIELDS
    assert await read_body(person, made["form.md"]["id"]) == "# Invoice A-17\n\nTotal 12.5\n"
    assert await read_body(person, made["form.md.es.md"]["id"]) == "# INVOICE A-17\n\nTOTAL 12.5\n"
    steps = {step["name"]: step for step in ended["steps"]}
    assert steps["fields"]["usage"]["ai.tokens.total"] == TURN
    assert steps["form"]["usage"].keys() <= {"storage.bytes"}
    assert ((await used(person))["ai.tokens.total"], await reserved(person)) == (3 * TURN, 0)
    for key, step, source in (
        ("fields.json", "fields", given["object_id"]),
        ("form.md", "form", given["object_id"]),
        ("form.md.es.md", "translate_form", made["form.md"]["id"]),
    ):
        (thread,) = (await person.get(f"/api/repo-obj/{made[key]['id']}/derivations"))["items"]
        assert (thread["run_id"], thread["step"], thread["source_id"]) == (ended["id"], step, source)
    processing = await person.get(f"/api/repo-obj/{given['object_id']}/processing")
    assert ended["id"] in json.dumps(processing["runs"])
    assert {one["object_id"] for one in processing["derived"]} == {made["fields.json"]["id"], made["form.md"]["id"]}


async def test_a_placeholder_is_kept_in_every_language_it_is_translated_to(starter: Starter, reader: Reader) -> None:
    template = "Dear {% raw %}{name}{% endraw %}, invoice {{ number }} is due."

    ended = await run(starter, "process-upload", await uploaded(starter.client) | {"template": template})

    assert ended["state"] == "succeeded", ended["error"]
    made = await documents(starter.client)
    assert await read_body(starter.client, made["form.md"]["id"]) == "Dear {name}, invoice A-17 is due."
    for locale in ("es", "nl"):
        text = await read_body(starter.client, made[f"form.md.{locale}.md"]["id"])
        assert text == "DEAR {name}, INVOICE A-17 IS DUE."


async def test_without_a_template_the_source_is_translated(starter: Starter, reader: Reader) -> None:
    given = await uploaded(starter.client) | {"template": ""}

    ended = await run(starter, "process-upload", given)

    assert ended["state"] == "succeeded", ended["error"]
    made = await documents(starter.client)
    assert sorted(made) == ["es.md", "fields.json", "nl.md"]
    assert honest.MARKER.upper() in await read_body(starter.client, made["es.md"]["id"])


@pytest.mark.parametrize("step", TOOL_OF)
async def test_after_a_step_has_failed_nothing_before_it_is_done_or_paid_again(
    starter: Starter, reader: Reader, step: str
) -> None:
    person = starter.client
    given = await uploaded(person)
    await person.post(f"/api/tools/{TOOL_OF[step]}", {"enabled": False})
    failed = await run(starter, "process-upload", given)
    before = await documents(person)
    await person.post(f"/api/tools/{TOOL_OF[step]}", {"enabled": True})

    ended = await run(starter, "process-upload", resume={"run_id": failed["id"], "step": step})

    assert (failed["state"], failed["error"]["step"]) == ("failed", step)
    assert ended["state"] == "succeeded", ended["error"]
    after = await documents(person)
    assert sorted(after) == ["fields.json", "form.md", "form.md.es.md", "form.md.nl.md"]
    assert {one["version"]["number"] for one in after.values()} == {1}
    assert {key: after[key]["version"]["id"] for key in before} == {
        key: one["version"]["id"] for key, one in before.items()
    }
    assert ((await used(person))["ai.tokens.total"], await reserved(person)) == (3 * TURN, 0)
    reused = {one["name"] for one in ended["steps"] if one["reused_from"]}
    assert reused == set(list(TOOL_OF)[: list(TOOL_OF).index(step)]) | (
        {"has_form"} if step in ("form", "translate_form") else set()
    )


async def test_a_reply_that_does_not_conform_is_asked_for_once_more(starter: Starter, reader: Reader) -> None:
    reader.says = ["not JSON"]

    ended = await run(starter, "process-upload", await uploaded(starter.client) | {"locales": []})

    assert ended["state"] == "succeeded", ended["error"]
    fields = next(step for step in ended["steps"] if step["name"] == "fields")
    assert (fields["attempt"], fields["usage"]["ai.tokens.total"]) == (2, 2 * TURN)
    assert (await used(starter.client))["ai.tokens.total"] == 2 * TURN


async def test_two_replies_that_do_not_conform_fail_the_run_with_their_places(starter: Starter, reader: Reader) -> None:
    reader.says = ['{"number": 1}', '{"number": 7, "total": "much"}']
    given = await uploaded(starter.client) | {"locales": []}

    failed = await run(starter, "process-upload", given)
    ended = await run(starter, "process-upload", resume={"run_id": failed["id"], "step": "fields"})

    assert (failed["state"], failed["error"]["code"], failed["error"]["step"]) == (
        "failed",
        "doc.fields_refused",
        "fields",
    )
    assert "/number" in failed["error"]["message"]
    assert "/total" in failed["error"]["message"]
    assert ended["state"] == "succeeded", ended["error"]
    assert (await used(starter.client))["ai.tokens.total"] == 3 * TURN


async def test_what_is_no_language_fails_the_run_and_leaves_the_form(starter: Starter, reader: Reader) -> None:
    person = starter.client
    given = await uploaded(person) | {"locales": ["es", "no language", "nl"]}

    failed = await run(starter, "process-upload", given)

    assert (failed["state"], failed["error"]["code"]) == ("failed", "doc.bad_locale")
    assert "form.md" in await documents(person)


async def test_a_persons_document_in_the_way_fails_the_step_before_a_token_is_spent(
    starter: Starter, reader: Reader
) -> None:
    person = starter.client
    given = await uploaded(person)
    await put(person, "in/bill.pdf.fields.json", b"{}", "application/json")

    failed = await run(starter, "process-upload", given)

    assert (failed["error"]["code"], failed["error"]["step"]) == ("doc.key_taken", "fields")
    assert (await used(person))["ai.requests"] == 0
    assert await read_body(person, (await documents(person))["fields.json"]["id"]) == "{}"


@pytest.fixture(scope="module")
async def unread_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """A server that reads no text when a file is written."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("unread"), extraction=False)
        async with open_application(settings, domains=left_to_tests(TEXT_KIND)) as house:
            yield house


async def test_unread_documents_are_read_also_where_a_team_may_run_one_job_at_once(unread_house: Application) -> None:
    company = await found_company(unread_house)
    starter = Starter(Engine(unread_house), company, await company.join("admin"))
    operator = await company.join("owner", operator=True)
    await operator.post("/api/quota", {"dimension": "jobs.concurrency", "limit": 1, "window": "total"})
    ids = [await put(starter.client, f"{number}.txt", b"text") for number in range(3)]

    first = await run(starter, "index-documents")
    again = await run(starter, "index-documents")

    assert first["state"] == again["state"] == "succeeded"
    results = first["output"]["results"]
    assert [(one["result"]["object_id"], one["result"]["state"]) for one in results] == [(id, "done") for id in ids]
    assert again["output"]["results"] == []
    texts = [(await starter.client.get(f"/api/repo-obj/{UUID(id)}"))["text"] for id in ids]
    assert {one["text"] for one in texts} == {"text"}

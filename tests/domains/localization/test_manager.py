"""Translate, review, serve: what people do with messages, and what nobody can."""

import asyncio
from uuid import UUID

import pytest

from atrium.product.localization import chores
from tests.domains.localization.conftest import ENGLISH, SPANISH, Desk, write_catalogs
from tests.support.client import Client
from tests.support.patience import PATIENCE
from tests.support.people import found_company
from tests.support.servers import open_application


async def test_the_catalogs_on_disk_are_there_from_the_first_look(desk: Desk) -> None:
    found = await desk.coverage()

    assert (found["total"], found["approved"], found["missing"], found["pending"]) == (5, 3, 2, 0)
    assert found["total"] == sum(found[name] for name in ("approved", "machine", "missing", "stale"))
    assert [one["ns"] for one in found["namespaces"]] == ["menu", "words"]


async def test_what_is_served_before_and_after_the_first_look_is_the_same(desk: Desk) -> None:
    before = await Client(desk.house.app).get("/api/i18n/catalog", locale="es")

    await desk.coverage()

    after = await Client(desk.house.app).get("/api/i18n/catalog", locale="es")
    assert (before.body, before.headers["etag"]) == (after.body, after.headers["etag"])
    assert after["messages"]["menu.board"] == "Open the board"


async def test_a_message_says_what_a_translator_needs(desk: Desk) -> None:
    (desk.shipped / "words.about.json").write_text(
        '{"files": {"about": "Above the list", "max_length": 90, "screens": ["/files"]}}'
    )

    found = await desk.message("words.files", by=desk.translator)

    assert (found["about"], found["max_length"], found["screens"]) == ("Above the list", 90, ["/files"])
    assert found["arguments"] == {"count": "plural", "folder": ""}
    assert (found["status"], found["text"], found["pending"], found["revision"]) == ("missing", None, None, 1)


async def test_a_proposal_is_served_only_once_it_is_approved(desk: Desk) -> None:
    submitted = await desk.submit("words.greeting", "Buenas, {name}")
    between = await desk.served()

    approved = await desk.review("words.greeting", comment="good")

    assert (submitted["status"], submitted["pending"]["text"]) == ("approved", "Buenas, {name}")
    assert submitted["pending"]["by"] == desk.translator.user_id
    assert between["words.greeting"] == "Hola, {name}"
    assert (approved["text"], approved["pending"], approved["comment"]) == ("Buenas, {name}", None, "good")
    assert (await desk.served())["words.greeting"] == "Buenas, {name}"
    assert await desk.history("words.greeting") == [("Hola, {name}", "approved", UUID(desk.reviewer.user_id))]


async def test_an_approval_is_served_by_another_server_at_once(desk: Desk) -> None:
    async with open_application(desk.house.services.settings) as other:
        before = await Client(other.app).get("/api/i18n/catalog", locale="es")
        await desk.approve("words.save", "Salvar")

        after = await Client(other.app).get("/api/i18n/catalog", locale="es")

    assert (before["messages"]["words.save"], after["messages"]["words.save"]) == ("Guardar", "Salvar")


async def test_what_is_sent_back_goes_with_its_reason_and_stays_in_the_history(desk: Desk) -> None:
    await desk.submit("words.save", "Salvar")

    answer = await desk.review("words.save", "send_back", comment="we say guardar")

    assert (answer["pending"], answer["comment"], answer["text"]) == (None, "we say guardar", "Guardar")
    assert await desk.history("words.save") == [("Salvar", "pending", UUID(desk.reviewer.user_id))]
    assert (await desk.review("words.save")).code == "localization.nothing_to_review"


async def test_a_text_out_of_the_history_is_proposed_and_served_again(desk: Desk) -> None:
    await desk.approve("words.save", "Almacenar")
    page = await desk.translator.get("/api/l10n/messages", locale="es", q="words.save", history=True)

    [former] = page["items"][0]["history"]
    assert (former["text"], former["was"], former["replaced_by"]) == ("Guardar", "approved", desk.reviewer.user_id)
    await desk.approve("words.save", former["text"])

    assert (await desk.served())["words.save"] == "Guardar"
    [message] = (await desk.ada.get("/api/l10n/messages", locale="es", q="words.save", history=True))["items"]
    assert [one["text"] for one in message["history"]] == ["Almacenar", "Guardar"]
    assert (await desk.message("words.save"))["history"] is None


async def test_a_page_with_history_is_short_and_goes_on(desk: Desk) -> None:
    await desk.ada.get("/api/l10n/coverage")
    write_catalogs(desk.shipped, en={"many": {f"n{number:02}": "x" for number in range(15)}})
    await desk.imported()

    first = await desk.ada.get("/api/l10n/messages", locale="es", ns="many", history=True, limit=200)
    rest = await desk.ada.get(
        "/api/l10n/messages", locale="es", ns="many", history=True, limit=200, cursor=first["next_cursor"]
    )

    assert [len(first["items"]), len(rest["items"]), rest["next_cursor"]] == [10, 5, None]


async def test_no_one_decides_on_their_own_work_not_even_an_operator(desk: Desk) -> None:
    await desk.submit("words.save", "Salvar", by=desk.ada)

    for decision in ("approve", "send_back"):
        assert (await desk.review("words.save", decision, by=desk.ada)).code == "localization.own_work"
    assert (await desk.review("words.save")).status == 200


async def test_a_source_changes_on_disk_alone(desk: Desk) -> None:
    assert (await desk.submit("words.save", "Store", locale="en", by=desk.ada)).code == "localization.source"


async def test_a_proposal_for_an_older_revision_is_refused(desk: Desk) -> None:
    found = await desk.message("words.save")
    path, tag = f"/api/l10n/messages/{found['id']}", {"if-match": f'"{found["revision"]}"'}
    first = await desk.translator.put(path, {"text": "Salvar"}, headers=tag)

    second = await desk.ada.put(path, {"text": "Almacenar"}, headers=tag)

    assert (first.status, second.status) == (200, 412)
    assert first.headers["etag"] == second.headers["etag"]


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [
        ("words.greeting", "Hola", "arguments"),
        ("words.greeting", "Hola {nombre}", "arguments"),
        ("words.greeting", "Hola {name} {name, number}", "types"),
        ("words.greeting", "l'{name}", "syntax"),
        ("words.greeting", "Hola {name", "syntax"),
        ("words.greeting", "<i>Hola {name}</i>", "tags"),
        ("words.greeting", "   ", "empty"),
        ("words.greeting", "Hola {name}\u0007", "character"),
        ("words.files", "{count, plural, other {# archivos}} en {folder}", "tags"),
        ("words.files", "{count, plural, one {uno}} <b>{folder}</b>", "syntax"),
    ],
)
async def test_a_text_that_would_not_work_is_refused_and_named(desk: Desk, key: str, text: str, code: str) -> None:
    answer = await desk.submit(key, text)

    assert (answer.status, answer.code) == (400, "localization.text_refused")
    assert code in [one["code"] for one in answer["errors"]]
    assert (await desk.message(key))["pending"] is None


async def test_warnings_travel_with_the_proposal(desk: Desk) -> None:
    await desk.ada.post("/api/glossary", {"target": "es", "term": "board", "translation": "tablero"})

    same = await desk.submit("menu.board", "Open the board ")

    assert {one["code"] for one in same["pending"]["checks"]} == {"spaces", "glossary"}
    assert (await desk.submit("menu.board", "Abrir el tablero"))["pending"]["checks"] == []


async def test_messages_are_filtered_and_paged(desk: Desk) -> None:
    await desk.submit("words.files", "{count, plural, one {# archivo} other {# archivos}} en <b>{folder}</b>")

    async def keys(**query: str) -> list[str]:
        page = await desk.translator.get("/api/l10n/messages", headers=None, locale="es", **query)
        return [one["key"] for one in page["items"]]

    assert await keys() == ["menu.board", "menu.open", "words.files", "words.greeting", "words.save"]
    assert await keys(status="missing") == ["menu.board", "words.files"]
    assert await keys(status="pending") == ["words.files"]
    assert await keys(ns="menu") == ["menu.board", "menu.open"]
    assert await keys(q="ARCHIVOS") == ["words.files"]
    assert await keys(q="guard") == ["words.save"]
    assert await keys(q="%") == []
    first = await desk.translator.get("/api/l10n/messages", locale="es", limit=3)
    rest = await desk.translator.get("/api/l10n/messages", locale="es", limit=3, cursor=first["next_cursor"])
    assert [one["key"] for one in rest["items"]] == ["words.greeting", "words.save"]
    assert (await desk.translator.get("/api/l10n/messages")).status == 400
    assert (await desk.translator.get("/api/l10n/messages", locale="fr")).code == "localization.locale_missing"


async def test_roles_do_their_part_and_no_other(desk: Desk) -> None:
    found = await desk.message("words.save")
    member = await desk.company.join("admin")

    assert (await desk.reviewer.put(f"/api/l10n/messages/{found['id']}", {"text": "x"})).status == 403
    assert (await desk.translator.post(f"/api/l10n/review/{found['id']}", {"decision": "approve"})).status == 403
    assert (await member.get("/api/l10n/coverage")).status == 403
    for path in ("import", "export", "draft", "discard"):
        assert (await desk.translator.post(f"/api/l10n/{path}", {"locale": "es"})).status == 403


async def test_another_company_reaches_nothing(desk: Desk) -> None:
    found = await desk.message("words.save")
    other = await found_company(desk.house)
    stranger = await other.join("owner", operator=True)

    for answer in (
        await stranger.get("/api/l10n/coverage"),
        await stranger.get("/api/l10n/messages", locale="es"),
        await stranger.put(f"/api/l10n/messages/{found['id']}", {"text": "x"}),
        await stranger.post(f"/api/l10n/review/{found['id']}", {"decision": "approve"}),
        await stranger.post("/api/l10n/export", {"locale": "es"}),
        await stranger.post("/api/l10n/discard", {"locale": "es"}),
        await stranger.post("/api/l10n/draft", {"locale": "es"}),
        await stranger.post("/api/l10n/import", {}),
    ):
        assert (answer.status, answer.code) == (403, "localization.not_yours")


async def test_fifty_reviewers_of_one_text_have_one_winner(desk: Desk) -> None:
    await desk.submit("words.save", "Salvar")
    found = await desk.message("words.save")
    people = [await desk.company.join("reviewer") for _ in range(50)]

    answers = await asyncio.gather(
        *(one.post(f"/api/l10n/review/{found['id']}", {"decision": "approve"}) for one in people)
    )

    assert sorted(answer.status for answer in answers) == [200] + [409] * 49
    assert (await desk.served())["words.save"] == "Salvar"


async def test_fifty_proposals_at_once_leave_one_and_the_others_in_the_history(desk: Desk) -> None:
    found = await desk.message("words.save")
    people = [await desk.company.join("translator") for _ in range(50)]

    answers = await asyncio.gather(
        *(one.put(f"/api/l10n/messages/{found['id']}", {"text": f"Salvar {n}"}) for n, one in enumerate(people))
    )

    assert {answer.status for answer in answers} == {200}
    left = (await desk.message("words.save"))["pending"]["text"]
    assert {text for text, _, _ in await desk.history("words.save")} | {left} == {f"Salvar {n}" for n in range(50)}
    assert (await desk.coverage())["pending"] == 1


async def test_of_fifty_proposals_for_one_revision_one_is_taken(desk: Desk) -> None:
    found = await desk.message("words.save")
    tag = {"if-match": f'"{found["revision"]}"'}
    people = [await desk.company.join("translator") for _ in range(50)]

    answers = await asyncio.gather(
        *(
            one.put(f"/api/l10n/messages/{found['id']}", {"text": f"Salvar {n}"}, headers=tag)
            for n, one in enumerate(people)
        )
    )

    assert sorted(answer.status for answer in answers) == [200] + [412] * 49
    [taken] = [n for n, answer in enumerate(answers) if answer.status == 200]
    assert (await desk.message("words.save"))["pending"]["text"] == f"Salvar {taken}"


async def test_people_decide_while_catalogs_come_in_and_no_one_waits_in_a_circle(desk: Desk) -> None:
    many = {f"m{n:04}": f"Text {n}" for n in range(2_000)}
    write_catalogs(desk.shipped, en={"many": many}, es={"many": many})
    await desk.imported()
    write_catalogs(desk.shipped, es={"many": {name: f"Disco {name}" for name in many}})
    started = await desk.ada.post("/api/l10n/import", {})

    async def decide(n: int) -> list[int]:
        key = f"many.m{n * 37:04}"
        return [(await desk.submit(key, f"Persona {n}")).status, (await desk.review(key)).status]

    answers = [status for pair in await asyncio.gather(*map(decide, range(50))) for status in pair]
    report = (await desk.ended(started["job"]))["result"]["locales"]["es"]

    # A file's text that comes between a proposal and its review becomes the proposal; there is nothing else to lose by it.
    assert set(answers) <= {200, 409}
    assert report["changed"] + report["kept"] == 2_000
    served = await desk.served()
    for n in range(50):
        kept = {text for text, _, _ in await desk.history(f"many.m{n * 37:04}")}
        assert f"Persona {n}" in kept | {served[f"many.m{n * 37:04}"]}


async def test_people_decide_while_a_start_takes_catalogs_in(desk: Desk) -> None:
    many = {f"m{n:04}": f"Text {n}" for n in range(3_000)}
    write_catalogs(desk.shipped, en={"many": many}, es={"many": many})
    await desk.imported()
    write_catalogs(desk.shipped, es={"many": {name: f"Disco {name}" for name in many}})

    async def decide(n: int) -> list[int]:
        key = f"many.m{2_999 - n * 37:04}"
        return [(await desk.submit(key, f"Persona {n}")).status, (await desk.review(key)).status]

    async with open_application(desk.house.services.settings) as other, asyncio.timeout(PATIENCE):
        started = asyncio.create_task(chores.look_at_disk(other.services))
        answers = [status for pair in await asyncio.gather(*map(decide, range(50))) for status in pair]
        taken = await started

    assert set(answers) <= {200, 409}
    assert taken == 2
    assert (await desk.served())["many.m0001"] == "Disco m0001"


async def test_a_start_leaves_catalogs_to_the_import_that_runs_and_looks_again(idle_desk: Desk) -> None:
    await idle_desk.coverage()
    write_catalogs(idle_desk.shipped, es={"words": SPANISH["words"] | {"save": "Grabar"}})
    job = (await idle_desk.ada.post("/api/l10n/import", {}))["job"]

    async with open_application(idle_desk.house.services.settings) as other:
        await chores.look_at_disk(other.services)
        before = (await idle_desk.served())["words.save"]
        await idle_desk.ada.post(f"/api/jobs/{job}/cancel")
        await chores.look_at_disk(other.services)

    assert (before, (await idle_desk.served())["words.save"]) == ("Guardar", "Grabar")


async def test_what_was_approved_for_another_source_is_stale_and_served_while_it_fits(desk: Desk) -> None:
    await desk.approve("words.greeting", "Buenas, {name}")
    changed = ENGLISH | {"words": ENGLISH["words"] | {"greeting": "Good day {name}", "save": "Save {what}"}}
    write_catalogs(desk.shipped, en=changed)

    report = await desk.imported()

    assert report["locales"]["es"]["stale"] == 2
    assert ((await desk.message("words.greeting"))["status"], (await desk.message("words.save"))["status"]) == (
        "stale",
        "stale",
    )
    served = await desk.served()
    assert (served["words.greeting"], served["words.save"]) == ("Buenas, {name}", "Save {what}")
    assert (await desk.review("words.save")).code == "localization.text_refused"
    assert (await desk.review("words.greeting"))["status"] == "approved"


async def test_every_step_is_audited(desk: Desk) -> None:
    await desk.submit("words.save", "Salvar")
    await desk.review("words.save", "send_back", comment="no")
    await desk.approve("words.save", "Almacenar")
    await desk.ada.post("/api/l10n/export", {"locale": "es"})
    await desk.ada.post("/api/l10n/discard", {"locale": "es"})

    kinds = [one["kind"] for one in (await desk.ada.get("/api/audit", limit=200))["items"]]

    for step in ("submitted", "sent_back", "approved", "exported", "discarded"):
        assert f"localization.{step}" in kinds


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("SAVE", ["words.save"]),
        ("gUaRd", ["words.save"]),
        ("menu.", ["menu.board", "menu.open"]),
        ("ÑANDÚ", ["menu.board"]),
        ("100%_\\", ["menu.open"]),
        ("a%e", []),
        ("saveguardar", []),
    ],
)
async def test_a_search_finds_keys_sources_texts_and_proposals_in_any_case(
    desk: Desk, part: str, found: list[str]
) -> None:
    await desk.submit("menu.board", "El ñandú")
    await desk.approve("menu.open", "Abrir 100%_\\")

    page = await desk.ada.get("/api/l10n/messages", locale="es", q=part)

    assert [one["key"] for one in page["items"]] == found

"""POST /api/translate/catalog: messages of a program, placeholders whole, problems by key, nothing written."""

from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from tests.domains.translation.conftest import Translator
from tests.domains.translation.oracles import broken_messages
from tests.support.client import Client
from tests.support.spoken_house import used

MESSAGES = {
    "a.files": "{n, plural, one {# file} other {# files}} in <b>{place}</b>",
    "a.save": "Save",
    "b.save": "Save",
    "a.odd": "it''s {name",
    "a.bad": "keep {this} whole",
    "a.signs": "{n} / {m}",
}


async def test_messages_come_back_in_the_forms_of_the_target(ada: Client, translator: Translator) -> None:
    translator.reply = lambda sent: "broken" if "keep" in sent else sent.upper()

    reply = await ada.post("/api/translate/catalog", {"target": "ru", "messages": MESSAGES})

    assert reply.status == 200, reply.body
    assert reply["messages"] == {
        "a.files": "{n, plural, one {# FILE} few {# FILES} many {# FILES} other {# FILES}} IN <b>{place}</b>",
        "a.save": "SAVE",
        "b.save": "SAVE",
        "a.signs": "{n} / {m}",
    }
    assert reply["problems"] == {
        "a.odd": "a , or } is missing (character 12)",
        "a.bad": "placeholders were lost, doubled or changed",
    }
    # What reads alike is asked for once; a plural form is told.
    assert translator.sent.count("Save") == 1
    assert "plural form few" in translator.asked[0]["notes"].values()
    assert reply["usage"]["total_tokens"] == 60
    assert (await used(ada))["ai.requests"] == 2
    assert (await ada.get("/api/translate"))["items"] == []


async def test_the_instances_own_catalog_by_namespace(alice: Client) -> None:
    own = catalogs.read_locale(shipped_path("locales"), "en")

    reply = await alice.post("/api/translate/catalog", {"target": "is", "namespace": "chat"})
    missing = await alice.post("/api/translate/catalog", {"target": "is", "namespace": "nothing"})
    both = await alice.post("/api/translate/catalog", {"target": "is", "namespace": "chat", "messages": {"a": "b"}})

    assert reply.status == 200, reply.body
    assert reply["problems"] == {}
    assert reply["messages"].keys() == {key for key in own if key.startswith("chat.")}
    assert (missing.status, both.status) == (404, 400)
    assert broken_messages([(own[key], text) for key, text in reply["messages"].items()]) == []


async def test_the_whole_catalog_without_a_model(alice: Client) -> None:
    own = catalogs.read_locale(shipped_path("locales"), "en")

    reply = await alice.post("/api/translate/catalog", {"target": "es"})

    assert (reply.status, reply["simulated"], reply["problems"]) == (200, True, {})
    assert broken_messages([(own[key], text) for key, text in reply["messages"].items()]) == []


async def test_five_thousand_messages_and_no_more(alice: Client) -> None:
    many = {f"a.{number}": f"Message {number} for {{name}}" for number in range(5_000)}

    reply = await alice.post("/api/translate/catalog", {"target": "es", "messages": many})
    more = await alice.post("/api/translate/catalog", {"target": "es", "messages": many | {"b.b": "one more"}})

    assert (reply.status, len(reply["messages"]), more.status) == (200, 5_000, 400)

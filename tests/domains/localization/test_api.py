"""Catalogs: complete in every locale, and resolved through the fallback chain."""

import json
from pathlib import Path

import pytest

from atrium.ground.tenancy import locales
from atrium.kit.files.paths import shipped_path
from atrium.kit.text import catalogs
from atrium.product.localization import service
from atrium.seams.context import ANONYMOUS, Operation
from tests.support.client import Client
from tests.support.servers import open_application, settings_for


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Catalogs in which every locale lacks something."""
    for locale, messages in {
        "en": {"one": "one", "two": "two", "three": "three"},
        "es": {"one": "uno"},
        "es-MX": {"two": "dos, pues"},
        "nl": {"three": "drie"},
    }.items():
        (tmp_path / locale).mkdir()
        (tmp_path / locale / "words.json").write_text(json.dumps(messages))
    monkeypatch.setattr(locales, "shipped_path", lambda _: tmp_path)
    return tmp_path


async def test_anybody_reads_the_catalog_of_a_locale(nobody: Client) -> None:
    answer = await nobody.get("/api/i18n/catalog", locale="is")

    assert (answer.status, answer["locale"]) == (200, "is")
    assert answer["messages"]["signin.title"] == "Innskráning"


async def test_only_the_namespaces_asked_for_are_sent(nobody: Client) -> None:
    everything = (await nobody.get("/api/i18n/catalog", locale="is"))["messages"]

    some = (await nobody.get("/api/i18n/catalog", locale="is", namespaces="signin,ui,nothing"))["messages"]

    assert some == {key: text for key, text in everything.items() if key.startswith(("signin.", "ui."))}
    assert (await nobody.get("/api/i18n/catalog", locale="is", namespaces="nothing"))["messages"] == {}


@pytest.mark.parametrize("namespaces", ["", ",", "ui,", "ui signin", "../ui", "x" * 1001])
async def test_what_is_no_list_of_namespaces_is_refused(nobody: Client, namespaces: str) -> None:
    assert (await nobody.get("/api/i18n/catalog", namespaces=namespaces)).status == 400


async def test_the_whole_catalog_is_put_into_bytes_once(database_url: str, small: Path) -> None:
    async with open_application(settings_for(database_url)) as house:
        first, second = [
            await service.read_catalog(Operation(who=ANONYMOUS, services=house.services), "es") for _ in range(2)
        ]

    assert first.reply_bytes is second.reply_bytes
    assert json.loads(first.reply_bytes) == {"locale": "es", "messages": first.messages, "tag": first.tag}


async def test_without_a_locale_the_default_answers(nobody: Client) -> None:
    assert (await nobody.get("/api/i18n/catalog"))["locale"] == "en"


async def test_gaps_are_filled_from_the_language_then_english(database_url: str, small: Path) -> None:
    async with open_application(settings_for(database_url)) as house:
        answer = await Client(house.app).get("/api/i18n/catalog", locale="es-MX")

    assert (answer["locale"], answer["messages"]) == (
        "es-MX",
        {"words.one": "uno", "words.two": "dos, pues", "words.three": "three"},
    )


async def test_gaps_are_filled_from_the_instances_default_before_english(database_url: str, small: Path) -> None:
    async with open_application(settings_for(database_url, default_locale="nl")) as house:
        answer = await Client(house.app).get("/api/i18n/catalog", locale="es")

    assert answer["messages"] == {"words.one": "uno", "words.two": "two", "words.three": "drie"}


async def test_an_unknown_locale_falls_back_and_says_to_what(nobody: Client, small: Path) -> None:
    answer = await nobody.get("/api/i18n/catalog", locale="fr-CA")

    assert (answer.status, answer["locale"]) == (200, "en")


@pytest.mark.parametrize("locale", ["../../etc", "EN", "e", "en/../es", "x" * 40])
async def test_what_is_no_locale_is_refused(nobody: Client, locale: str) -> None:
    assert (await nobody.get("/api/i18n/catalog", locale=locale)).status == 400


async def test_the_instance_offers_exactly_the_locales_that_ship(nobody: Client) -> None:
    offered = (await nobody.get("/api/config"))["localization"]["locales"]

    assert offered == catalogs.available(shipped_path("locales"))


async def test_a_catalog_that_the_reader_has_is_not_sent_again(nobody: Client) -> None:
    first = await nobody.get("/api/i18n/catalog", locale="is")

    again = await nobody.get("/api/i18n/catalog", locale="is", headers={"if-none-match": first.headers["etag"]})

    assert (again.status, again.raw) == (304, b"")


@pytest.mark.parametrize(
    ("locale", "chain"),
    [
        ("es-MX", ["es-MX", "es-419", "es", "en"]),
        ("pt-MZ", ["pt-MZ", "pt-PT", "pt", "en"]),
        ("zh-Hant-HK", ["zh-Hant-HK", "zh-Hant", "en"]),
        ("sr-Latn", ["sr-Latn", "en"]),
        ("en-GB", ["en-GB", "en-001", "en"]),
        ("nb", ["nb", "no", "en"]),
    ],
)
def test_parents_are_those_of_cldr_and_never_in_another_script(locale: str, chain: list[str]) -> None:
    assert catalogs.fallback_chain(locale, "en") == chain


@pytest.mark.parametrize("locale", ["es", "is", "nl"])
def test_every_locale_has_every_message(locale: str) -> None:
    root = shipped_path("locales")

    assert catalogs.read_locale(root, locale).keys() == catalogs.read_locale(root, "en").keys()

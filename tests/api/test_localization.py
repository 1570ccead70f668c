"""Catalogs: complete in every locale, and resolved through the fallback chain."""

import json
from pathlib import Path

import pytest

from atrium.ground.tenancy.model import LOCALES
from atrium.kit import catalogs
from atrium.kit.paths import shipped
from atrium.product.localization import service
from tests.client import Client
from tests.servers import open_application, settings_for


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
    monkeypatch.setattr(service, "shipped", lambda _: tmp_path)
    service._merged.cache_clear()
    return tmp_path


@pytest.fixture(autouse=True)
def forget() -> None:
    service._merged.cache_clear()


async def test_anybody_reads_the_catalog_of_a_locale(nobody: Client) -> None:
    answer = await nobody.get("/api/i18n/catalog", locale="is")

    assert (answer.status, answer["locale"]) == (200, "is")
    assert answer["messages"]["signin.title"] == "Innskráning"


async def test_only_the_namespaces_asked_for_are_sent(nobody: Client) -> None:
    everything = (await nobody.get("/api/i18n/catalog", locale="is"))["messages"]

    some = (await nobody.get("/api/i18n/catalog", locale="is", namespaces="signin,ui,nothing"))["messages"]

    assert some == {key: text for key, text in everything.items() if key.startswith(("signin.", "ui."))}


@pytest.mark.parametrize("namespaces", ["", ",", "ui,", "ui signin", "../ui", "x" * 1001])
async def test_what_is_no_list_of_namespaces_is_refused(nobody: Client, namespaces: str) -> None:
    assert (await nobody.get("/api/i18n/catalog", namespaces=namespaces)).status == 400


async def test_without_a_locale_the_default_answers(nobody: Client) -> None:
    assert (await nobody.get("/api/i18n/catalog"))["locale"] == "en"


async def test_gaps_are_filled_from_the_language_then_english(nobody: Client, small: Path) -> None:
    answer = await nobody.get("/api/i18n/catalog", locale="es-MX")

    assert answer.body == {
        "locale": "es-MX",
        "messages": {"words.one": "uno", "words.two": "dos, pues", "words.three": "three"},
    }


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


def test_the_instance_offers_exactly_the_locales_that_ship() -> None:
    assert sorted(LOCALES) == catalogs.available(shipped("locales"))


@pytest.mark.parametrize("locale", ["es", "is", "nl"])
def test_every_locale_has_every_message(locale: str) -> None:
    root = shipped("locales")

    assert catalogs.read_locale(root, locale).keys() == catalogs.read_locale(root, "en").keys()

"""The instance's language: the default for who has not chosen, and everybody's when choosing is off."""

from collections.abc import AsyncIterator

import pytest

from atrium.boot.assemble import Application
from tests.support.client import Client
from tests.support.servers import fresh_application

FIRST_RUN = {"username": "ada", "password": "a phrase only ada knows", "org": "Acme", "team": "Core"}


@pytest.fixture
async def ada() -> AsyncIterator[Client]:
    async with fresh_application() as house:
        yield await first_run(house)


async def first_run(house: Application) -> Client:
    return Client(house.app, (await Client(house.app).post("/api/bootstrap", FIRST_RUN))["token"])


async def test_the_default_is_for_who_has_not_chosen(ada: Client) -> None:
    policy = await ada.put("/api/i18n", {"default_locale": "is", "switching": True})

    assert policy.body == {
        "default_locale": "is",
        "locales": ["en", "es", "is", "nl"],
        "switching": True,
        "serve_machine": False,
    }
    assert (await Client(ada.app).get("/api/config"))["localization"] == policy.body
    assert (await ada.get("/api/whoami"))["locale"] == "is"
    assert (await ada.post("/api/profile", {"locale": "nl"}))["locale"] == "nl"


async def test_without_switching_there_is_one_language(ada: Client) -> None:
    await ada.post("/api/profile", {"locale": "nl"})

    await ada.put("/api/i18n", {"default_locale": "es", "switching": False})

    assert (await ada.get("/api/whoami"))["locale"] == "es"
    assert (await ada.post("/api/profile", {"locale": "nl"})).code == "identity.locale_fixed"
    assert (await ada.post("/api/profile", {"display_name": "Ada"})).status == 200


async def test_a_language_without_a_catalog_is_refused(ada: Client) -> None:
    answer = await ada.put("/api/i18n", {"default_locale": "tlh", "switching": True})

    assert (answer.status, answer["errors"][0]["path"]) == (400, "default_locale")

"""A server whose model translates as a test tells it to."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from atrium.boot.assemble import Application
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Line, Speaker, speaking


def upper_case(sent: str) -> object:
    return sent.upper()


@dataclass(slots=True)
class Translator:
    """Answers every turn; `asked` are the questions with their instructions, `reply` makes what comes back for a block."""

    reply: Callable[[str], object] = upper_case
    source: object = "en"
    # What is said instead of JSON, if anything.
    says: str | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)

    async def answer(self, speaker: Speaker) -> None:
        while True:
            self._answer(await speaker.lines.get())

    def _answer(self, line: Line) -> None:
        system, user = line.asked["messages"]
        asked = json.loads(user["content"])
        self.asked.append(asked)
        self.instructions.append(system["content"])
        blocks = {id: self.reply(sent) for id, sent in asked["blocks"].items()}
        said = json.dumps({"source": self.source, "blocks": blocks}) if self.says is None else self.says
        line.say(said)
        line.finish(usage=(10, 20))

    @property
    def sent(self) -> list[str]:
        """Every block that was asked for, in order."""
        return [sent for asked in self.asked for sent in asked["blocks"].values()]


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture(scope="module")
async def translating_house(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("translating"), local_model_url=speaker.url)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def translator(speaker: Speaker) -> AsyncIterator[Translator]:
    found = Translator()
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()
    speaker.refusal = None


@pytest.fixture
async def firm(translating_house: Application) -> Company:
    return await found_company(translating_house)


@pytest.fixture
async def ada(firm: Company) -> Client:
    return await firm.join("admin")

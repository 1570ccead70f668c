"""A server whose model fills in fields and translates as a test tells it to, and a way to call tools as a person."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from atrium.boot.assemble import Application
from atrium.engine.tools.calls import call_tool
from atrium.engine.tools.model import ToolResult
from atrium.ground.identity import service as identity
from atrium.seams.context import Context, HoldLevel, Operation, RunStep
from atrium.seams.tools import Tool
from tests.postgres import fresh_database
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Line, Speaker, speaking

SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "total": {"type": "number"}, "tags": {"type": "array"}},
    "required": ["number", "total"],
    "additionalProperties": False,
}
FIELDS = {"number": "A-17", "total": 12.5}


def upper_case(sent: str) -> str:
    return sent.upper()


@dataclass(slots=True)
class Reader:
    """Answers every turn; `asked` are the questions, `fields` is what it reads in each document, `translates` each block."""

    fields: Callable[[str], object] = lambda document: FIELDS
    translates: Callable[[str], str] = upper_case
    # Said in this order instead of anything else, while there are some.
    says: list[str] = field(default_factory=list)
    # What happens while the model thinks, once.
    meanwhile: Callable[[], Awaitable[object]] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    turns: list[dict[str, Any]] = field(default_factory=list)

    async def answer(self, speaker: Speaker) -> None:
        while True:
            line = await speaker.lines.get()
            if (happens := self.meanwhile) is not None:
                self.meanwhile = None
                await happens()
            self._answer(line)

    def _answer(self, line: Line) -> None:
        asked = json.loads(line.asked["messages"][-1]["content"])
        self.turns.append(line.asked)
        self.asked.append(asked)
        line.say(self.says.pop(0) if self.says else json.dumps(self._reply(asked)))
        line.finish(usage=(10, 20))

    def _reply(self, asked: dict[str, Any]) -> object:
        if "blocks" in asked:
            blocks = {id: self.translates(sent) for id, sent in asked["blocks"].items()}
            return {"source": "en", "blocks": blocks}
        return self.fields(asked["document"])


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture(scope="module")
async def house(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path_factory.mktemp("pipeline"), local_model_url=speaker.url)
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def reader(speaker: Speaker) -> AsyncIterator[Reader]:
    found = Reader()
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()
    speaker.refusal = None


@pytest.fixture
async def company(house: Application) -> Company:
    return await found_company(house)


async def acting(house: Application, person: Client, step: RunStep | None = None) -> Operation:
    """An operation as a person's request that writes has."""
    services = house.services
    async with services.database.borrow() as connection:
        who = await identity.identify(services.database, connection, (person.token or "").encode())
    return Operation(who=who, services=services, holding=HoldLevel.WRITING, step=step)


async def call(person: Client, house: Application, name: str, **arguments: Any) -> Any:
    """A tool's result, called as a person's request would."""
    return (await call_tool(await acting(house, person), name, arguments)).value


async def put(
    person: Client, key: str, body: bytes, content_type: str = "text/plain", visibility: str | None = "team"
) -> str:
    """The id of a file that a person has written."""
    query: dict[str, object] = {"visibility": visibility} if visibility else {}
    answer = await person.send("PUT", f"/api/repo/{key}", body, query=query, headers={"content-type": content_type})
    assert answer.status in (200, 201), answer.raw
    return str(answer["id"])


async def read_body(person: Client, id: str) -> str:
    return (await person.get(f"/api/repo-obj/{id}/content")).raw.decode()


@dataclass
class Kept:
    """A step of a run, whose results are kept here; with `refuses` an earlier attempt has kept one."""

    name: str = "fields"
    refuses: BaseException | None = None
    results: list[Any] = field(default_factory=list)
    run_id: UUID = field(default_factory=uuid4)

    async def operation(self, house: Application, person: Client) -> Operation:
        step = RunStep(run_id=self.run_id, name=self.name, index=None)
        return await acting(house, person, step)

    async def call(self, house: Application, person: Client, name: str, **arguments: Any) -> Any:
        """A tool's result, called as the step of a run would."""
        return (await call_tool(await self.operation(house, person), name, arguments, self)).value

    def accept(self, tool: Tool) -> None:
        pass

    async def begin(self, ctx: Context, tool: Tool) -> None:
        pass

    async def end(self, ctx: Context, result: ToolResult) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.results.append(result.value)

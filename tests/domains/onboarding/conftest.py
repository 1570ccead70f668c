"""A server whose first company has a funnel, visitors who solve challenges, and a model that says what a test tells it to."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from altcha import v2

from atrium.boot.assemble import Application
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Speaker, speaking

EXPERIENCE: dict[str, Any] = {
    "fields": [
        {"name": "email", "type": "email", "label": "E-mail", "required": True},
        {"name": "why", "type": "textarea", "label": "Why?", "help": "A sentence will do", "max": 500},
        {"name": "size", "type": "select", "label": "How many are you?", "options": ["1", "2-10", "more"]},
        {"name": "site", "type": "url", "label": "Website"},
        {"name": "terms", "type": "consent", "label": "I agree", "required": True},
    ],
    "copy": {"title": "Be among the first", "thanks": "Thank you"},
    "theme": {"accent": "#0f766e", "focus": "#0f766e"},
    "judge_prompt": "",
    "locales": {
        "es": {
            "copy": {"title": "Sé de los primeros"},
            "fields": {"email": {"label": "Correo"}, "size": {"options": ["una", "2 a 10", "más"]}},
        }
    },
    "embed_origins": ["https://elsewhere.example"],
}
ANSWERS: dict[str, Any] = {"why": "Because we bake.", "size": "2-10", "terms": True}


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture(scope="module")
async def house(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with fresh_database() as url:
        settings = settings_for(
            url,
            data_dir=tmp_path_factory.mktemp("onboarding"),
            local_model_url=speaker.url,
            plugins_dir="",
            beta_proof_cost=2,
            beta_proof_tries=4,
            rate_challenges=1_000_000,
            embed_worker=True,
        )
        async with open_application(settings) as house:
            yield house


@pytest.fixture
async def company(house: Application) -> Company:
    """Every test's company is the first of the instance while the test runs."""
    company = await found_company(house)
    await make_first(company)
    return company


@pytest.fixture
async def owner(company: Company) -> Client:
    return await company.join("owner", org_role="org_owner", operator=True)


@pytest.fixture
def visitor(house: Application) -> Client:
    return Client(house.app)


async def make_first(company: Company) -> None:
    """The funnel belongs to this company's first team from now on."""
    operator = await company.join("owner")
    url = company.house.services.settings.database_url
    await run_as_owner(url, "DELETE FROM instance")
    await run_as_owner(
        url,
        "INSERT INTO instance (org_id, team_id, operator_id) VALUES ($1, $2, $3::text::uuid)",
        company.org.id,
        company.team.id,
        operator.user_id,
    )
    company.house.services.started["onboarding"].forget()


async def publish(owner: Client, **changes: Any) -> int:
    """The number of a version that visitors see from now on."""
    saved = await owner.put("/api/beta/experience", {"experience": EXPERIENCE | changes})
    assert saved.status == 200, saved.raw
    published = await owner.post("/api/beta/experience/publish")
    assert published.status == 200, published.raw
    return int(published["version"])


def solved(challenge: dict[str, Any]) -> str:
    """The proof, by ALTCHA's own client."""
    found = v2.Challenge.from_dict(challenge)
    solution = v2.solve_challenge(found)
    assert solution is not None
    return v2.Payload(found, solution).to_base64()


async def proof_for(visitor: Client) -> str:
    challenge = await visitor.get("/api/beta/challenge")
    assert challenge.status == 200, challenge.raw
    return solved(challenge.body)


async def sign_up(visitor: Client, email: str, *, proof: str | None = None, **sent: Any) -> Answer:
    fields = {**ANSWERS, "email": email, **sent.pop("fields", {})}
    body = {"fields": fields, "proof": proof or await proof_for(visitor), **sent}
    return await visitor.post("/api/beta/signup", body)


async def prospects(owner: Client, **query: Any) -> list[dict[str, Any]]:
    found = await owner.get("/api/beta/prospects", **query)
    assert found.status == 200, found.raw
    items: list[dict[str, Any]] = found["items"]
    return items


def spelled(payload: dict[str, Any]) -> str:
    return b64encode(json.dumps(payload).encode()).decode()


async def until(look: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What `look` finds once it finds something."""
    async with asyncio.timeout(seconds):
        while not (found := await look()):
            await asyncio.sleep(0.02)
    return found


@dataclass(slots=True)
class Model:
    """Answers every turn with what the test says about the answers; `asked` are the messages."""

    says: Callable[[Any], str]
    asked: list[list[dict[str, Any]]] = field(default_factory=list)

    async def answer(self, speaker: Speaker) -> None:
        while True:
            line = await speaker.lines.get()
            self.asked.append(line.asked["messages"])
            line.say(self.says(line.asked["messages"]))
            line.finish(usage=(10, 20))


GOOD = {"verdict": "promising", "score": 80, "reasons": ["Bakes."]}


@pytest.fixture
async def model(speaker: Speaker) -> AsyncIterator[Model]:
    found = Model(lambda messages: json.dumps(GOOD))
    answering = asyncio.ensure_future(found.answer(speaker))
    yield found
    answering.cancel()
    speaker.refusal = None


SHIPPED = Path(__file__).parents[3] / "plugins"

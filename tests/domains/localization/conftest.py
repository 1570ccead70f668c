"""An instance with small catalogs of its own, its operator, a translator and a reviewer."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from atrium.boot.assemble import Application
from atrium.ground.tenancy import locales
from atrium.ground.tenancy import service as tenancy
from atrium.seams.context import ANONYMOUS, Operation
from tests.postgres import fresh_database
from tests.support.client import Answer, Client
from tests.support.patience import PATIENCE
from tests.support.people import Company
from tests.support.servers import open_application, settings_for
from tests.support.speaker import Speaker, speaking

FIRST_RUN = {"username": "ada", "password": "a phrase only ada knows", "org": "Acme", "team": "Core"}
ENGLISH = {
    "words": {
        "save": "Save",
        "greeting": "Hello {name}",
        "files": "{count, plural, one {# file} other {# files}} in <b>{folder}</b>",
    },
    "menu": {"open": "Open", "board": "Open the board"},
}
SPANISH = {"words": {"save": "Guardar", "greeting": "Hola, {name}"}, "menu": {"open": "Abrir"}}


def write_catalogs(root: Path, **by_locale: dict[str, dict[str, str]]) -> None:
    """Catalog files as an editor would leave them."""
    for locale, namespaces in by_locale.items():
        folder = root / locale.replace("_", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for ns, texts in namespaces.items():
            (folder / f"{ns}.json").write_text(json.dumps(texts, ensure_ascii=False))


@dataclass(slots=True)
class Desk:
    """The instance and its people."""

    house: Application
    shipped: Path
    company: Company
    ada: Client
    translator: Client
    reviewer: Client
    own: Path
    jobs: list[str] = field(default_factory=list)

    async def message(self, key: str, locale: str = "es", by: Client | None = None) -> dict[str, Any]:
        page = await (by or self.ada).get("/api/l10n/messages", locale=locale, q=key)
        [found] = [one for one in page["items"] if one["key"] == key]
        return dict(found)

    async def served(self, locale: str = "es") -> dict[str, str]:
        return dict((await Client(self.house.app).get("/api/i18n/catalog", locale=locale))["messages"])

    async def coverage(self, locale: str = "es") -> dict[str, Any]:
        items = (await self.ada.get("/api/l10n/coverage"))["items"]
        return next(dict(one) for one in items if one["locale"] == locale)

    async def submit(self, key: str, text: str, locale: str = "es", by: Client | None = None) -> Answer:
        found = await self.message(key, locale)
        return await (by or self.translator).put(f"/api/l10n/messages/{found['id']}", {"text": text})

    async def review(self, key: str, decision: str = "approve", locale: str = "es", **more: Any) -> Answer:
        found, by = await self.message(key, locale), more.pop("by", self.reviewer)
        return await by.post(f"/api/l10n/review/{found['id']}", {"decision": decision} | more)  # type: ignore[no-any-return]

    async def approve(self, key: str, text: str, locale: str = "es") -> None:
        assert (await self.submit(key, text, locale)).status == 200
        assert (await self.review(key, locale=locale)).status == 200

    async def imported(self, **body: Any) -> dict[str, Any]:
        started = await self.ada.post("/api/l10n/import", body)
        assert started.status == 202, started.raw
        return (await self.ended(started["job"]))["result"]  # type: ignore[no-any-return]

    async def ended(self, job: str, seconds: float = PATIENCE, look: float = 0.02) -> Answer:
        async with asyncio.timeout(seconds):
            while (found := await self.ada.get(f"/api/jobs/{job}"))["state"] in ("queued", "running"):
                await asyncio.sleep(look)
        return found

    async def history(self, key: str, locale: str = "es") -> list[tuple[str, str, UUID | None]]:
        async with self.house.services.database.begin(self.company.org.id) as db:
            rows = await db.rows(
                "SELECT text, was, replaced_by FROM l10n_history WHERE key = :key AND locale = :locale ORDER BY replaced_at",
                key=key,
                locale=locale,
            )
        return [(text, was, by) for text, was, by in rows]


async def make_desk(house: Application, shipped: Path) -> Desk:
    founded = await Client(house.app).post("/api/bootstrap", FIRST_RUN)
    ada = Client(house.app, founded["token"], founded["user"]["id"], founded["team"]["id"], founded["org"]["id"], "ada")
    async with Operation(who=ANONYMOUS, services=house.services).begin_system() as ctx:
        org = await tenancy.read_org(ctx, ada.org_id)
        team = await tenancy.read_team(ctx, org.id, UUID(ada.team_id))
    company = Company(house, org, team)
    own = house.services.settings.data_dir / "locales"
    return Desk(house, shipped, company, ada, await company.join("translator"), await company.join("reviewer"), own)


@pytest.fixture
def catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "shipped"
    write_catalogs(root, en=ENGLISH, es=SPANISH)
    monkeypatch.setattr(locales, "shipped_path", lambda _: root)
    return root


@pytest.fixture
async def desk(catalogs: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    async with (
        fresh_database() as url,
        open_application(settings_for(url, data_dir=tmp_path / "data", embed_worker=True)) as house,
    ):
        yield await make_desk(house, catalogs)


@pytest.fixture
async def idle_desk(catalogs: Path, tmp_path: Path) -> AsyncIterator[Desk]:
    """The same where no process runs jobs."""
    async with fresh_database() as url, open_application(settings_for(url, data_dir=tmp_path / "data")) as house:
        yield await make_desk(house, catalogs)


@pytest.fixture(scope="module")
async def speaker() -> AsyncIterator[Speaker]:
    async with speaking() as found:
        yield found


@pytest.fixture
async def drafting_desk(catalogs: Path, tmp_path: Path, speaker: Speaker) -> AsyncIterator[Desk]:
    """The same with a model that a test speaks for."""
    async with fresh_database() as url:
        settings = settings_for(url, data_dir=tmp_path / "data", local_model_url=speaker.url, embed_worker=True)
        async with open_application(settings) as house:
            yield await make_desk(house, catalogs)

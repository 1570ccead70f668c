"""How well search answers a labelled set: nDCG over its first ten, misspelt titles and exact titles, through HTTP as one person asks."""

import math
import random
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import msgspec

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.search import chores, verification
from benchmarks.man_pages import ManPage, Question
from tests.client import Client
from tests.people import Company, found_company
from tests.postgres import fresh_database, run_as_owner
from tests.servers import open_application, settings_for

SHOWN = 10
# Shorter titles have too few letters to be known again with one of them wrong.
LEAST_LETTERS = 5
_FILL = """
  INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)
  SELECT n.id, $1, $2, $3, n.title, n.body, 'team' FROM unnest($4::uuid[], $5::text[], $6::text[]) AS n (id, title, body)
"""


class Relevance(msgspec.Struct, frozen=True):
    """What was measured, each from 0 to 1; and how many searches were ended for their time."""

    ndcg: float
    misspelt: float
    exact: float
    cut: int


def ndcg(ranked: list[int], answers: dict[int, int]) -> float:
    """The gain of the first ten against that of the best order there is."""
    best = sorted(answers.values(), reverse=True)
    return _gain([answers.get(one, 0) for one in ranked]) / _gain(best)


def _gain(grades: list[int]) -> float:
    return sum((math.exp2(grade) - 1) / math.log2(at + 2) for at, grade in enumerate(grades[:SHOWN]))


def misspelt(title: str, dice: random.Random) -> str:
    """The title with one letter left out, doubled, changed, or exchanged with the next."""
    at = dice.randrange(1, len(title) - 1)
    changed = {
        "out": title[:at] + title[at + 1 :],
        "twice": title[:at] + title[at] + title[at:],
        "other": title[:at] + dice.choice("aeinorst") + title[at + 1 :],
        "exchanged": title[:at] + title[at + 1] + title[at] + title[at + 2 :],
    }
    return changed[dice.choice(sorted(changed))]


async def measure(pages: list[ManPage], questions: list[Question], titles: int) -> Relevance:
    """Load the pages as notes of one team, and ask for them as one of its people."""
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            async with open_application(settings_for(url, data_dir=Path(folder))) as application:
                company = await found_company(application)
                person = await company.join("member")
                at = await _load(application, company, person, pages)
                return await _ask(person, at, pages, questions, titles)


async def _load(application: Application, company: Company, person: Client, pages: list[ManPage]) -> dict[str, int]:
    url, ids = application.services.settings.database_url, [new_id() for _ in pages]
    owner = await company.join("member")
    texts = ([page.title for page in pages], [page.body for page in pages])
    await run_as_owner(url, _FILL, company.org.id, UUID(person.team_id), UUID(owner.user_id), ids, *texts)
    await verification.rebuild(application.services.database, application.services.compute, company.org.id)
    await run_as_owner(url, "VACUUM ANALYZE search_rows")
    await chores.count_words(application.services)
    return {str(id): number for number, id in enumerate(ids)}


async def _ask(
    person: Client, at: dict[str, int], pages: list[ManPage], questions: list[Question], titles: int
) -> Relevance:
    cut = 0

    async def found(q: str) -> list[int]:
        nonlocal cut
        reply = await person.get("/api/search", q=q, limit=SHOWN)
        assert reply.status == 200, reply.raw
        cut += reply["cut"]
        return [at[item["id"]] for item in reply["items"]]

    gains = [ndcg(await found(asked.text), asked.answers) for asked in questions]
    dice = random.Random(11)
    named = [page for page in pages if len(page.title) >= LEAST_LETTERS]
    chosen = dice.sample(named, min(titles, len(named)))
    typos = [_has(pages, page.title, await found(misspelt(page.title, dice))) for page in chosen]
    firsts = [_has(pages, page.title, (await found(page.title))[:1]) for page in chosen]
    return Relevance(statistics.mean(gains), statistics.mean(typos), statistics.mean(firsts), cut)


def _has(pages: list[ManPage], title: str, found: list[int]) -> bool:
    return any(pages[one].title.lower() == title.lower() for one in found)

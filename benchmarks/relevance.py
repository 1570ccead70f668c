"""How well search answers a labelled set: nDCG over its first ten, misspelt titles and exact titles, through HTTP as people ask.

No search is cut for its time, so that what is found does not depend on what else the machine does; how many would have been is counted.
"""

import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from uuid import UUID

import msgspec

from atrium.boot.assemble import Application
from atrium.kit.ids import new_id
from atrium.product.search import chores, index_check
from benchmarks.man_pages import Question
from tests.postgres import fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import Company, found_company
from tests.support.servers import open_application, settings_for

SHOWN = 10
# Milliseconds that no question takes.
UNLIMITED = 10_000
# Shorter titles have too few letters to be known again with one of them wrong.
LEAST_LETTERS = 5
_FILL = """
  INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)
  SELECT n.id, $1, $2, $3, n.title, n.body, 'team' FROM unnest($4::uuid[], $5::text[], $6::text[]) AS n (id, title, body)
"""


class Page(Protocol):
    """What is asked about."""

    @property
    def title(self) -> str: ...

    @property
    def body(self) -> str: ...


class Relevance(msgspec.Struct, frozen=True):
    """What was measured, each from 0 to 1, nDCG also by the language that was asked in.

    Beside it how many searches stopped looking before the end, and how many took longer than a server lets them by default.
    """

    ndcg: float
    misspelt: float
    exact: float
    cut: int
    late: int
    by_locale: dict[str, float]


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


async def measure(pages: Sequence[Page], questions: list[Question], titles: int) -> Relevance:
    """Load the pages as notes of one team, and ask for them as its people, one for each language."""
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            settings = settings_for(url, data_dir=Path(folder), search_milliseconds=UNLIMITED)
            async with open_application(settings) as application:
                company = await found_company(application)
                people = {asked.locale: await _reader(company, asked.locale) for asked in questions}
                at = await _load(application, company, pages)
                asking = _Asking(people, at, pages, settings_for(url).search_milliseconds)
                return await _ask(asking, questions, titles)


async def _reader(company: Company, locale: str) -> Client:
    person = await company.join("member")
    assert (await person.post("/api/profile", {"locale": locale})).status == 200
    return person


async def _load(application: Application, company: Company, pages: Sequence[Page]) -> dict[str, int]:
    url, ids = application.services.settings.database_url, [new_id() for _ in pages]
    owner = await company.join("member")
    texts = ([page.title for page in pages], [page.body for page in pages])
    await run_as_owner(url, _FILL, company.org.id, company.team.id, UUID(owner.user_id), ids, *texts)
    await index_check.rebuild(application.services.database, application.services.compute, company.org.id)
    await run_as_owner(url, "VACUUM ANALYZE search_rows")
    await chores.count_words(application.services)
    return {str(id): number for number, id in enumerate(ids)}


class _Asking:
    """The people who ask, and what became of their searches."""

    def __init__(self, people: dict[str, Client], at: dict[str, int], pages: Sequence[Page], usual: int) -> None:
        self._people, self._at, self._usual = people, at, usual
        self.pages, self.cut, self.late = pages, 0, 0

    async def found(self, q: str, locale: str) -> list[int]:
        """The numbers of the pages that are shown first."""
        reply = await self._people[locale].get("/api/search", q=q, limit=SHOWN)
        assert reply.status == 200, reply.raw
        self.cut += reply["cut"]
        self.late += reply["took_ms"] > self._usual
        return [self._at[item["id"]] for item in reply["items"]]

    def has(self, title: str, found: list[int]) -> bool:
        """Whether a page of this title is among them."""
        return any(self.pages[one].title.lower() == title.lower() for one in found)


async def _ask(asking: _Asking, questions: list[Question], titles: int) -> Relevance:
    gains: dict[str, list[float]] = {}
    for asked in questions:
        gain = ndcg(await asking.found(asked.text, asked.locale), asked.answers)
        gains.setdefault(asked.locale, []).append(gain)
    dice, first = random.Random(11), questions[0].locale
    named = [page.title for page in asking.pages if len(page.title) >= LEAST_LETTERS]
    chosen = dice.sample(named, min(titles, len(named)))
    typos = [asking.has(title, await asking.found(misspelt(title, dice), first)) for title in chosen]
    firsts = [asking.has(title, (await asking.found(title, first))[:1]) for title in chosen]
    return Relevance(
        statistics.mean(gain for many in gains.values() for gain in many),
        statistics.mean(typos),
        statistics.mean(firsts),
        asking.cut,
        asking.late,
        {locale: statistics.mean(many) for locale, many in gains.items()},
    )

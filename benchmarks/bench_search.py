"""What search costs: a note written with and without the index, and questions over so many rows, half of them one company's, through HTTP.

uv pip install tantivy  # optional: the same questions beside it
python -m tests.postgres python -m benchmarks.bench_search [--rows 100000] [--rounds 20] [--companies 500] [--writes 200]
python -m tests.postgres python -m benchmarks.bench_search --backfill 1000000  # so many notes read while a server answers, instead

Four people ask: a member who reads one row of a hundred of the large company, somebody who holds grants for as many, a reader of that
whole company, and a member of a small one. Rows are written by SQL; the verifier reads some of them again.
"""

import argparse
import asyncio
import contextlib
import importlib
import random
import secrets
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from uuid import UUID, uuid5

import httpx
import msgspec
import psutil

from atrium.boot.assemble import Application
from atrium.engine.repository.model import ObjectWritten
from atrium.kit.ids import NIL
from atrium.kit.work.compute import run_small
from atrium.product.notes.model import NoteSaved
from atrium.product.search import chores, index_check
from atrium.product.search.listeners import LISTENERS
from atrium.product.search.store import WORDS, wide_of
from atrium.product.search.words import HEAD_WORDS, index
from benchmarks.processes import Server, atrium
from tests.postgres import connected, fresh_database, run_as_owner
from tests.support.client import Client
from tests.support.people import found_company
from tests.support.servers import open_application, settings_for

LEAST_RATE, MOST_P50, MOST_P95, MOST_EVER = 0.85, 30, 100, 500
# Word number n is in a text about once in n words, as in a language.
VOCABULARY, TEXT_WORDS, TEXTS, TITLES = 20_000, 90, 5_000, 20_000
SHOWN = 20
ASKING = {
    "member": "a member who reads one of a hundred rows of the large company",
    "holder": "somebody who holds grants for as many",
    "reader": "a reader of the whole large company",
    "small": "a member of a small company",
}
SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
# One row of so many of the large company is the member's team's, and one is granted.
READABLE = 100


class Corpus(msgspec.Struct, frozen=True):
    """Texts and titles that rows are made of."""

    texts: list[str]
    titles: list[str]


class People(msgspec.Struct, frozen=True):
    """Who asks, and the colleague who owns the other rows of the large company."""

    member: Client
    holder: Client
    reader: Client
    other: Client
    small: Client


def make_corpus() -> Corpus:
    """The same at each run."""
    dice = random.Random(7)
    syllables = [first + second for first in "bcdfghklmnprstvz" for second in "aeiou"]
    vocabulary = list(dict.fromkeys("".join(dice.choices(syllables, k=dice.randint(2, 5))) for _ in range(VOCABULARY)))
    weights = [1 / (at + 8) for at in range(len(vocabulary))]
    texts = [" ".join(dice.choices(vocabulary, weights, k=TEXT_WORDS)) for _ in range(TEXTS)]
    return Corpus(texts, [" ".join(dice.sample(vocabulary, 2)) for _ in range(TITLES)])


def questions_of(corpus: Corpus) -> dict[str, str]:
    """What is asked, chosen by in how many texts its words are."""
    cut = [text.split() for text in corpus.texts]
    shares = Counter(word for text in cut for word in set(text))
    pairs = Counter(pair for text in cut for pair in set(pairwise(text)))

    def near(share: float) -> str:
        return min(shares, key=lambda word: (abs(shares[word] - share * TEXTS), word))

    half, some = near(0.5), near(0.05)
    pair = min(pairs, key=lambda one: (abs(pairs[one] - 0.01 * TEXTS), one))
    title = corpus.titles[0]
    return {
        "word in half of all": half,
        "two words": f"{half} {some}",
        "two words in a twentieth": f"{near(0.052)} {some}",
        "phrase": f'"{" ".join(pair)}"',
        "phrase that is nowhere": f'"{half} {near(0.45)} {half}"',
        "rare word": near(0.0004),
        "typing error": title[0] + title[2] + title[1] + title[3:],
        "one letter": half[:1],
        "two letters": half[:2],
        "three letters": half[:3],
        "sixteen words": " ".join(cut[0][:16]),
    }


def percentiles(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


async def timed(work: object) -> float:
    began = time.perf_counter()
    reply = await work  # type: ignore[misc]
    assert reply.status < 300, reply.raw
    return time.perf_counter() - began


async def write_cost(house: Application, event: type, write: Callable[[int], Awaitable[object]], rounds: int) -> float:
    """The rate of writing with the index as a share of the rate without it, the two taking turns."""
    listeners = house.services.registry.listeners
    hearing, times = listeners[event], {True: 0.0, False: 0.0}
    without = [one for one in hearing if one not in LISTENERS]
    for n in range(rounds):
        for indexed in (True, False) if n % 2 else (False, True):
            listeners[event] = hearing if indexed else without
            times[indexed] += await timed(write(n))
    listeners[event] = hearing
    return times[False] / times[True]


def posted_by(person: Client) -> Callable[[int], Awaitable[object]]:
    """Posts a note."""

    def post(n: int) -> Awaitable[object]:
        # Prose, by its first words, so that stems are looked for.
        body = "the plan of the " + " ".join(f"w{random.randrange(5000)}" for _ in range(90))
        return person.post("/api/notes", {"title": f"Note {n}", "body": body, "visibility": "team"})

    return post


def put_by(person: Client) -> Callable[[int], Awaitable[object]]:
    """Puts an object of a new name, without text to be read."""
    return lambda n: person.put(
        f"/api/repo/reports/{secrets.token_hex(8)}/quarterly figures {n}.bin", secrets.token_bytes(64)
    )


class Place(msgspec.Struct, frozen=True):
    """Whose a row is: a company, a team and a person in it."""

    org_id: UUID
    team_id: UUID
    owner_id: UUID

    @staticmethod
    def of(person: Client) -> "Place":
        return Place(UUID(person.org_id), UUID(person.team_id), UUID(person.user_id))

    @staticmethod
    def made_up(number: int) -> "Place":
        """In a company that nothing but the index knows: its rows are there to be passed by."""
        return Place(*(uuid5(NIL, f"{number} {what}") for what in ("company", "team", "person")))


class Row(msgspec.Struct, frozen=True):
    """A row of the index: the numbers of its title and text, whose it is, and who may read it."""

    number: int
    title: int
    text: int
    place: Place
    readers: list[UUID]


def rows_of(people: People, rows: int, companies: int) -> Iterator[Row]:
    """Every other row is the large company's; the others are spread over the small ones, the first of which has people."""
    dice = random.Random(11)
    own, others = Place.of(people.member), Place.of(people.other)
    small = [Place.of(people.small), *map(Place.made_up, range(1, companies))]
    for number in range(rows):
        at = number // 2
        mine = own if at % READABLE == 0 else others
        place = small[at % companies] if number % 2 else mine
        readers = [place.owner_id, place.team_id, wide_of(place.org_id)]
        if at % READABLE == 1 and not number % 2:
            readers.append(UUID(people.holder.user_id))
        yield Row(number, dice.randrange(TITLES), dice.randrange(TEXTS), place, readers)


STAGED = """
  CREATE UNLOGGED TABLE bench_rows (n int, title int, text int, org_id uuid, team_id uuid, owner_id uuid, readers uuid[],
                                    id uuid DEFAULT gen_random_uuid());
  CREATE UNLOGGED TABLE bench_titles (at int PRIMARY KEY, title text, lexemes text, triples text);
  CREATE UNLOGGED TABLE bench_texts (at int PRIMARY KEY, text text, lexemes text);
"""
FILL = (
    """
    INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility, updated_at)
    SELECT r.id, r.org_id, r.team_id, r.owner_id, t.title, b.text, 'team', now() - ($1 - r.n) * interval '1 second'
      FROM bench_rows r JOIN bench_titles t ON t.at = r.title JOIN bench_texts b ON b.at = r.text
     WHERE r.org_id = ANY($2) ORDER BY r.n
    """,
    """
    INSERT INTO note_grants (org_id, note_id, user_id, permission, granted_by)
    SELECT r.org_id, r.id, r.readers[4], 'notes:read', r.owner_id FROM bench_rows r WHERE cardinality(r.readers) = 4
    """,
    f"""
    INSERT INTO search_rows (org_id, id, kind, team_id, owner_id, visibility, edition, lexemes, triples, readers, title_words, head_words,
                             text_words, updated_at)
    SELECT r.org_id, r.id, 'note', r.team_id, r.owner_id, 'team', '{WORDS} 1', (t.lexemes || ' ' || b.lexemes)::tsvector,
           string_to_array(t.triples, ' '), r.readers, 2, {HEAD_WORDS}, {TEXT_WORDS},
           coalesce(o.updated_at, now() - ($1 - r.n) * interval '1 second')
      FROM bench_rows r JOIN bench_titles t ON t.at = r.title JOIN bench_texts b ON b.at = r.text LEFT JOIN notes o ON o.id = r.id
     ORDER BY r.n
    """,
)
INDEXES = (
    "search_rows_words",
    "search_rows_newest",
    "search_rows_of_team",
    "search_rows_of_owner",
    "search_rows_granted",
)


async def fill(url: str, corpus: Corpus, people: People, rows: int, companies: int) -> None:
    """Write notes and rows of the index, the index's own indexes last."""
    began = time.perf_counter()
    companies_known = [UUID(people.member.org_id), UUID(people.small.org_id)]
    async with connected(url) as db:
        await db.execute(STAGED)
        titles = [(at, title, *_kept(title, "")) for at, title in enumerate(corpus.titles)]
        texts = [(at, text, _kept("", text)[0]) for at, text in enumerate(corpus.texts)]
        await db.copy_records_to_table("bench_titles", records=titles)
        await db.copy_records_to_table("bench_texts", records=texts)
        await db.copy_records_to_table(
            "bench_rows",
            records=(
                (row.number, row.title, row.text, *msgspec.structs.astuple(row.place), row.readers)
                for row in rows_of(people, rows, companies)
            ),
            columns=["n", "title", "text", "org_id", "team_id", "owner_id", "readers"],
        )
        # Built over all rows at once, as a restored backup would.
        made = [await db.fetchval("SELECT pg_get_indexdef($1::text::regclass)", name) for name in INDEXES]
        await db.execute(f"DROP INDEX {', '.join(INDEXES)}; SET maintenance_work_mem = '1GB'")
        await db.execute("ANALYZE bench_rows; ANALYZE bench_titles; ANALYZE bench_texts")
        await db.execute(FILL[0], rows, companies_known)
        await db.execute(FILL[1])
        await db.execute(FILL[2], rows)
        for statement in made:
            await db.execute(statement)
        await db.execute("DROP TABLE bench_rows, bench_titles, bench_texts")
        await db.execute("VACUUM ANALYZE search_rows, notes, note_grants")
        sizes = await db.fetchrow("SELECT pg_table_size('search_rows'), pg_relation_size('search_rows_words')")
    table, words = (size / rows for size in sizes)
    print(
        f"{rows} rows in {time.perf_counter() - began:.0f} s; of a row {table:.0f} bytes in the table, {words:.0f} in the index"
    )


def _kept(title: str, text: str) -> tuple[str, str]:
    """Words with their places in a row with a title of two words, and letter triples."""
    read = run_small(index, title or "a b", "", text)
    words = read.lexemes if title else read.lexemes.removeprefix("'a':11A 'b':12A ")
    return words, read.triples


class Answers(Protocol):
    """Something that answers a question of one of the people, within its measured time; true if it was cut."""

    async def __call__(self, who: str, kind: str, q: str) -> bool: ...


class Asked(msgspec.Struct):
    """How long a question took each time, in milliseconds, the processor time of the server and of PostgreSQL together, and how often it
    was cut."""

    times: list[float] = []
    processor: float = 0
    cut: int = 0


async def ask(
    answers: Answers, questions: dict[str, str], rounds: int, spent: Callable[[], float]
) -> dict[tuple[str, str], Asked]:
    """Everything asked by everybody; the first time, which opens connections and plans statements, is not counted."""
    found: dict[tuple[str, str], Asked] = {}
    for who in ASKING:
        for kind, q in questions.items():
            one = found[who, kind] = Asked()
            await answers(who, kind, q)
            before = spent()
            for _ in range(rounds):
                began = time.perf_counter()
                one.cut += await answers(who, kind, q)
                one.times.append((time.perf_counter() - began) * 1000)
            one.processor = (spent() - before) * 1000 / rounds
    return found


async def spent_by(server: Server) -> Callable[[], float]:
    """The processor seconds of a server and its database sessions so far, as far as this machine tells them."""
    pids = [row["pid"] for row in await run_as_owner(server.database_url, SESSIONS)]

    def spent() -> float:
        total = server.cpu_seconds()
        for pid in pids:
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(pid).cpu_times()
                total += times.user + times.system
        return total

    return spent


def over_http(client: httpx.AsyncClient, people: People) -> Answers:
    """`GET /api/search` of a server in its own process."""

    async def answers(who: str, kind: str, q: str) -> bool:
        reply = await client.get(
            "/api/search",
            params={"q": q, "scope": "org" if who == "reader" else "team", "limit": SHOWN},
            headers={"Authorization": f"Bearer {getattr(people, who).token}"},
        )
        assert reply.status_code == 200, reply.text
        return bool(reply.json()["cut"])

    return answers


def by_tantivy(corpus: Corpus, people: People, rows: int, companies: int) -> Answers | None:
    """The same rows and readers in tantivy, if it is installed, with titles read out for a page; in this process, without HTTP."""
    try:
        tantivy: Any = importlib.import_module("tantivy")
    except ImportError:
        return None
    began = time.perf_counter()
    schema = tantivy.SchemaBuilder().add_text_field("title", stored=True).add_text_field("text")
    schema = schema.add_text_field("readers", tokenizer_name="raw").build()
    index = tantivy.Index(schema)
    writer = index.writer(200_000_000)
    for row in rows_of(people, rows, companies):
        readers = [str(one) for one in row.readers]
        writer.add_document(
            tantivy.Document(title=corpus.titles[row.title], text=corpus.texts[row.text], readers=readers)
        )
    writer.commit()
    index.reload()
    searcher = index.searcher()
    print(f"tantivy read {rows} rows in {time.perf_counter() - began:.0f} s")
    query, must, should = tantivy.Query, tantivy.Occur.Must, tantivy.Occur.Should

    def asked(kind: str, q: str) -> Any:
        if kind == "typing error":
            words = [query.fuzzy_term_query(schema, "title", word) for word in q.split()]
        elif kind.endswith(("letter", "letters")):
            words = [query.regex_query(schema, field, f"{q}.*") for field in ("title", "text")]
        else:
            return index.parse_query(q, ["title", "text"])
        return query.boolean_query([(should, one) for one in words])

    async def answers(who: str, kind: str, q: str) -> bool:
        person = getattr(people, who)
        readers = [person.user_id, str(wide_of(UUID(person.org_id))) if who == "reader" else person.team_id]
        readable = query.boolean_query([(should, query.term_query(schema, "readers", one)) for one in readers])
        hits = searcher.search(query.boolean_query([(must, asked(kind, q)), (must, readable)]), SHOWN).hits
        for _, address in hits:
            searcher.doc(address)
        return False

    return answers


def report(
    questions: dict[str, str], ours: dict[tuple[str, str], Asked], theirs: dict[tuple[str, str], Asked] | None
) -> bool:
    """Print every figure; whether all are within their limits."""
    fine = True
    for who, description in ASKING.items():
        print(description)
        for kind in questions:
            asked = ours[who, kind]
            times = asked.times
            p50, p95 = percentiles(times)
            beside = ""
            if theirs:
                other = statistics.median(theirs[who, kind].times)
                beside = f", {p50 / other:5.1f} times tantivy's {other:5.1f} ms"
            missed = p50 > MOST_P50 or p95 > MOST_P95 or max(times) > MOST_EVER
            fine = fine and not missed
            print(
                f"  {kind:25} p50 {p50:6.1f} p95 {p95:6.1f} most {max(times):6.1f} ms, processor {asked.processor:5.1f} ms{beside}"
                f"{f', {asked.cut} cut' if asked.cut else ''}{', missed' if missed else ''}"
            )
    return fine


async def measure_writing(house: Application, person: Client, rounds: int) -> float:
    share = 1.0
    for name, event, write in (("notes", NoteSaved, posted_by(person)), ("objects", ObjectWritten, put_by(person))):
        await write_cost(house, event, write, 20)
        found = await write_cost(house, event, write, rounds)
        print(f"{name} are written at {found:.2f} of the rate without the index (at least {LEAST_RATE})")
        share = min(share, found)
    return share


async def gather_people(house: Application) -> People:
    large, small = await found_company(house), await found_company(house)
    return People(
        member=await large.join("member"),
        holder=await large.join("member", team=await large.add_team()),
        reader=await large.join("member", org_role="org_reader"),
        other=await large.join("member", team=await large.add_team()),
        small=await small.join("member"),
    )


NOTES = """
  INSERT INTO notes (id, org_id, team_id, owner_id, title, body, visibility)
  SELECT gen_random_uuid(), $1, $2, $3, t.title, t.text, 'team'
    FROM generate_series(1, $4::int) AS n
    JOIN unnest($5::text[], $6::text[]) WITH ORDINALITY AS t (title, text, at) ON t.at = 1 + n % $7::int
"""


async def backfill(rows: int) -> int:
    """Notes from before the index, read by a server that answers meanwhile: rows a second, and how long people wait."""
    corpus = make_corpus()
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            async with open_application(settings_for(url, data_dir=Path(folder))) as house:
                company = await found_company(house)
                person = await company.join("member")
        place, titles = Place.of(person), corpus.titles[:TEXTS]
        await run_as_owner(url, NOTES, *msgspec.structs.astuple(place), rows, titles, corpus.texts, TEXTS)
        await run_as_owner(url, "VACUUM ANALYZE notes")
        await run_as_owner(url, "INSERT INTO search_backlog (source) VALUES ('notes') ON CONFLICT DO NOTHING")
        async with (
            atrium(url).on(None) as server,
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{server.port}",
                headers={"Authorization": f"Bearer {person.token}"},
                timeout=60,
            ) as client,
        ):
            began, times = time.perf_counter(), await ask_until_read(url, client, questions_of(corpus)["rare word"])
            took = time.perf_counter() - began
    print(f"{rows} notes read in {took:.0f} s, {rows / took:.0f} a second")
    for name, many in times.items():
        p50, p95 = percentiles([one * 1000 for one in many])
        print(f"  meanwhile {name:12} p50 {p50:6.1f} p95 {p95:6.1f} ms, {len(many)} times")
    return 0


async def ask_until_read(url: str, client: httpx.AsyncClient, q: str) -> dict[str, list[float]]:
    """Seconds that one person's requests take, one after the other, until the index has read everything."""
    times: dict[str, list[float]] = {"POST note": [], "GET note": [], "GET search": []}

    async def timed_request(name: str, method: str, path: str, **more: Any) -> httpx.Response:
        began = time.perf_counter()
        reply = await client.request(method, path, **more)
        times[name].append(time.perf_counter() - began)
        assert reply.status_code < 300, reply.text
        return reply

    while await run_as_owner(url, "SELECT FROM search_backlog"):
        made = await timed_request("POST note", "POST", "/api/notes", json={"title": "Beside", "body": "the plan"})
        await timed_request("GET note", "GET", f"/api/notes/{made.json()['id']}")
        await timed_request("GET search", "GET", "/api/search", params={"q": q})
    return times


async def main(rows: int, rounds: int, companies: int, writes: int) -> int:
    corpus = make_corpus()
    questions = questions_of(corpus)
    async with fresh_database() as url:
        with TemporaryDirectory() as folder:
            async with open_application(settings_for(url, data_dir=Path(folder))) as house:
                people = await gather_people(house)
                share = await measure_writing(house, people.other, writes) if writes else 1.0
                await fill(url, corpus, people, rows, companies)
                print(f"{await chores.count_words(house.services)} words with statistics")
                wrong = [
                    one
                    async for one in index_check.verify(
                        house.services.database, house.services.compute, UUID(people.small.org_id)
                    )
                ]
                assert not wrong, wrong[:3]
        tantivy = by_tantivy(corpus, people, rows, companies)
        async with (
            atrium(url).on(None) as server,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client,
        ):
            answers = over_http(client, people)
            for kind, q in questions.items():
                await asyncio.gather(*(answers(who, kind, q) for who in ASKING))
            ours = await ask(answers, questions, rounds, await spent_by(server))
            theirs = await ask(tantivy, questions, rounds, time.process_time) if tantivy else None
    fine = report(questions, ours, theirs)
    return 0 if share >= LEAST_RATE and fine else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--companies", type=int, default=500)
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--backfill", type=int, default=0)
    options = parser.parse_args()
    if options.backfill:
        raise SystemExit(asyncio.run(backfill(options.backfill)))
    raise SystemExit(asyncio.run(main(options.rows, options.rounds, options.companies, options.writes)))

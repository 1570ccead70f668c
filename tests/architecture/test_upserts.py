"""No upsert can fail on a key that it does not name.

`ON CONFLICT (columns)` waits for a second writer by the key that it names alone: where another key of the table has the same
columns and more, PostgreSQL may notice that one first and refuses the row.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.architecture.source import SOURCE
from tests.postgres import fresh_database, run_as_owner

Keys = Mapping[str, Iterable[frozenset[str]]]
UPSERT = re.compile(r"INSERT INTO (\w+)(?:(?!INSERT INTO).)*?ON CONFLICT \(([\w, ]+)\)", re.DOTALL)
KEYS = """
  SELECT c.relname AS "table", array_agg(a.attname::text) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
   WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace GROUP BY c.relname, i.indexrelid
"""


def loose(text: str, keys: Keys) -> Iterator[str]:
    """Upserts of a text by a key beside which there is a wider one."""
    for table, columns in UPSERT.findall(text):
        named = frozenset(re.split(r", *", columns))
        if any(named < other for other in keys.get(table, ())):
            yield f"{table} ({columns})"


async def test_no_upsert_names_one_of_two_keys_with_the_same_columns() -> None:
    keys = defaultdict[str, list[frozenset[str]]](list)
    async with fresh_database() as url:
        for row in await run_as_owner(url, KEYS):
            keys[row["table"]].append(frozenset(row["columns"]))
    texts = {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}

    assert sum(len(UPSERT.findall(text)) for text in texts.values()) >= 30
    assert {path: found for path, text in texts.items() if (found := list(loose(text, keys)))} == {}


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("INSERT INTO things (a, b) VALUES (1, 2) ON CONFLICT (a, b) DO NOTHING", ["things (a, b)"]),
        ("INSERT INTO things (a, b) VALUES (1, 2) ON CONFLICT DO NOTHING", []),
        ("INSERT INTO things (a, b) VALUES (1, 2) ON CONFLICT (a, b, c) DO NOTHING", []),
        ("INSERT INTO others (a, b) VALUES (1, 2) ON CONFLICT (a, b) DO NOTHING", []),
    ],
)
def test_a_planted_upsert_is_judged(sql: str, found: list[str]) -> None:
    assert list(loose(sql, {"things": [frozenset("ab"), frozenset("abc")]})) == found

"""A statement names tables and functions of its own domain or of one on a lower line, or stands here with its reason."""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from atrium.kit.postgres.migrate import Migration, read_migrations
from tests.architecture.plan import listed, unlisted
from tests.architecture.source import FLOORS, Module, module_of, modules, texts_of

OWNER = re.compile(r"-- owner: (\w+)\n")
TAKES = re.compile(r"^-- takes: (.+)$", re.MULTILINE)
MADE = re.compile(r"^CREATE (?:UNLOGGED )?(?:OR REPLACE )?(?:TABLE|FUNCTION|PROCEDURE) (\w+)", re.MULTILINE)
# In SQL's own spelling, so that a sentence which says "from notes" is none.
SQL = re.compile(r"\b(?:SELECT|FROM|JOIN|INTO|UPDATE|DELETE|WHERE|EXISTS|CALL)\b")
WORD = re.compile(r"(?<![:.\w'])[a-z_][a-z0-9_]*")
_ACTOR = "who did it, by name: audit stands below everything that records, so nothing above could be asked for the name"
_RUNNING = "how many jobs run is counted once, where they are claimed; usage shows that count and keeps none of its own"
# path: (table, why it is named there). An entry that is not needed fails.
LISTED = {
    "ground/audit/store.py": {
        "users": _ACTOR,
        "orgs": "every company there is gets checked: a chain that was cut off whole leaves no other trace",
    },
    "ground/identity/credential_rows.py": {
        "find_worker": "one lookup tells every credential; it runs as the directory's role and hands out a principal, no row",
    },
    "ground/quotas/store.py": {
        "job_teams": _RUNNING,
        "job_orgs": _RUNNING,
    },
    "kit/postgres/credential_hold.py": {
        "lock_people": "the round trip that begins a transaction holds the people it ends; which ones, its caller says",
    },
}
# A domain that became several after its migrations were written, and whose its tables are since.
PARTED = {
    "turns": "turns",
    "turn_pieces": "turns",
    "turn_processes": "turns",
    "agent_runs": "agent",
    "agent_calls": "agent",
}


@cache
def owners() -> dict[str, str]:
    """Which domain each table and function belongs to: whose migration made it first, or took it over later."""
    found = {"schema_migrations": "kit"}
    for migration in read_migrations():
        owner = owner_of(migration)
        found |= {name: owner for name in MADE.findall(migration.text) if name not in found}
        found |= {name: owner for names in TAKES.findall(migration.text) for name in names.split(", ")}
    return found | PARTED


def owner_of(migration: Migration) -> str:
    line = OWNER.match(migration.text)
    assert line, f"{migration.name} does not say whose it is"
    return line[1]


@cache
def lines() -> dict[str, int]:
    """How high each domain stands; kit below all of them."""
    stacked = [line for floor in FLOORS for line in (*listed()[floor], unlisted()[floor])]
    return {room: height for height, line in enumerate(stacked, 1) for room in line} | {"kit": 0}


def home_of(module: Module) -> str | None:
    """The domain of a module; None above all domains, where everything may be named."""
    if module.domain:
        return module.domain[1]
    return "kit" if module.parts[0] in ("kit", "seams") else None


def named_in(module: Module) -> Iterator[str]:
    """Every table or function that a statement names."""
    for text in texts_of(module):
        if SQL.search(text):
            yield from owners().keys() & set(WORD.findall(text))


def foreign_tables(module: Module) -> Iterator[str]:
    home = home_of(module)
    for name in sorted(set(named_in(module))) if home else ():
        owner = owners()[name]
        if owner != home and lines()[owner] >= lines()[home or ""]:
            yield f"{module.path}: {name} belongs to {owner}"


def test_every_statement_names_what_its_domain_may_know() -> None:
    found = {text for module in modules() for text in foreign_tables(module)}
    listed = {f"{path}: {name} belongs to {owners()[name]}" for path, names in LISTED.items() for name in names}

    assert found == listed


def test_the_statements_and_their_owners_are_really_read() -> None:
    named = {name for module in modules() for name in named_in(module)}

    assert {"notes", "users", "instance", "jobs", "claim_jobs", "find_principal"} <= named
    assert set(owners().values()) <= lines().keys()
    assert owners()["instance"] == "tenancy"


@pytest.mark.parametrize(
    ("path", "sql", "sound"),
    [
        ("product/notes/store.py", "SELECT id FROM branding", True),
        ("product/notes/store.py", "SELECT s.id FROM s3_keys s", False),
        ("product/notes/store.py", "SELECT n.id FROM notes n JOIN users u ON u.id = n.owner_id", True),
        ("ground/tenancy/store.py", "SELECT id FROM teams, users", False),
        ("ground/identity/store.py", "SELECT default_locale FROM instance", True),
        ("ground/access/store.py", "SELECT 1 WHERE EXISTS (SELECT FROM instance)", False),
        ("engine/repository/store.py", "SELECT FROM claim_jobs(:pools)", False),
        ("kit/postgres/database.py", "SELECT id FROM orgs", False),
        ("commands/check.py", "SELECT id FROM orgs", True),
        ("ground/access/model.py", "the users of other teams", True),
    ],
)
def test_a_planted_statement_is_judged(path: str, sql: str, sound: bool) -> None:
    assert (not [*foreign_tables(module_of(path, f"TEXT = {sql!r}"))]) is sound

"""The house keeps its shape: every domain alike, SQL at home, other domains entered by their verbs."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.architecture import plan
from tests.architecture.source import (
    FLOORS,
    Module,
    attributes_of,
    imports_of,
    module_of,
    modules,
    texts_of,
    undocumented,
)

Rule = Callable[[Module], Iterator[str]]
# Names that say nothing about what is inside.
VAGUE = {"base", "common", "core", "data", "helpers", "info", "manager", "misc", "shared", "util", "utils"}
SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|MERGE INTO)\b|^\s*(select|insert|update|delete)\s")
SQL_HOMES = {
    "ground/sharing/rule.py": "writes conditions that every store of a shared thing puts into its statements",
    "kit/postgres/database.py": "asks whether PostgreSQL answers, and deletes what is old",
    "kit/postgres/credential_hold.py": "what a transaction begins with",
    "kit/postgres/migrate.py": "keeps the ledger of migrations",
    "kit/postgres/presence.py": "takes the lock that says a process is there",
    "kit/postgres/server_health.py": "asks PostgreSQL about itself",
    "kit/postgres/snapshots.py": "names the instant that a dump reads too",
    "boot/postgres.py": "creates the database of a private PostgreSQL",
}
SYSTEM = {
    "seams/context.py": "the way to a system transaction",
    "seams/retention.py": "deletes old rows of every company, without reading them",
    "admin/instance/service.py": "first run, configuration and counts, before or above any company",
    "commands/blobs.py": "re-hashes the bytes of every company",
    "engine/repository/multipart.py": "finds uploads that nobody came back for, in every company",
    "engine/jobs/attempts.py": "takes turns between the teams of every company",
    "product/localization/chores.py": "looks at the catalogs on disk, and forgets messages that were retired long ago",
    "engine/workflows/chores.py": "forgets old runs of every company, without reading them",
    "product/search/chores.py": "finds what the index has not read yet, and counts words, in every company",
    "commands/quotas.py": "compares what every company is counted to store with what is there",
    "commands/search.py": "compares the index of every company with what it is made of",
    "product/onboarding/funnel.py": "finds whose the sign-up form is, before anybody is known",
    "product/onboarding/chores.py": "finds whose the sign-up form is, before anybody is known",
    "admin/hosting/invitations.py": "founds the company of a person who was accepted",
    "product/triggers/history.py": "deletes the history of a trigger that is being deleted, without reading it",
    "engine/turns/lost_turns.py": "finds turns of dead processes, in every company",
    "engine/turns/upkeep.py": "stores what the models of every company say, without reading it, and finds turns to stop",
    "engine/executors/health_checks.py": "machines belong to the instance, and serve many companies",
    "engine/executors/pulled.py": "machines belong to the instance, and serve many companies",
    "engine/executors/service.py": "machines belong to the instance, and serve many companies",
    "engine/executors/turns.py": "machines belong to the instance, and serve many companies",
    "engine/executors/workers.py": "machines belong to the instance, and serve many companies",
    "engine/jobs/dispatcher.py": "claims for workers that serve many companies",
    "engine/jobs/child_jobs.py": "drops jobs that something in any company left behind",
    "engine/jobs/remote.py": "finds the company of a job that a worker holds",
    "engine/jobs/reaper.py": "finds lapsed leases and old jobs, in every company",
    "engine/jobs/service.py": "counts what waits, in every company",
    "engine/jobs/runner.py": "keeps the leases of attempts of every company",
    "engine/repository/release.py": "finds bytes to release, in every company",
    "ground/sharing/grants.py": "finds and forgets grants that ended, in every company, without reading them",
    "ground/sharing/trash.py": "finds what has been in the trash for long enough, in every company",
    "ground/quotas/service.py": "forgets old holds and enters what was noted, in every company",
    "ground/tenancy/service.py": "asks whose a hostname is, before anybody is known",
    "admin/companies/operators.py": "the operators' plane over all companies",
    "admin/hosting/service.py": "the host acts from outside the tenant",
    "ground/limits/service.py": "counts strangers, before anybody is known",
    "ground/identity/login.py": "finds an account by its name, before its company is known",
    "ground/identity/resets.py": "a link is found, or made at the machine, before its person's company is known",
    "ground/identity/service.py": "forgets expired credentials and seals seeds again, in every company",
    "ground/identity/two_factor.py": "an operator revokes a person's second factor, in any company",
    "ground/audit/chain_keys.py": "keeps the keys of every company's chain",
    "ground/audit/sealer.py": "chains the events of every company",
    "ground/audit/chain_check.py": "checks the events of every company",
    "ground/audit/service.py": "lists the end of every company's chain",
    "product/changes/hub.py": "finds companies that have something new, without reading it, and wakes the other processes",
    "product/branding/service.py": "the instance's own look",
    "product/s3/service.py": "seals secrets again, in every company",
    "product/localization/service.py": "reads the instance's language for somebody not signed in",
    "product/console/service.py": "reads the instance's language for somebody not signed in",
}
# A file that grows past this holds a second noun, which has a module of its own.
MOST_LINES = 400
# A domain's own business: its rows, and what the wiring plugs in.
INNER = {"chores", "handlers", "jobs", "listeners", "store", "tools"}


def holds_rows(module: Module) -> bool:
    """Whether it is a store: a domain's first, or that of a further noun."""
    return module.parts[-1] == "store" or module.parts[-1].endswith("_rows")


def vague_names(module: Module) -> Iterator[str]:
    if module.parts[-1] in VAGUE:
        yield f"{module.path}: a module is a noun of its domain"


def long_files(module: Module) -> Iterator[str]:
    if module.lines > MOST_LINES:
        yield f"{module.path}: {module.lines} lines; find the second noun in it"


def sql_abroad(module: Module) -> Iterator[str]:
    if not holds_rows(module) and module.path not in SQL_HOMES:
        yield from (f"{module.path}: {text[:60]!r}" for text in texts_of(module) if SQL.search(text))


def side_entrances(module: Module) -> Iterator[str]:
    if module.path == "boot/wiring.py":  # plugs in every domain's handlers
        return
    for imported in imports_of(module):
        elsewhere = imported[0] in FLOORS and imported[:2] != module.domain
        if elsewhere and len(imported) > 2 and (imported[2] in INNER or imported[2].endswith("_rows")):
            yield f"{module.path}: {'.'.join(imported)} is that domain's own business"


def unplanned_imports(module: Module) -> Iterator[str]:
    listed = set().union(*plan.listed()[module.domain[0]]) if module.domain else set()
    for imported in imports_of(module) if module.domain else ():
        neighbour = imported[0] == module.domain[0] and imported[1:2] not in ((), module.domain[1:2])
        if neighbour and imported[1] not in listed:
            yield f"{module.path}: {'.'.join(imported[:2])} has no line in the floor plan of pyproject.toml yet"


def second_homes(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{module.path}: hands {one.name} on" for one in node.names if one.asname == one.name)


def system_transactions(module: Module) -> Iterator[str]:
    if "begin_system" in attributes_of(module) and module.path not in SYSTEM:
        yield f"{module.path}: opens a system transaction"


def forged_records(module: Module) -> Iterator[str]:
    """A result counts as recorded by what the call's record did in a transaction, and is made in that one place."""
    made = (node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    if module.path != "seams/context.py" and any(ast.unparse(one).startswith("RecordedResult") for one in made):
        yield f"{module.path}: makes a RecordedResult without recording anything"


def environment(module: Module) -> Iterator[str]:
    # The minder is a program of its own, and passes on what it was given; processes for heavy work are given what Python needs.
    if attributes_of(module) & {"environ", "getenv", "putenv"} and module.path not in {
        "seams/settings.py",
        "kit/work/compute.py",
        "kit/isolation/process_guard.py",
    }:
        yield f"{module.path}: touches the environment"


def silent(module: Module) -> Iterator[str]:
    # A store's function is its name and its statement; the server's hooks are documented where they come from.
    if not holds_rows(module) and module.path not in {"boot/connection.py", "boot/serve.py"}:
        yield from undocumented(module)


RULES: list[Rule] = [
    vague_names,
    long_files,
    sql_abroad,
    side_entrances,
    unplanned_imports,
    second_homes,
    system_transactions,
    forged_records,
    environment,
    silent,
]


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    assert [text for module in modules() for text in rule(module)] == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (vague_names, "product/notes/helpers.py", ""),
        (long_files, "product/notes/service.py", "\n" * (MOST_LINES + 1)),
        (sql_abroad, "product/notes/service.py", "ALL = 'SELECT id FROM notes'"),
        (sql_abroad, "product/notes/handlers.py", "async def f(db): await db.run(f'DELETE FROM notes WHERE {x}')"),
        (sql_abroad, "edge/app.py", "q = 'select 1'"),
        (side_entrances, "engine/tools/service.py", "from atrium.ground.audit import store"),
        (side_entrances, "engine/tools/service.py", "from atrium.ground.audit.store import insert_event"),
        (side_entrances, "edge/app.py", "import atrium.engine.jobs.queue_rows"),
        (side_entrances, "boot/serve.py", "from atrium.product.notes.handlers import create_note"),
        (unplanned_imports, "product/notes/service.py", "from atrium.product.greetings import service as greetings"),
        (second_homes, "product/notes/service.py", "from atrium.product.notes.trash import purge as purge"),
        (system_transactions, "product/notes/service.py", "async def f(op): op.begin_system()"),
        (forged_records, "product/notes/tools.py", "async def f(op, arguments): return RecordedResult[str]('x')"),
        (environment, "product/notes/service.py", "import os\nHOME = os.environ['HOME']"),
        (environment, "product/notes/service.py", "from os import getenv"),
        (silent, "product/notes/__init__.py", ""),
        (silent, "product/notes/service.py", "'''Words.'''\nasync def share_note(): ..."),
        (silent, "product/notes/service.py", "'''Words.'''\nclass Note:\n '''A note.'''\n def etag(self): ..."),
    ],
)
def test_a_planted_breach_is_found(rule: Rule, path: str, text: str) -> None:
    assert [*rule(module_of(path, text))] != []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (long_files, "product/notes/service.py", "\n" * MOST_LINES),
        (sql_abroad, "product/notes/service.py", "'''We SELECT nothing here.'''\nHINT = 'Select a note to update it'"),
        (side_entrances, "product/notes/service.py", "from atrium.product.notes import store"),
        (unplanned_imports, "product/greetings/service.py", "from atrium.product.notes import service as notes"),
        (unplanned_imports, "boot/assemble.py", "from atrium.product.greetings import service as greetings"),
        (side_entrances, "product/notes/service.py", "from atrium.ground.audit import service as audit"),
        (
            forged_records,
            "product/notes/tools.py",
            "async def f(ctx) -> RecordedResult[str]: return await ctx.record_result('x')",
        ),
        (silent, "product/notes/service.py", "'''Words.'''\nasync def _helper(): ..."),
    ],
)
def test_what_is_in_order_passes(rule: Rule, path: str, text: str) -> None:
    assert [*rule(module_of(path, text))] == []


def unneeded(listed: Iterable[str], needs: Callable[[Module], bool]) -> set[str]:
    return set(listed) - {module.path for module in modules() if needs(module)}


def test_no_list_has_an_entry_that_is_not_needed() -> None:
    assert unneeded(SQL_HOMES, lambda module: any(SQL.search(text) for text in texts_of(module))) == set()
    assert unneeded(SYSTEM, lambda module: "begin_system" in attributes_of(module)) == set()


def test_every_domain_says_what_it_owns() -> None:
    domains = [module for module in modules() if module.domain and module.parts[2] == "__init__"]

    assert len(domains) >= 11
    for module in domains:
        assert re.search(r"Owns (no table|tables? `|`)", ast.get_docstring(module.tree) or ""), module.path

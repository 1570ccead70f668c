"""The house keeps its shape: every domain alike, SQL at home, other domains entered by their door."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.house.source import FLOORS, Module, attributes_of, imports_of, module_of, modules, texts_of, undocumented

Rule = Callable[[Module], Iterator[str]]
SHAPE = {"__init__", "model", "store", "service", "handlers", "tools", "jobs", "listeners"}
# Specialists: a domain's further nouns. A new one is a decision; it is written down here.
SPECIALISTS = {
    "ground/identity": {"login", "sessions", "two_factor"},
    "ground/audit": {"sealer"},
    "ground/tenancy": {"domains"},
    "engine/repository": {
        "blob_rows",
        "content",
        "extractor",
        "keyed_rows",
        "listings",
        "part_rows",
        "parts",
        "reach",
        "release",
        "sharing",
        "text",
        "texts",
        "uploads",
        "verification",
        "writing",
    },
    "engine/executors": {"estimating", "probing", "simulated", "turns", "wire"},
    "engine/jobs": {"claiming", "dispatcher", "queue_rows", "reaper", "remote", "runner", "settling"},
    "admin/companies": {"operators"},
    "admin/instance": {"samples"},
    "admin/plugins": {"loader", "manifest"},
    "product/branding": {"colour", "logo", "theme", "tokens"},
    "product/console": {"assets", "page"},
    "product/s3": {
        "ask",
        "buckets",
        "checksums",
        "chunks",
        "cors",
        "credentials",
        "deleting",
        "forms",
        "gateway",
        "listing",
        "multipart",
        "payload",
        "policy",
        "putting",
        "reading",
        "refusals",
        "replies",
        "sigv2",
        "sigv4",
        "tags",
        "xml",
    },
}
SQL = re.compile(r"\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|MERGE INTO)\b|^\s*(select|insert|update|delete)\s")
SQL_HOMES = {
    "kit/database.py": "asks whether PostgreSQL answers",
    "kit/migrate.py": "keeps the ledger of migrations",
    "boot/examine.py": "looks whether the serving role is weak enough",
    "boot/up.py": "creates the database of a private PostgreSQL",
}
SYSTEM = {
    "seams/context.py": "the way to a system transaction",
    "admin/instance/service.py": "first run, configuration and counts, before or above any company",
    "boot/blobs.py": "re-hashes the bytes of every company",
    "engine/repository/parts.py": "finds uploads that nobody came back for, in every company",
    "engine/jobs/claiming.py": "takes turns between the teams of every company",
    "engine/executors/probing.py": "machines belong to the instance, and serve many companies",
    "engine/executors/service.py": "machines belong to the instance, and serve many companies",
    "engine/executors/turns.py": "machines belong to the instance, and serve many companies",
    "engine/jobs/dispatcher.py": "claims for workers that serve many companies",
    "engine/jobs/remote.py": "finds the company of a job that a worker holds",
    "engine/jobs/reaper.py": "finds lapsed leases and old jobs, in every company",
    "engine/jobs/runner.py": "keeps the leases of attempts of every company",
    "engine/repository/release.py": "finds bytes to release, in every company",
    "engine/repository/service.py": "forgets grants that ended, in every company",
    "engine/repository/texts.py": "finds versions whose text is due, in every company",
    "ground/quotas/service.py": "forgets old holds and enters what was noted, in every company",
    "ground/tenancy/service.py": "asks whose a hostname is, before anybody is known",
    "admin/companies/operators.py": "the operators' plane over all companies",
    "admin/hosting/service.py": "the host acts from outside the tenant",
    "ground/limits/service.py": "counts strangers, before anybody is known",
    "ground/identity/login.py": "finds an account by its name, before its company is known",
    "ground/identity/service.py": "forgets expired credentials and seals seeds again, in every company",
    "ground/identity/two_factor.py": "an operator revokes a person's second factor, in any company",
    "ground/audit/sealer.py": "chains and checks the events of every company",
    "ground/audit/service.py": "lists the end of every company's chain",
    "ground/idempotency/service.py": "forgets old replies, in every company",
    "product/branding/service.py": "the instance's own look",
    "product/s3/service.py": "seals secrets again, in every company",
    "product/localization/service.py": "reads the instance's language for somebody not signed in",
    "product/console/service.py": "reads the instance's language for somebody not signed in",
}
DOORS = {"service", "model"}
# A store that outgrew one file has its second noun beside it.
STORES = {"store", "blob_rows", "keyed_rows", "listings", "part_rows", "queue_rows"}


def stray_names(module: Module) -> Iterator[str]:
    if module.domain and module.parts[2] not in SHAPE | SPECIALISTS.get("/".join(module.domain), set()):
        yield f"{module.path}: no domain has a module of this name"


def sql_abroad(module: Module) -> Iterator[str]:
    if module.parts[-1] not in STORES and module.path not in SQL_HOMES:
        yield from (f"{module.path}: {text[:60]!r}" for text in texts_of(module) if SQL.search(text))


def side_entrances(module: Module) -> Iterator[str]:
    if module.path == "boot/wiring.py":  # plugs in every domain's handlers
        return
    for imported in imports_of(module):
        elsewhere = imported[0] in FLOORS and imported[:2] != module.domain
        if elsewhere and len(imported) > 2 and imported[2] not in DOORS:
            yield f"{module.path}: enters {'.'.join(imported)} past its door"


def system_transactions(module: Module) -> Iterator[str]:
    if "begin_system" in attributes_of(module) and module.path not in SYSTEM:
        yield f"{module.path}: opens a system transaction"


def environment(module: Module) -> Iterator[str]:
    if attributes_of(module) & {"environ", "getenv", "putenv"} and module.path != "kit/settings.py":
        yield f"{module.path}: touches the environment"


def silent(module: Module) -> Iterator[str]:
    # A store's function is its name and its statement; the server's hooks are documented where they come from.
    if module.parts[-1] not in STORES and module.path not in {"boot/serve.py"}:
        yield from undocumented(module)


RULES: list[Rule] = [stray_names, sql_abroad, side_entrances, system_transactions, environment, silent]


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    assert [text for module in modules() for text in rule(module)] == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (stray_names, "product/notes/helpers.py", ""),
        (sql_abroad, "product/notes/service.py", "ALL = 'SELECT id FROM notes'"),
        (sql_abroad, "product/notes/handlers.py", "async def f(db): await db.run(f'DELETE FROM notes WHERE {x}')"),
        (sql_abroad, "edge/app.py", "q = 'select 1'"),
        (side_entrances, "engine/tools/service.py", "from atrium.ground.audit import store"),
        (side_entrances, "engine/tools/service.py", "from atrium.ground.audit.store import insert_event"),
        (side_entrances, "edge/app.py", "import atrium.ground.identity.login"),
        (system_transactions, "product/notes/service.py", "async def f(op): op.begin_system()"),
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
        (sql_abroad, "product/notes/service.py", "'''We SELECT nothing here.'''\nHINT = 'Select a note to update it'"),
        (side_entrances, "product/notes/service.py", "from atrium.product.notes import store"),
        (side_entrances, "product/notes/service.py", "from atrium.ground.audit import service as audit"),
        (silent, "product/notes/service.py", "'''Words.'''\nasync def _helper(): ..."),
    ],
)
def test_what_is_in_order_passes(rule: Rule, path: str, text: str) -> None:
    assert [*rule(module_of(path, text))] == []


def unneeded(listed: Iterable[str], needs: Callable[[Module], bool]) -> set[str]:
    return set(listed) - {module.path for module in modules() if needs(module)}


def test_no_list_has_an_entry_that_is_not_needed() -> None:
    specialists = {f"{domain}/{name}.py" for domain, names in SPECIALISTS.items() for name in names}

    assert unneeded(specialists, lambda module: True) == set()
    assert unneeded(SQL_HOMES, lambda module: any(SQL.search(text) for text in texts_of(module))) == set()
    assert unneeded(SYSTEM, lambda module: "begin_system" in attributes_of(module)) == set()


def test_every_domain_says_what_it_owns() -> None:
    domains = [module for module in modules() if module.domain and module.parts[2] == "__init__"]

    assert len(domains) >= 11
    for module in domains:
        assert re.search(r"Owns (no table|tables? `|`)", ast.get_docstring(module.tree) or ""), module.path

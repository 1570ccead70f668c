"""Every statement on a company's table names the company, or stands here with the reason why not."""

import ast
import importlib
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from atrium.engine.repository.model import OBJECTS
from atrium.kit.postgres.migrate import read_migrations
from tests.architecture.source import Module, module_of, modules
from tests.walls.catalog import INSTANCE_WIDE

VERBS = {"one", "all", "value", "rows", "run", "run_unless_taken"}
CREATED = re.compile(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", re.MULTILINE)
TENANT = {name for migration in read_migrations() for name in CREATED.findall(migration.text)} - INSTANCE_WIDE.keys()
TOUCHED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")
FENCED = re.compile(r"\borg_id = |INSERT INTO \w+(?: AS \w+)? \([^)]*\borg_id\b")
_OF_ONE_PERSON = "by a person's id, which the caller has from their own credential; PostgreSQL's wall stands behind it"
_OPERATORS = "the operators' plane; runs in a system transaction"
_OF_ALL = "runs in a system transaction, over every company"
_WHOLE = "a backup is of every company; runs as the login that makes or restores it, outside the serving process's role"
# domain.function: the reason. An entry that is not needed fails.
_MOVED = "what is taken on the whole instance; runs as the owner, for a person at the machine"
UNFENCED = {
    "moving.find_company": _MOVED,
    "moving.lock_company": "by the company's own id",
    "moving.mark_leaving": "by the company's own id",
    "moving.unmark": "by the company's own id",
    "moving.list_presented": "its last statement is by the company's own id",
    "moving.count_companies": _MOVED,
    "moving.is_taken": _MOVED,
    "moving.is_host_taken": _MOVED,
    "moving.list_taken_usernames": _MOVED,
    "moving.list_known": _MOVED,
    "backups.list_heads": _WHOLE,
    "backups.has_people": _WHOLE,
    "sharing.forget_grants": _OF_ALL,
    "sharing.list_ended": _OF_ALL,
    "search.list_moved": _OF_ALL,
    "changes.forget": _OF_ALL,
    "identity.list_standing_roles": "by the credentials' own ids, of every company; runs in a system transaction",
    "localization.forget_retired": _OF_ALL,
    "tenancy.list_org_ids": _OF_ALL,
    "hosting.is_redeemable": "by the link's own digest, before anybody has signed in; runs in a system transaction",
    "hosting.redeem": "by the link's own digest, before anybody has signed in; runs in a system transaction",
    "quotas.forget_holds": _OF_ALL,
    "audit.read_oldest_unsealed": _OF_ALL,
    "turns.list_lost": _OF_ALL,
    "turns.list_to_stop": _OF_ALL,
    "turns.forget_turns": _OF_ALL,
    "turns.delete_pieces": _OF_ALL,
    "turns.forget_processes": _OF_ALL,
    "translation.forget_translations": _OF_ALL,
    "quotas.list_companies_with_entries": _OF_ALL,
    "tenancy.find_org_by_slug": _OPERATORS,
    "tenancy.list_orgs": _OPERATORS,
    "tenancy.lock_org": _OPERATORS,
    "tenancy.list_org_names": "by the companies' own ids",
    "tenancy.rename_org": _OPERATORS,
    "tenancy.set_domain": _OPERATORS,
    "tenancy.set_plan": _OPERATORS,
    "tenancy.set_suspended": _OPERATORS,
    "identity.find_account_by_name": "sign-in names no company; runs in a system transaction",
    "identity.take_failed_sign_ins": _OF_ALL,
    "identity.forget_failed_sign_ins": _OF_ALL,
    "identity.find_account": _OF_ONE_PERSON,
    "identity.update_profile": _OF_ONE_PERSON,
    "identity.set_password": _OF_ONE_PERSON,
    "identity.set_totp": _OF_ONE_PERSON,
    "identity.clear_totp": _OF_ONE_PERSON,
    "identity.spend_step": _OF_ONE_PERSON,
    "identity.replace_recovery_codes": _OF_ONE_PERSON,
    "identity.delete_recovery_codes": _OF_ONE_PERSON,
    "identity.spend_recovery_code": _OF_ONE_PERSON,
    "identity.count_recovery_codes": _OF_ONE_PERSON,
    "identity.hold_account": _OF_ONE_PERSON,
    "identity.find_reset": "by the link's own digest, before anybody has signed in; runs in a system transaction",
    "identity.forget_resets": _OF_ALL,
    "identity.end_tokens": _OF_ONE_PERSON,
    "identity.count_tokens_of": _OF_ONE_PERSON,
    "identity.end_sessions": _OF_ONE_PERSON,
    "identity.end_credentials": _OF_ONE_PERSON,
    "identity.list_standing": _OF_ALL,
    "s3.list_standing": _OF_ALL,
    "identity.reseal_totp": _OF_ALL,
    "identity.list_sealed_totp": _OF_ALL,
    "s3.list_sealed": _OF_ALL,
    "s3.reseal": _OF_ALL,
    "identity.forget_tokens": _OF_ALL,
    "identity.count_users": _OF_ALL,
    "identity.count_tokens": _OF_ALL,
    "idempotency.forget_keys": _OF_ALL,
    "audit.list_exported": _OF_ALL,
    "audit.list_orgs_with_events": _OF_ALL,
    "audit.list_unsealed": _OF_ALL,
    "audit.count_events": _OF_ALL,
    "tenancy.insert_org": "makes the company",
    "tenancy.find_org": "by the company's own id",
    "tenancy.count_orgs": _OF_ALL,
    "tenancy.count_teams": _OF_ALL,
    "notes.count_notes": _OF_ALL,
}
# Rows beside a store that came out of one.
BESIDE = {
    "engine/jobs/attempt_rows.py",
    "ground/identity/credential_rows.py",
    "product/localization/draft_rows.py",
    "product/localization/import_rows.py",
}


def statements_in(module: Module, names: ModuleType) -> Iterator[tuple[str, str]]:
    """Each function's name with each statement it hands to its transaction."""
    for function in module.tree.body:
        if isinstance(function, ast.AsyncFunctionDef):
            for call in ast.walk(function):
                if _runs_sql(call):
                    yield f"{module.parts[-2]}.{function.name}", _text_of(call, function, names)


def _runs_sql(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in VERBS
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "db"
    )


def _text_of(call: ast.AST, function: ast.AsyncFunctionDef, names: ModuleType) -> str:
    assert isinstance(call, ast.Call)
    position = 1 if isinstance(call.func, ast.Attribute) and call.func.attr in ("one", "all") else 0
    # A statement chosen by the function's own arguments is looked at in the first of its forms that can be made.
    for value in (True, False, "team", "object_id", OBJECTS):
        arguments = {argument.arg: value for argument in (*function.args.args, *function.args.kwonlyargs)}
        try:
            return str(eval(ast.unparse(call.args[position]), {**vars(names), **arguments}))
        except (TypeError, ValueError, KeyError, AttributeError):
            continue
    raise AssertionError(f"{function.name}: its statement cannot be read")


def names_company(sql: str) -> bool:
    """Whether a statement is about no company's table, or names the company."""
    return not TENANT & set(TOUCHED.findall(sql)) or FENCED.search(sql) is not None


def stores() -> Iterator[tuple[str, str]]:
    for module in modules():
        if module.parts[-1] == "store" or module.path in BESIDE:
            yield from statements_in(module, importlib.import_module("atrium." + ".".join(module.parts)))


def test_every_statement_names_the_company() -> None:
    found = {function for function, sql in stores() if not names_company(sql)}

    assert found == UNFENCED.keys()


def test_the_stores_are_really_read() -> None:
    assert len({function for function, _ in stores()}) >= 40


@pytest.mark.parametrize(
    ("sql", "fenced"),
    [
        ("SELECT id FROM notes WHERE id = :id", False),
        ("UPDATE notes SET title = :title", False),
        ("SELECT id, org_id FROM notes WHERE id = :id", False),
        ("SELECT id FROM instance", True),
        ("INSERT INTO notes (id, org_id) VALUES (:id, :org_id)", True),
        ("DELETE FROM notes WHERE org_id = :org_id AND id = :id", True),
    ],
)
def test_a_planted_statement_is_judged(sql: str, fenced: bool) -> None:
    text = f"SQL = {sql!r}\nasync def act(db, id):\n    return await db.one(int, SQL, id=id)\n"
    names = ModuleType("planted")
    names.__dict__.update(SQL=sql)

    [(function, found)] = statements_in(module_of("product/things/store.py", text), names)

    assert (function, names_company(found)) == ("things.act", fenced)

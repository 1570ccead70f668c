"""Who may read, write and manage a thing is said in `ground/sharing` and nowhere else."""

import ast
import re
from collections.abc import Iterator

import pytest

from atrium.kit.postgres.migrate import read_migrations
from tests.architecture.source import Module, module_of, modules, texts_of

HOME = "ground/sharing/"
SQL = re.compile(r"\b(?:SELECT|FROM|JOIN|INTO|UPDATE|DELETE|WHERE|EXISTS|AND|OR|CASE)\b")
RULE = {
    "grants": re.compile(r"\b(?:(?:note|object)_)?grants\b(?!\.)"),
    "visibility": re.compile(r"\bvisibility\s*(?:=|<>|!=|IN\b)"),
    "sharing columns": re.compile(r"\bSET\b[^;]*\b(?:trashed_at|trashed_by)\s*=", re.DOTALL),
}
# Migrations that spelled it before there was one place.
LAST_OLD_MIGRATION = 105
INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX[^;]*;", re.DOTALL)


def breaches(module: Module) -> Iterator[str]:
    """What a module says about sharing that only its home may say."""
    if module.path.startswith(HOME):
        return
    for text in texts_of(module):
        if SQL.search(text):
            yield from (f"{module.path}: {name} in a statement" for name, rule in RULE.items() if rule.search(text))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(one, ast.Attribute) and one.attr == "visibility" for one in sides) and any(
                isinstance(one, ast.Constant) and isinstance(one.value, str) for one in sides
            ):
                yield f"{module.path}: a visibility is compared"


def migration_breaches(number: int, text: str) -> Iterator[str]:
    if number <= LAST_OLD_MIGRATION or text.startswith("-- owner: sharing\n"):
        return
    yield from (f"{number}: {name}" for name in ("visibility",) if RULE[name].search(INDEX.sub("", text)))


def test_the_rule_is_in_one_place() -> None:
    assert [line for module in modules() for line in breaches(module)] == []


def test_no_migration_spells_it() -> None:
    assert [line for one in read_migrations() for line in migration_breaches(int(one.name[:4]), one.text)] == []


@pytest.mark.parametrize(
    ("path", "text", "sound"),
    [
        ("product/notes/a.py", "TEXT = \"SELECT id FROM notes n WHERE n.visibility = 'team'\"", False),
        ("product/notes/a.py", 'TEXT = "SELECT FROM grants g WHERE g.org_id = :org_id"', False),
        ("product/notes/a.py", 'TEXT = "UPDATE notes SET trashed_at = now() WHERE id = :id"', False),
        ("product/notes/a.py", "def f(note): return note.visibility == 'team'", False),
        ("ground/sharing/rule.py", "TEXT = \"SELECT id FROM notes n WHERE n.visibility = 'team'\"", True),
        ("product/notes/a.py", 'TEXT = "SELECT n.visibility FROM notes n"', True),
        ("product/notes/a.py", 'TEXT = "INSERT INTO notes (visibility) VALUES (:visibility)"', True),
        ("product/notes/a.py", "def f(note, other): return note.visibility == other.visibility", True),
    ],
)
def test_a_planted_line_is_judged(path: str, text: str, sound: bool) -> None:
    assert (not [*breaches(module_of(path, text))]) is sound

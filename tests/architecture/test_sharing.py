"""Who may read, write and manage a thing is said in `ground/sharing` and nowhere else."""

import ast
import re
from collections.abc import Iterator

import pytest

from atrium.kit.postgres.migrate import read_migrations
from tests.architecture.source import Module, joined_texts_of, module_of, modules

HOME = "ground/sharing/"
SQL = re.compile(r"\b(?:SELECT|FROM|JOIN|INTO|UPDATE|DELETE|WHERE|EXISTS|AND|OR|CASE)\b")
RULE = {
    "grants": re.compile(r"\b(?:(?:note|object)_)?grants\b(?!\.)"),
    "visibility": re.compile(r"\bvisibility\s*(?:=|<>|!=|IN\b)"),
    "sharing columns": re.compile(
        r"\bSET\b(?:(?!\b(?:WHERE|FROM|RETURNING)\b)[^;])*\b(?:visibility|owner_id|trashed_at|trashed_by)\s*=",
        re.DOTALL,
    ),
}
# Migrations that spelled it before there was one place.
LAST_OLD_MIGRATION = 105
INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX[^;]*;", re.DOTALL)


def breaches(module: Module) -> Iterator[str]:
    """What a module says about sharing that only its home may say."""
    if module.path.startswith(HOME):
        return
    for text in joined_texts_of(module):
        if SQL.search(text):
            yield from (f"{module.path}: {name} in a statement" for name, rule in RULE.items() if rule.search(text))
    yield from (f"{module.path}: {found}" for node in ast.walk(module.tree) if (found := breach_of(node)))


def breach_of(node: ast.AST) -> str | None:
    """What a piece of code outside of statements says that it may not."""
    match node:
        case ast.Compare(left=left, comparators=others) if any(map(_is_visibility, (left, *others))):
            constant = any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in (left, *others))
            return "a visibility is compared" if constant else None
        case ast.Attribute(attr="grants"):
            return "a table of grants is looked up"
        case ast.Call(func=ast.Name(id="ThingsChanged") | ast.Attribute(attr="ThingsChanged")):
            return "a change is announced past `announce_change`"
        case _:
            return None


def _is_visibility(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "visibility"


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
        ("product/notes/a.py", "TEXT = \"UPDATE notes SET title = :title, visibility = 'team' WHERE id = :id\"", False),
        ("product/notes/a.py", 'TEXT = "UPDATE notes SET updated_by = :by, owner_id = :to WHERE id = :id"', False),
        ("product/notes/a.py", 'TEXT = f"UPDATE {TABLE} SET {COLUMN} = 1, owner_id = :to"', False),
        ("product/notes/a.py", 'TEXT = f"DELETE FROM {NOTES.grants.name} WHERE org_id = :org_id"', False),
        ("engine/repository/a.py", 'TEXT = "UPDATE object_grants g SET key = :key FROM moved"', False),
        (
            "engine/repository/a.py",
            "TEXT = f\"SELECT id FROM {TABLE} o WHERE o.visibility IN ('team', 'shared')\"",
            False,
        ),
        ("product/notes/a.py", "def f(note): return note.visibility == 'team'", False),
        ("product/notes/a.py", "def f(note): return 'private' != note.visibility", False),
        ("product/notes/a.py", "async def f(ctx): await ctx.announce(ThingsChanged(NOTES, [], 'shared'))", False),
        ("product/notes/a.py", "async def f(ctx): await ctx.announce(model.ThingsChanged(NOTES, [], 'shared'))", False),
        ("ground/sharing/rule.py", "TEXT = \"SELECT id FROM notes n WHERE n.visibility = 'team'\"", True),
        ("product/notes/a.py", 'TEXT = "SELECT n.visibility FROM notes n"', True),
        ("product/notes/a.py", 'TEXT = "INSERT INTO notes (visibility) VALUES (:visibility)"', True),
        ("product/notes/a.py", 'TEXT = "UPDATE notes SET title = :title WHERE owner_id = :owner_id"', True),
        ("product/notes/a.py", "async def f(ctx): await announce_change(ctx, NOTES, [], 'shared')", True),
        (
            "product/notes/a.py",
            "from atrium.ground.sharing import grants\nasync def f(ctx): await grants.give(ctx)",
            True,
        ),
        ("product/notes/a.py", "def f(note, other): return note.visibility == other.visibility", True),
    ],
)
def test_a_planted_line_is_judged(path: str, text: str, sound: bool) -> None:
    assert (not [*breaches(module_of(path, text))]) is sound

"""Pages about the code name what is there: functions and types, tables, tests; and they stay short."""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/atrium"
SUBSYSTEMS = sorted((ROOT / "docs/subsystems").glob("*.md"))
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "docs/glossary.md", ROOT / "docs/changing/index.md", *SUBSYSTEMS]
LONGEST = {"ARCHITECTURE.md": 120}
LONGEST_SUBSYSTEM = 60
# `engine/jobs/settlement.settle`, `edge/app.App._answer`: a module of the package by the end of its path, and a name that it defines.
_NAMED = re.compile(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+)\.([A-Za-z_]+(?:\.[A-Za-z_]+)?)(?:\([^`]*\))?`")
_FILE = re.compile(r"`((?:tests|migrations|src|console|plugins|benchmarks|locales)/[A-Za-z0-9_./-]+)`")
_TABLE_ROW = re.compile(r"^\| `([a-z0-9_]+)` \|", re.MULTILINE)
_ENDINGS = {"py", "sql", "md", "mjs", "ts", "tsx", "toml", "json", "yml"}


@lru_cache
def defined() -> dict[str, set[str]]:
    """The names at the top of each module of the package, and those of its classes; a package has those of its service too."""
    return {
        path.relative_to(SOURCE).with_suffix("").as_posix(): set(names_of(ast.parse(path.read_text())))
        for path in SOURCE.rglob("*.py")
    }


def names_of(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.append(name)
            case ast.ClassDef(name=name, body=body):
                found += [name, *(f"{name}.{one}" for one in names_of(ast.Module(body, [])))]
            case ast.Assign(targets=targets):
                found += [one.id for one in targets if isinstance(one, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.append(name)
            case _:
                pass
    return found


def is_there(module: str, name: str) -> bool:
    """Whether a module whose path ends so defines the name; a folder stands for its `__init__`, and for any file in it."""
    return any(
        name in names
        for path, names in defined().items()
        if f"/{path}".endswith((f"/{module}", f"/{module}/__init__")) or f"/{Path(path).parent}".endswith(f"/{module}")
    )


def missing_in(text: str) -> list[str]:
    """What a page names and the repository does not have."""
    gone = [
        f"{module}.{name}"
        for module, name in _NAMED.findall(text)
        if name not in _ENDINGS and not is_there(module, name)
    ]
    return gone + [path for path in _FILE.findall(text) if not list(ROOT.glob(f"{path}*"))]


@lru_cache
def tables() -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / "migrations").glob("*.sql")))


def is_table(name: str) -> bool:
    return re.search(rf"CREATE TABLE (IF NOT EXISTS )?{name}\b|RENAME TO {name}\b", tables()) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_function_type_and_file_that_a_page_names_is_there(page: Path) -> None:
    assert missing_in(page.read_text()) == []


@pytest.mark.parametrize("page", SUBSYSTEMS, ids=lambda page: page.name)
def test_every_table_of_a_subsystem_is_there(page: Path) -> None:
    assert [name for name in _TABLE_ROW.findall(page.read_text()) if not is_table(name)] == []


def test_every_type_and_table_of_the_glossary_is_there() -> None:
    in_brackets = re.findall(r"\(((?:`[^`]+`(?:, )?)+)\)", (ROOT / "docs/glossary.md").read_text())
    names = [name for group in in_brackets for name in re.findall(r"`([a-z_]+)`", group)]

    assert len(names) > 10
    assert [name for name in names if not is_table(name)] == []


def test_pages_about_the_code_stay_short() -> None:
    lines = {page: len(page.read_text().splitlines()) for page in (ROOT / "ARCHITECTURE.md", *SUBSYSTEMS)}

    assert [page.name for page, count in lines.items() if count > LONGEST.get(page.name, LONGEST_SUBSYSTEM)] == []


def test_what_a_page_names_wrongly_is_found() -> None:
    text = "`engine/jobs/settlement.settle` `engine/jobs/settlement.unsettle` `tests/walls` `tests/doors` `kit/work/compute.Compute.walk`"

    assert missing_in(text) == ["engine/jobs/settlement.unsettle", "kit/work/compute.Compute.walk", "tests/doors"]

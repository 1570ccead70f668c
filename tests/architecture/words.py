"""Plain words: sentences name their subject, and no page or name speaks of the program as a house.

`python -m tests.architecture.words` lists every line that is kept on purpose.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md", "changes/*.md", "worker/*.md", "client/*.md", "plugins/*/*.md", "benchmarks/*.md")
CODE = ("src/**/*.py", "worker/src/**/*.py", "plugins/**/*.py")
EXEMPT = {"CHANGELOG.md"}
# A sentence about one of these hides who acts.
SUBJECTS = re.compile(r"\b(?:whoever|nobody|somebody)\b", re.IGNORECASE)
IMAGE = {
    "house",
    "door",
    "bell",
    "ring",
    "rung",
    "rang",
    "room",
    "floor",
    "roof",
    "lobby",
    "attend",
    "overheard",
    "born",
}
# In sentences some of the image's words have a plain meaning as well: room for bytes, a floor of contrast.
IMAGE_IN_TEXT = re.compile(r"\b(?:houses?|doors?|bells?)\b", re.IGNORECASE)
# Fields of work that are called by a word in -ing; every other module is named by a noun.
FIELDS = {"branding", "hosting", "moving", "onboarding", "ranking", "sharing", "wiring"}
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

# Kept on purpose: the line's file and a part of it, and why.
KEPT: dict[tuple[str, str], str] = {
    ("src/atrium/ground/audit/sealer.py", "identifier ring"): "a ring of keys",
    ("src/atrium/ground/audit/chain_check.py", "identifier ring"): "a ring of keys",
    ("src/atrium/ground/audit/chain_check.py", "identifier _ring"): "a ring of keys",
    ("src/atrium/product/branding/theme.py", "identifier _below_the_floor"): "the lowest contrast a theme may have",
}


def sentences(path: str, text: str) -> Iterator[str]:
    """Lines that hide their subject, or speak of the house."""
    for line in _written(text) if path.endswith(".py") else text.splitlines():
        if SUBJECTS.search(line) or IMAGE_IN_TEXT.search(line):
            yield f"{path}: {line.strip()}"


def _written(code: str) -> Iterator[str]:
    """Lines of the docstrings, comments and messages."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from token.string.splitlines()


def identifiers(path: str, text: str) -> Iterator[str]:
    """Names out of the image, each once where it is made: classes, functions, parameters, variables, attributes, modules."""
    names = {name for node in ast.walk(ast.parse(text)) for name in _made(node)} | {Path(path).stem}
    for name in sorted(names):
        if {part.lower().removesuffix("s") for part in _PARTS.findall(name)} & IMAGE:
            yield f"{path}: identifier {name}"


def _made(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case _:
            return


def activities(path: str) -> Iterator[str]:
    """Modules and packages that are named by what goes on in them."""
    for part in Path(path).with_suffix("").parts:
        if part.endswith("ing") and part.rpartition("-")[2] not in FIELDS:
            yield f"{path}: module {part}"


def second_meanings(files: Iterable[tuple[str, str]]) -> list[str]:
    """Class names of the package that more than one module defines."""
    homes: dict[str, list[str]] = {}
    for path, text in files:
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path)
    return [f"class {name}: {', '.join(paths)}" for name, paths in sorted(homes.items()) if len(paths) > 1]


def is_kept(found: str) -> bool:
    """Whether a line is on the list."""
    return any(found.startswith(f"{path}: ") and part in found for path, part in KEPT)


def listed() -> list[str]:
    """Everything in the repository that these rules find, kept or not."""
    found: list[str] = []
    for pattern in (*PAGES, *CODE):
        for file in sorted(ROOT.glob(pattern)):
            path = str(file.relative_to(ROOT))
            if path in EXEMPT:
                continue
            text = file.read_text()
            found += sentences(path, text)
            found += [*identifiers(path, text), *activities(path)] if path.endswith(".py") else []
    return found


if __name__ == "__main__":
    lines = listed()
    print("\n".join(lines))
    print(f"{len(lines)} lines, {sum(map(is_kept, lines))} of them kept on purpose")

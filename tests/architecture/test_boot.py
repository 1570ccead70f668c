"""The house refuses to open when it disagrees with itself, and says everything that is wrong at once."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import grimp
import msgspec
import pytest

from atrium.boot import checks
from atrium.boot.assemble import BootRefused, assemble
from atrium.boot.checks import handlers_of, problems
from atrium.boot.wiring import DOMAINS
from atrium.routes import ROUTES
from atrium.seams.context import Context, Operation
from atrium.seams.routes import ANY, BEARER, DELETE, GET, POST, PUBLIC, EventStream, RawBody, Route
from atrium.seams.tools import Effect, Tool
from atrium.seams.wiring import Chore, Domain
from tests.support.servers import settings_for

pytestmark = pytest.mark.finding

ROOT = Path(__file__).parents[2]
Handler = Callable[..., Any]


async def read_thing(ctx: Context, id: str) -> str:
    """A handler in order."""
    return id


async def without_docstring(ctx: Context, id: str) -> str:
    return id


async def without_return(ctx: Context, id: str):  # type: ignore[no-untyped-def]
    """No annotation."""


async def without_context(id: str) -> str:
    """Nobody acts."""
    return id


async def with_body(ctx: Context, id: str, body: dict[str, str]) -> str:
    """A body where there is none."""
    return id


async def streaming_in(ctx: Context, id: str, body: RawBody) -> str:
    """Bytes flow while a transaction is open."""
    return id


async def streaming_out(ctx: Context, id: str) -> EventStream:
    """Events flow while a transaction is open."""
    raise NotImplementedError


class Confirmed(msgspec.Struct):
    """What a row that gives must take."""

    password: str | None = None


async def with_password(ctx: Context, id: str, body: Confirmed) -> str:
    """Takes the caller's password."""
    return id


async def open_to_all(op: Operation, id: str) -> str:
    """Public, and without a transaction."""
    return id


async def run_thing(db: object, principal: object, arguments: object) -> None:
    """A tool in order."""


def tool(name: str, effect: Effect | None = "read", permission: str = "chat:use") -> Tool:
    return Tool(name=name, description="Things.", permission=permission, effect=effect, run=run_thing)


ROW = GET("/things/:id", "things.read", BEARER, "notes:read")
DISAGREEMENTS: list[tuple[tuple[Route, ...], dict[str, Handler], str]] = [
    ((ROW,), {}, "rows_without_handlers: GET /things/:id names things.read, which does not exist"),
    ((), {"things.read": read_thing}, "handlers_without_rows: things.read is public but no row names it"),
    (
        (GET("/things/:id", "things.read", BEARER, "things:read"),),
        {"things.read": read_thing},
        "unknown_names: GET /things/:id needs unknown permission things:read",
    ),
    (
        (GET("/things/:id", "things.read", BEARER, "notes:read", feature="magic"),),
        {"things.read": read_thing},
        "unknown_names: GET /things/:id needs unknown feature magic",
    ),
    (
        (GET("/things/:id", "things.read", PUBLIC, "notes:read"),),
        {"things.read": open_to_all},
        "public_with_permission: GET /things/:id is public, so its permission or feature can never be held",
    ),
    (
        (GET("/things/:id", "things.read", BEARER),),
        {"things.read": read_thing},
        "unstated_credentials: GET /things/:id names no permission, so it must say which credentials it accepts",
    ),
    (
        (GET("/things/:id", "things.read", BEARER, "notes:read", accepts=ANY),),
        {"things.read": read_thing},
        "unstated_credentials: GET /things/:id has a permission or no credential, so `accepts` would say nothing",
    ),
    (
        (GET("/things/:id", "things.read", BEARER, accepts=frozenset({"things:read"})),),
        {"things.read": read_thing},
        "unknown_names: GET /things/:id asks a scope for unknown permissions ['things:read']",
    ),
    (
        (GET("/things/:id", "things.read", BEARER, "notes:read", cors=True),),
        {"things.read": read_thing},
        "lent_credentials: GET /things/:id takes a credential, so it must not answer pages of other origins",
    ),
    (
        (ROW, GET("/things/:id", "things.read", BEARER, "notes:read")),
        {"things.read": read_thing},
        "hidden_rows: GET /things/:id can never match: /things/:id comes first",
    ),
    (
        (
            GET("/things/*id", "things.read", BEARER, "notes:read"),
            GET("/things/:id", "things.read", BEARER, "notes:read"),
        ),
        {"things.read": read_thing},
        "hidden_rows: GET /things/:id can never match: /things/*id comes first",
    ),
    (
        (ROW,),
        {"things.read": without_context},
        "signatures: things.read: first parameter must be a Context or an Operation",
    ),
    ((ROW,), {"things.read": without_return}, "signatures: things.read: has no return annotation"),
    (
        (ROW,),
        {"things.read": without_docstring},
        "signatures: things.read: has no docstring, so the reference would have no summary",
    ),
    (
        (GET("/things/:name", "things.read", BEARER, "notes:read"),),
        {"things.read": read_thing},
        "signatures: things.read: path names ['name'] but the signature takes ['id']",
    ),
    ((ROW,), {"things.read": with_body}, "signatures: things.read: GET takes no body"),
    (
        (POST("/things/:id", "things.read", BEARER, "notes:read", gives=True),),
        {"things.read": with_body},
        "signatures: things.read: gives a credential or power, so its body must take the caller's `password`",
    ),
    (
        (POST("/things/:id", "things.read", BEARER, "notes:read", gives="power"),),
        {"things.read": with_password},
        "signatures: things.read: gives by `power`, which its body does not take",
    ),
    (
        (DELETE("/things/:id", "things.read", BEARER, "notes:read"),),
        {"things.read": with_body},
        "signatures: things.read: DELETE takes a body only where it can be left out: not every client sends one",
    ),
    (
        (POST("/things/:id", "things.read", BEARER, "notes:read"),),
        {"things.read": streaming_in},
        "signatures: things.read: streams, so it must take an Operation: no transaction may stay open while bytes flow",
    ),
    (
        (ROW,),
        {"things.read": streaming_out},
        "signatures: things.read: streams, so it must take an Operation: no transaction may stay open while bytes flow",
    ),
    (
        (GET("/things/:id", "things.read", PUBLIC),),
        {"things.read": read_thing},
        "signatures: things.read: is public, so it must take an Operation: "
        "there is no company whose wall a transaction could stand behind",
    ),
]


@pytest.mark.parametrize(("rows", "handlers", "found"), DISAGREEMENTS, ids=[one[2][:60] for one in DISAGREEMENTS])
def test_a_planted_disagreement_is_found(rows: tuple[Route, ...], handlers: dict[str, Handler], found: str) -> None:
    assert problems(rows, handlers) == [found]


def test_a_tool_registered_twice_is_found() -> None:
    domains = (Domain("one", tools=(tool("count"),)), Domain("two", tools=(tool("count"), tool("other"))))

    assert problems((), {}, domains) == ["tools: count is registered twice"]


@pytest.mark.parametrize(
    ("planted", "problem"),
    [
        (tool("count", effect=None), "count: must say its effect: read, write or egress"),
        (tool("count", permission="things:count"), "count: unknown permission things:count"),
        (tool("Count Things"), "Count Things: a name is lower_snake_case"),
    ],
)
def test_a_core_tool_passes_the_checks_of_a_plugins(planted: Tool, problem: str) -> None:
    assert problems((), {}, (Domain("one", tools=(planted,)),)) == [f"tools: {problem}"]


def test_a_chore_declared_twice_is_found() -> None:
    domains = (Domain("one", chores=(Chore("seal", 1, work),)), Domain("two", chores=(Chore("seal", 2, work),)))

    assert problems((), {}, domains) == ["chores: seal is declared twice"]


def test_a_chore_that_cannot_run_is_found() -> None:
    domains = (Domain("one", chores=(Chore("seal", 0, work),)),)

    assert problems((), {}, domains) == ["chores: seal: run must be async, and some time must pass between two rounds"]


async def work(services: object) -> None:
    """A chore."""


def test_every_check_has_a_planted_disagreement() -> None:
    names = {check.__name__.strip("_") for check in checks._TABLE_CHECKS}

    assert names == {found.partition(":")[0] for _, _, found in DISAGREEMENTS}


def test_rows_that_do_not_hide_each_other_pass() -> None:
    rows = (
        GET("/things/fixed", "a.b", BEARER),
        ROW,
        POST("/things/:id", "a.b", BEARER),
        GET("/things/*id", "a.b", BEARER),
    )

    assert [text for text in problems(rows, {}) if text.startswith("hidden_rows")] == []


def test_the_real_table_agrees_with_itself() -> None:
    assert problems(ROUTES, handlers_of(DOMAINS), DOMAINS) == []


def test_a_boot_is_refused_with_every_disagreement_at_once() -> None:
    rows = (*ROUTES[1:], GET("/api/nowhere", "nobody.home", PUBLIC, "no:such"), ROUTES[-1])

    with pytest.raises(BootRefused) as refusal:
        assemble(settings_for("postgres://nowhere"), rows)

    lines = str(refusal.value).splitlines()
    assert lines[0] == "refusing to boot:"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "rows_without_handlers",
        "handlers_without_rows",
        "unknown_names",
        "public_with_permission",
        "hidden_rows",
    ]


def floor_plan_of(folder: Path) -> subprocess.CompletedProcess[str]:
    # Started as a module of this interpreter: the copy's own folder comes before the installed package.
    command = "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"], cwd=folder, capture_output=True, text=True
    )


def copy_of_the_tree(folder: Path) -> Path:
    copytree(ROOT / "src" / "atrium", folder / "src" / "atrium", ignore=lambda _, names: {"__pycache__"} & {*names})
    copy(ROOT / "pyproject.toml", folder)
    return folder / "src" / "atrium"


def test_the_floor_plan_holds(tmp_path: Path) -> None:
    copy_of_the_tree(tmp_path)

    done = floor_plan_of(tmp_path)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("room", "upward"),
    [
        ("kit/ids.py", "import atrium.seams.routes"),
        ("ground/audit/service.py", "import atrium.product.notes.service"),
        ("ground/audit/store.py", "import atrium.ground.audit.service"),
        ("product/notes/service.py", "import asyncpg"),
        ("ground/identity/sessions.py", "import atrium.ground.identity.login"),
        ("engine/inference/wire.py", "import atrium.engine.executors.turns"),
    ],
)
def test_an_upward_import_breaks_the_floor_plan(tmp_path: Path, room: str, upward: str) -> None:
    path = copy_of_the_tree(tmp_path) / room
    path.write_text(f"{path.read_text()}\n{upward}\n")

    done = floor_plan_of(tmp_path)

    assert done.returncode == 1
    assert "BROKEN" in done.stdout


def circular(graph: grimp.ImportGraph) -> set[str]:
    """Every module that reaches itself: empty when all strongly connected parts have one member."""
    return {
        module
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if module == imported or module in graph.find_upstream_modules(imported)
    }


def test_no_module_reaches_itself() -> None:
    assert circular(grimp.build_graph("atrium", cache_dir=None)) == set()


def test_a_circle_is_found() -> None:
    graph = grimp.build_graph("atrium", cache_dir=None)

    graph.add_import(importer="atrium.kit.ids", imported="atrium.kit.web.pages")
    graph.add_import(importer="atrium.kit.web.pages", imported="atrium.kit.ids")

    assert circular(graph) >= {"atrium.kit.ids", "atrium.kit.web.pages"}

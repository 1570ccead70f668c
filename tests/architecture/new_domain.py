"""A small domain with one of everything, written into a copy of the project the way a newcomer would."""

import json
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = ("src", "migrations", "locales", "plugins", "tests", "docs", "pyproject.toml", "README.md", "ARCHITECTURE.md")
CONSOLE = ("funnel", "public", "scripts", "src", "index.html", "package.json", "tsconfig.json", "vite.config.ts")
FOLDER = {
    "__init__.py": '''"""Greetings: what was greeted. Owns table `greetings`."""
''',
    "model.py": '''"""The nouns of greetings."""

import msgspec


class Greeting(msgspec.Struct, frozen=True):
    """Something that was greeted."""

    name: str
''',
    "store.py": '''"""SQL of greetings."""

from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.product.greetings.model import Greeting


async def insert_greeting(db: Transaction, id: UUID, org_id: UUID, name: str) -> None:
    await db.run("INSERT INTO greetings (id, org_id, name) VALUES (:id, :org_id, :name)", id=id, org_id=org_id, name=name)


async def list_greetings(db: Transaction, org_id: UUID) -> list[Greeting]:
    return await db.all(Greeting, "SELECT name FROM greetings WHERE org_id = :org_id ORDER BY id", org_id=org_id)
''',
    "service.py": '''"""The verbs of greetings."""

from uuid import UUID

from atrium.kit.postgres.database import Transaction
from atrium.kit.ids import new_id
from atrium.product.greetings import store
from atrium.product.greetings.model import Greeting
from atrium.seams.context import Context


async def greet(db: Transaction, org_id: UUID, name: str) -> Greeting:
    """Greet, and write it down."""
    await store.insert_greeting(db, new_id(), org_id, name)
    return Greeting(name)


async def list_greetings(ctx: Context) -> list[Greeting]:
    """What the company greeted, oldest first."""
    return await store.list_greetings(ctx.db, ctx.who.org_id)
''',
    "handlers.py": '''"""The wire of greetings."""

from atrium.kit.web.pages import Page
from atrium.product.greetings import service
from atrium.product.greetings.model import Greeting
from atrium.seams.context import Context


async def list_greetings(ctx: Context) -> Page[Greeting]:
    """What the company greeted."""
    return Page(await service.list_greetings(ctx))
''',
    "tools.py": '''"""The tool of greetings."""

from typing import Any

from atrium.kit.postgres.database import Transaction
from atrium.product.greetings import service
from atrium.product.greetings.model import Greeting
from atrium.seams.context import Principal
from atrium.seams.tools import Parameter, Tool


async def _greet(db: Transaction, principal: Principal, arguments: dict[str, Any]) -> Greeting:
    return await service.greet(db, principal.org_id, arguments["name"])


TOOLS = (
    Tool(
        name="greet",
        description="Greet somebody.",
        permission="chat:use",
        effect="write",
        run=_greet,
        parameters=(Parameter(name="name", type="string"),),
    ),
)
''',
    "jobs.py": '''"""The job kind `greetings.greet`."""

import msgspec

from atrium.product.greetings import service
from atrium.product.greetings.model import Greeting
from atrium.seams.context import Operation
from atrium.seams.jobs import Assignment, JobKind


class Named(msgspec.Struct, forbid_unknown_fields=True):
    """What to greet."""

    name: str


async def _run(op: Operation, job: Assignment) -> Greeting:
    async with op.begin() as ctx:
        return await service.greet(ctx.db, op.who.org_id, job.arguments.name)


KINDS = (JobKind(name="greetings.greet", description="Greet later.", arguments=Named, run=_run),)
''',
    "listeners.py": '''"""What greetings does when an object is written."""

from atrium.engine.repository.model import ObjectWritten
from atrium.product.greetings import service
from atrium.seams.context import Context
from atrium.seams.wiring import Listener


async def on_object_written(ctx: Context, event: ObjectWritten) -> None:
    """Greet the new version."""
    await service.greet(ctx.db, ctx.who.org_id, event.object.key)


LISTENERS = (Listener(ObjectWritten, on_object_written),)
''',
    "chores.py": '''"""What greetings does in the background."""

from atrium.kit.telemetry.log import log
from atrium.seams.context import Services
from atrium.seams.wiring import Chore


async def _say(services: Services) -> None:
    log.info("greetings.chore")


CHORES = (Chore("greetings.say", 1, _say, last=True),)
''',
}
MIGRATION = """-- owner: greetings
CREATE TABLE greetings (
  id uuid NOT NULL,
  org_id uuid NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  name text NOT NULL,
  PRIMARY KEY (org_id, id)
);
CALL wall_off('greetings');
GRANT SELECT, INSERT ON greetings TO atrium_app;
"""
ROW = '        GET(   "/api/greetings", "greetings.list_greetings", BEARER, "notes:read"),\n'
IMPORTS = (
    "from atrium.product.greetings import chores as greeting_chores, handlers as greetings, jobs as greeting_jobs\n"
    "from atrium.product.greetings import listeners as greeting_listeners, tools as greeting_tools\n"
)
DOMAIN = """    Domain(
        "greetings",
        greetings,
        tools=greeting_tools.TOOLS,
        job_kinds=greeting_jobs.KINDS,
        listeners=greeting_listeners.LISTENERS,
        chores=greeting_chores.CHORES,
    ),
"""
SCREEN = {
    "GreetingsPage.tsx": """import { Hand } from 'lucide-react';
import { Page } from '@/app/Page';
import { useLanguage } from '@/i18n/language';
import { Empty } from '@/ui/Empty';

export default function GreetingsPage() {
  const { t } = useLanguage();
  return <Page title={t('nav.greetings')}><Empty icon={Hand} title={t('greetings.none')} body={t('greetings.none_more')} /></Page>;
}
""",
    "index.ts": """import type { Feature } from '@/app/feature';

export default {
  pages: [{ path: '/greetings', permission: 'notes:read', load: () => import('./GreetingsPage') }],
} satisfies Feature;
""",
    "navigation.ts": """import { Hand } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  settings: [{ to: '/greetings', label: 'nav.greetings', icon: Hand, section: 'team', order: 900 }],
} satisfies Navigation;
""",
}


def copy_project(target: Path) -> None:
    """What a server, its architecture tests and its console are made of, without what is built or installed."""
    for name in COPIED:
        _copy(ROOT / name, target / name)
    for name in CONSOLE:
        _copy(ROOT / "console" / name, target / "console" / name)
    (target / "console/node_modules").symlink_to(ROOT / "console/node_modules")


def add_domain(target: Path) -> None:
    """Everything a new domain needs."""
    for name, text in FOLDER.items():
        _write(target / "src/atrium/product/greetings" / name, text)
    number = len(list((target / "migrations").glob("*.sql"))) + 1
    _write(target / f"migrations/{number:04}_greetings.sql", MIGRATION)
    _insert(target / "src/atrium/routes.py", '    *section("Trash",\n', ROW)
    _insert(
        target / "src/atrium/boot/wiring.py", "from atrium.product.documents import handlers as documents\n", IMPORTS
    )
    _insert(
        target / "src/atrium/boot/wiring.py",
        '    Domain("documents", documents, tools=document_tools.TOOLS),\n',
        DOMAIN,
    )


def add_screen(target: Path) -> None:
    """One console screen, with its words in every language."""
    for name, text in SCREEN.items():
        _write(target / "console/src/features/greetings" / name, text)
    for folder in filter(Path.is_dir, (target / "locales").iterdir()):
        nav = json.loads((folder / "nav.json").read_text())
        (folder / "nav.json").write_text(json.dumps(nav | {"greetings": "Greetings"}))
        _write(
            folder / "greetings.json", json.dumps({"none": "No greeting yet", "none_more": "Greetings appear here."})
        )


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    else:
        shutil.copy(source, target)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _insert(path: Path, after: str, text: str) -> None:
    before = path.read_text()
    assert after in before, f"{path.name} has no line {after!r}"
    path.write_text(before.replace(after, after + text, 1))

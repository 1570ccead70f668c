"""Run by the interpreter of one checkout: how many blocks of PostgreSQL its statements about shared things read.

Takes as JSON on its input the database and who asks for what; prints the blocks of each, with plans made for the values and for any.
The functions asked are those that both checkouts have, so that each brings the statement it has.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from atrium.engine.repository import listing_rows
from atrium.engine.repository import store as objects
from atrium.engine.repository.model import Filter
from atrium.kit.postgres.database import compile_statement
from atrium.product.notes import store as notes
from atrium.product.trash import service as trash
from atrium.seams.context import ANONYMOUS, Context, Principal

PERMISSIONS = {
    "member": {"notes:read", "notes:write", "notes:delete", "files:read", "files:write", "files:delete"},
    "manager": {
        "notes:read", "notes:write", "notes:delete", "notes:manage", "files:read", "files:write", "files:delete", "files:manage",
    },
    "without a role": set[str](),
    "company's reader": {"org:read"},
}  # fmt: skip


class Explained:
    """Stands for a transaction: the first statement it is given is explained, and nothing comes back."""

    def __init__(self, connection: Any) -> None:
        self._connection, self.blocks = connection, -1

    async def _explain(self, sql: str, values: dict[str, Any]) -> None:
        if self.blocks >= 0:
            return
        text, names = compile_statement(sql)
        plan = await self._connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}", *[values[name] for name in names]
        )
        top = json.loads(plan)[0]["Plan"]
        self.blocks = int(top["Shared Hit Blocks"]) + int(top["Shared Read Blocks"])

    async def one(self, model: Any, sql: str, **values: Any) -> None:
        await self._explain(sql, values)

    async def rows(self, sql: str, **values: Any) -> list[Any]:
        await self._explain(sql, values)
        return []

    async def all(self, model: Any, sql: str, **values: Any) -> list[Any]:
        await self._explain(sql, values)
        return []


def _context(db: Any, who: Principal) -> Context:
    """As much of a request as a listing needs."""
    return Context(who=who, services=SimpleNamespace(keys=SimpleNamespace(generation=0)), db=db)  # type: ignore[arg-type]


Ask = Callable[[Any], Awaitable[object]]


def asked(who: Principal, given: dict[str, Any]) -> dict[str, Ask]:
    """What one caller asks for, by name."""
    found: dict[str, Ask] = {
        f"note, {kind}": partial(notes.find_note, who=who, id=UUID(id)) for kind, id in given["notes"].items()
    }
    found |= {
        f"object, {kind}": partial(objects.find_object, who=who, id=UUID(id)) for kind, id in given["objects"].items()
    }
    scope = given["scope"]
    return found | {
        "notes, 50": lambda db: notes.list_notes(db, who, scope, None, None, 51),
        "objects, 50": lambda db: listing_rows.list_objects(db, who, Filter(scope=scope), None, 51),
        "objects, the newest 50": lambda db: listing_rows.list_objects(
            db, who, Filter(scope=scope, order="updated"), None, 51
        ),
        "objects shared with me, 50": lambda db: listing_rows.list_objects(db, who, Filter(shared=True), None, 51),
        "documents, 50": lambda db: listing_rows.list_objects(db, who, Filter(scope=scope, documents=True), None, 51),
        "bucket, 1000": lambda db: listing_rows.list_bucket(db, who, "", None, 1000),
        "50 notes by id": lambda db: notes.list_by_ids(db, who, [UUID(id) for id in given["some_notes"]], 200),
        "trash of notes": lambda db: trash.list_trash(_context(db, who), "note", 50, None),
        "trash of objects": lambda db: trash.list_trash(_context(db, who), "object", 50, None),
    }


async def measure(given: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Blocks by who asks and what, of both kinds of plans."""
    connection: Any = await asyncpg.connect(given["url"])
    found: dict[str, dict[str, int]] = {}
    for caller in given["callers"]:
        who = msgspec.structs.replace(
            ANONYMOUS,
            org_id=UUID(caller["org"]),
            team_id=UUID(caller["team"]),
            user_id=UUID(caller["user"]),
            permissions=frozenset(PERMISSIONS[caller["role"]]),
        )
        for name, ask in asked(who, caller).items():
            blocks = {mode: await _blocks(connection, who, ask, mode) for mode in ("custom", "generic")}
            found[f"{caller['role']}: {name}"] = blocks
    await connection.close()
    return found


async def _blocks(connection: Any, who: Principal, ask: Ask, mode: str) -> int:
    """The second of two readings: the first also reads the catalog."""
    for _ in range(2):
        async with connection.transaction():
            await connection.execute(f"SET LOCAL plan_cache_mode = force_{mode}_plan; SET LOCAL ROLE atrium_app")
            await connection.execute(f"SET LOCAL app.org_id = '{who.org_id}'")
            db = Explained(connection)
            await ask(db)
    return db.blocks


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(json.load(sys.stdin)))))

"""The yardstick: the same SQL on the same server and driver, and nothing else. No routes, no checks, no log, no metrics."""

import argparse
import asyncio
import gc
import hashlib
import os
from collections.abc import Awaitable, Callable
from operator import itemgetter
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import uvicorn

from atrium.ground.audit import store as audit
from atrium.ground.identity.credential_rows import FIND_PRINCIPAL
from atrium.kit.ids import NIL, new_id
from atrium.kit.postgres.database import APP_ROLE, Transaction, compile_statement
from atrium.kit.work.compute import run_small
from atrium.product.notes.handlers import NoteDraft
from atrium.product.notes.model import Note
from atrium.product.notes.store import FIND, INSERT, listing_sql
from atrium.product.search.store import INSERT_ROW, values_of
from atrium.product.search.words import index
from atrium.seams.context import ANONYMOUS

JSON = (b"content-type", b"application/json")
PAGE = 50
_encode = msgspec.json.Encoder().encode
_draft = msgspec.json.Decoder(NoteDraft).decode
_ONE = len("/api/notes/")


class _RecordingTransaction(Transaction):
    """Hears which statement a store would run, and runs nothing."""

    text = ""

    async def run(self, sql: str, **values: object) -> int:
        self.text = sql
        return 0


def _audit_insert() -> str:
    recording = _RecordingTransaction(None)
    asyncio.run(audit.insert_event(recording, NIL, ANONYMOUS, "", "", {}))
    return recording.text


def _statement(sql: str) -> tuple[str, Callable[[dict[str, Any]], tuple[Any, ...]]]:
    """The text as the driver gets it, and how to put named values into its order."""
    text, names = compile_statement(sql)
    return text, itemgetter(*names)


READ, read_values = _statement(FIND)
LIST, list_values = _statement(listing_sql("team", after=False, search=False, many=False))
CREATE, create_values = _statement(INSERT)
INDEX, index_values = _statement(INSERT_ROW)
TRACE, trace_values = _statement(_audit_insert())


async def read(connection: Any, who: dict[str, Any], path: str) -> bytes:
    values = read_values({**who, "id": UUID(path[_ONE:]), "by_role": True, "org_wide": False})
    return _encode(Note(*(await connection.fetchrow(READ, *values)).values()))


async def list_page(connection: Any, who: dict[str, Any]) -> bytes:
    values = list_values({**who, "by_role": True, "limit": PAGE + 1})
    rows = await connection.fetch(LIST, *values)
    return _encode({"items": [Note(*row.values()) for row in rows[:PAGE]]})


async def create(connection: Any, who: dict[str, Any], raw: bytes) -> bytes:
    draft = _draft(raw)
    fields = {"id": new_id(), "title": draft.title, "body": draft.body, "visibility": draft.visibility}
    row = await connection.fetchrow(CREATE, *create_values({**who, **fields}))
    note = Note(*row.values())
    words = run_small(index, note.title, "", note.body)
    await connection.execute(INDEX, *index_values({**who, **values_of(who["org_id"], note, words)}))
    facts = {"visibility": draft.visibility}
    trace = {
        "id": new_id(),
        "actor_id": who["user_id"],
        "kind": "notes.created",
        "subject": str(note.id),
        "facts": facts,
    }
    await connection.execute(TRACE, *trace_values({**who, **trace}))
    return _encode(note)


class Bare:
    """An ASGI app that knows three requests by their shape."""

    def __init__(self, url: str, pool_size: int) -> None:
        self._url, self._pool_size = url, pool_size
        self._pool: Any = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        status, body = await self._answer(scope, receive)
        headers = [JSON, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]]) -> tuple[int, bytes]:
        raw = (await receive())["body"] if scope["method"] == "POST" else b""
        digest = hashlib.sha256(dict(scope["headers"])[b"authorization"][len("Bearer ") :]).digest()
        async with self._pool.acquire() as connection:
            found = await connection.fetchrow(FIND_PRINCIPAL, digest)
            who = {"org_id": found["org_id"], "team_id": found["team_id"], "user_id": found["user_id"]}
            await connection.execute(f"BEGIN;SET LOCAL ROLE {APP_ROLE};SET LOCAL app.org_id='{who['org_id']}'")
            if raw:
                status, body = 201, await create(connection, who, raw)
            elif len(scope["path"]) > _ONE:
                status, body = 200, await read(connection, who, scope["path"])
            else:
                status, body = 200, await list_page(connection, who)
            await connection.execute("COMMIT")
        return status, body

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        self._pool = await asyncpg.create_pool(
            self._url,
            min_size=1,
            max_size=self._pool_size,
            statement_cache_size=1024,
            init=_prepare_connection,
            reset=_reset_connection,
        )
        gc.collect()
        gc.freeze()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._pool.close()
        await send({"type": "lifespan.shutdown.complete"})


async def _prepare_connection(connection: Any) -> None:
    async with connection.transaction():
        await connection.set_type_codec(
            "jsonb",
            schema="pg_catalog",
            format="binary",
            encoder=lambda value: b"\x01" + msgspec.json.encode(value),
            decoder=lambda raw: msgspec.json.decode(raw[1:]),
        )
    await connection.execute(f"SET ROLE {APP_ROLE}")


async def _reset_connection(connection: Any) -> None:
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")


def main() -> None:
    """Serve with the settings `atrium serve` gives to uvicorn, as far as they cost anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    app = Bare(os.environ["SERVICE_DATABASE_URL"], int(os.environ["SERVICE_DATABASE_POOL"]))
    uvicorn.run(
        app,
        port=options.port,
        loop="uvloop",
        http="httptools",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=75,
        backlog=2048,
        ws="none",
    )


if __name__ == "__main__":
    main()

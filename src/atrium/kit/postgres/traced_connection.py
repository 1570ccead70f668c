"""A connection whose statements are spans of the trace that took it; their text is recorded, their values are not."""

import re
from functools import lru_cache
from typing import Any

from atrium.kit.telemetry.trace_context import Within

_SPACE = re.compile(r"\s+")
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|CALL)\s+([a-z_][a-z0-9_]*)")
_LONGEST = 2000


class TracedConnection:
    """Everything else is the connection's own."""

    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def fetch(self, text: str, *values: object, **options: Any) -> Any:
        """Rows."""
        with _span(text):
            return await self.inner.fetch(text, *values, **options)

    async def fetchrow(self, text: str, *values: object, **options: Any) -> Any:
        """A row."""
        with _span(text):
            return await self.inner.fetchrow(text, *values, **options)

    async def fetchval(self, text: str, *values: object, **options: Any) -> Any:
        """A value."""
        with _span(text):
            return await self.inner.fetchval(text, *values, **options)

    async def execute(self, text: str, *values: object, **options: Any) -> Any:
        """A status."""
        with _span(text):
            return await self.inner.execute(text, *values, **options)


def _span(text: str) -> Within:
    if text.startswith("BEGIN"):
        # Names the company, which is nothing for a trace to keep.
        return Within("BEGIN", "client", **{"db.system.name": "postgresql", "db.operation.name": "BEGIN"})
    name, facts = _described(text)
    return Within(name, "client", **facts)


@lru_cache(maxsize=4096)
def _described(text: str) -> tuple[str, dict[str, str]]:
    plain = _SPACE.sub(" ", text).strip()
    verb = plain.partition(" ")[0].upper()
    table = _TABLE.search(plain)
    name = f"{verb} {table[1]}" if table else verb
    return name, {"db.system.name": "postgresql", "db.operation.name": verb, "db.query.text": plain[:_LONGEST]}

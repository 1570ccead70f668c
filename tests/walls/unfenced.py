"""A build without the first wall: each statement loses its conditions on company, team and person before it runs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from atrium.kit.postgres import database

# `AND n.org_id = :org_id` and its like, where it is a condition; what an UPDATE sets is left alone. The value stays in
# the statement, so that its parameter keeps its type.
FENCE = re.compile(
    r"(\b(?:WHERE|AND|OR|ON|NOT)\s+|\(\s*)(?:\w+\.)?(?:org_id|team_id|owner_id|user_id|actor_id)\s*=\s*:([a-z_]+)\b"
)
# The companies' own table is fenced by its key.
OWN_ORG = re.compile(r"(\bFROM orgs WHERE )id = :([a-z_]+)\b")


def unfenced(sql: str) -> str:
    """The statement with every fence turned into something that always holds."""
    for fence in (FENCE, OWN_ORG):
        sql = fence.sub(r"\1(:\2::uuid IS NOT NULL)", sql)
    return sql


@contextmanager
def without_first_wall() -> Iterator[set[str]]:
    """While open, no service's own conditions reach PostgreSQL; yields the statements that lost some."""
    struck: set[str] = set()
    compile_as_written = database.compile_statement

    def compiled(sql: str) -> tuple[str, tuple[str, ...]]:
        rewritten = unfenced(sql)
        if rewritten != sql:
            struck.add(sql)
        return compile_as_written(rewritten)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "compile_statement", compiled)
        yield struck

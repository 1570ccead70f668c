"""The table is the interface's, row by row and in its order; whatever is beyond it is listed here."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from atrium.routes import ROUTES
from atrium.seams.routes import ORG_ADMIN, Route

Row = tuple[str | None, ...]
COLUMNS = ("method", "path", "auth", "permission", "feature", "section")
INTERFACE: list[Row] = [
    tuple(row[name] for name in COLUMNS)
    for row in json.loads(Path(__file__).with_name("interface_rows.json").read_text())
]
# Beyond the interface: what a server needs to be run, read and used by programs.
ADDITIONS = {
    ("GET", "/ready"): "for load balancers",
    ("GET", "/openapi.json"): "the interface for programs",
    ("GET", "/docs"): "the interface for people",
    ("GET", "/assets/*path"): "the console's files",
    ("GET", "/sw.js"): "the console's service worker",
    ("GET", "/api/notes/:id/shares"): "whom a note is shared with",
    ("GET", "/api/notes/:id/versions"): "what a note said before",
    ("GET", "/api/notes/:id/versions/:number"): "what a note said before",
    ("PUT", "/api/notes/:id/versions/:number"): "a name for what a note said",
    ("POST", "/api/notes/:id/restore"): "what a note said before",
    ("POST", "/api/repo-obj/:id/move"): "moving and renaming files",
    ("POST", "/api/repo-batch"): "moving and renaming files",
    ("GET", "/api/repo-zip"): "many files as one archive",
    ("POST", "/api/logout"): "sign out",
    ("GET", "/api/sessions"): "where one is signed in",
    ("DELETE", "/api/sessions"): "sign out everywhere else",
    ("DELETE", "/api/sessions/:id"): "sign out over there",
    ("PATCH", "/api/members/:id"): "another role for a member",
    ("DELETE", "/api/members/:id"): "letting a member go",
    ("POST", "/api/members/:id/reset"): "letting a member back in",
    ("POST", "/api/password/reset"): "letting a member back in",
    ("GET", "/api/trash"): "what was deleted and can be restored",
    ("POST", "/api/trash/:id/restore"): "what was deleted and can be restored",
    ("DELETE", "/api/trash/:id"): "what was deleted and can be restored",
    ("DELETE", "/api/trash"): "what was deleted and can be restored",
    ("GET", "/api/changes"): "what changes, as it changes",
    ("POST", "/mcp"): "the team's tools for MCP clients",
    **dict.fromkeys(
        ((method, "/s3") for method in ("GET", "PUT", "POST", "DELETE", "OPTIONS")), "the repository for S3 clients"
    ),
}


def facts_of(route: Route) -> Row:
    # A heading's remark in brackets is not part of its name.
    section = route.section.partition(" (")[0]
    return route.method, route.path, route.auth.value, route.permission, route.feature, section


def out_of_step(routes: Iterable[Route]) -> list[Row]:
    """The rows that are not among the interface's next ones; empty when ours are a part of it, in order."""
    at, strays = 0, []
    for row in map(facts_of, routes):
        if row in INTERFACE[at:]:
            at = INTERFACE.index(row, at) + 1
        else:
            strays.append(row)
    return strays


def own(routes: Sequence[Route]) -> list[Route]:
    return [route for route in routes if (route.method, route.path) not in ADDITIONS]


def test_the_core_rows_are_the_interfaces_in_its_order() -> None:
    assert out_of_step(own(ROUTES)) == []


def test_every_addition_is_there() -> None:
    assert {(route.method, route.path) for route in ROUTES} >= ADDITIONS.keys()


def test_an_addition_is_not_the_interfaces() -> None:
    assert not ADDITIONS.keys() & {row[:2] for row in INTERFACE}


@pytest.mark.parametrize(
    "stray",
    [
        pytest.param({"path": "/api/stray"}, id="an unknown address"),
        pytest.param({"method": "PATCH"}, id="another method"),
        pytest.param({"auth": ORG_ADMIN}, id="another way in"),
        pytest.param({"permission": "notes:write"}, id="another permission"),
        pytest.param({"feature": "chat"}, id="another feature"),
        pytest.param({"section": "Elsewhere"}, id="another section"),
    ],
)
def test_a_row_that_departs_from_the_interface_is_found(stray: dict[str, Any]) -> None:
    rows = own(ROUTES)
    rows[5] = replace(rows[5], **stray)

    assert out_of_step(rows) == [facts_of(rows[5])]


def test_rows_in_another_order_are_found() -> None:
    rows = own(ROUTES)

    assert len(out_of_step([rows[1], rows[0], *rows[2:]])) == 1


@cache
def printed_table() -> list[dict[str, Any]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    command = [sys.executable, "-m", "atrium", "routes", "--json"]
    return list(json.loads(subprocess.run(command, check=True, capture_output=True, env=clean).stdout))


def test_the_command_prints_the_table_with_the_interfaces_names_and_codes() -> None:
    rows = printed_table()

    assert all(list(row) == [*COLUMNS, "shape"] for row in rows)
    codes = {row[2] for row in INTERFACE}
    assert {row["auth"] for row in rows if (row["method"], row["path"]) not in ADDITIONS} <= codes
    assert {row["auth"] for row in rows} <= codes | {"S3"}
    assert [tuple(row[name] for name in COLUMNS[:5]) for row in rows[: len(ROUTES)]] == [
        facts_of(row)[:5] for row in ROUTES
    ]
    assert all(row["shape"] for row in rows)


def test_the_shipped_plugins_rows_are_the_interfaces() -> None:
    beyond = {tuple(row[name] for name in COLUMNS[:5]) for row in printed_table()[len(ROUTES) :]}

    assert beyond <= {row[:5] for row in INTERFACE}
    assert beyond

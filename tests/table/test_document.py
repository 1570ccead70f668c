"""What the document says about bodies and versions, asked of the server itself."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from atrium.boot.assemble import Application
from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import Auth
from tests.support.client import Client
from tests.support.people import found_company
from tests.table.rows import ENDPOINTS, is_public, name_of, speaks_ours
from tests.table.specimens import Place
from tests.table.stage import Stage

BODIED = [
    endpoint
    for endpoint in ENDPOINTS
    if endpoint.reads_json
    and speaks_ours(endpoint)
    and not (endpoint.plugin or is_public(endpoint) or endpoint.route.auth is Auth.PROVISION)
]

# A body left out is a token left out, and the interface answers that with 409.
TOKENLESS = {"POST /api/workers/jobs/:id/heartbeat"}
# One of several fields, or a header, says what is wanted; with none of them there is nothing to do.
CHOOSING = {"POST /api/agent", "POST /api/ai/chat/stream"}
# Each parameter of each row without which a request cannot be right.
REQUIRED = [
    (endpoint, name)
    for endpoint in ENDPOINTS
    for name in endpoint.query.keys() - endpoint.defaults.keys()
    if speaks_ours(endpoint)
]


def operation(house: Application, endpoint: Endpoint) -> dict[str, Any]:
    path = "/".join(f"{{{part[1:]}}}" if part[:1] in (":", "*") else part for part in endpoint.route.path.split("/"))
    found: dict[str, Any] = msgspec.json.decode(house.services.registry.openapi)["paths"][path][
        endpoint.route.method.lower()
    ]
    return found


@pytest.mark.parametrize("endpoint", BODIED, ids=name_of)
async def test_a_body_may_be_left_out_where_the_document_says_so(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)

    answer = await replace(ask, body=None).by(place.caller)

    required = operation(stage.house, endpoint)["requestBody"]["required"]
    if name_of(endpoint) in TOKENLESS:
        assert (required, answer.status, answer.code) == (False, 409, "jobs.stale_claim")
        return
    if name_of(endpoint) in CHOOSING:
        assert (required, answer.status) == (False, 400)
        return
    assert answer.status == 400 if required else answer.status < 300, answer.raw


@pytest.mark.parametrize(("endpoint", "name"), REQUIRED, ids=lambda one: one if isinstance(one, str) else name_of(one))
async def test_e3_a_required_parameter_that_is_missing_is_refused(stage: Stage, endpoint: Endpoint, name: str) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)
    others = {other: value for other, value in ask.query.items() if other != name}

    answer = await replace(ask, query=others).by(place.caller)

    assert (answer.status, answer.code, answer["errors"][0]["path"]) == (400, "request.invalid", name)
    documented = [one for one in operation(stage.house, endpoint)["parameters"] if one["name"] == name]
    assert [one["required"] for one in documented] == [True]


def test_e3_the_rows_that_need_a_parameter_are_known() -> None:
    assert "GET /api/search" in {name_of(endpoint) for endpoint, _ in REQUIRED}


BODILESS = [endpoint for endpoint in ENDPOINTS if endpoint.takes_no_body and endpoint.route.auth is not Auth.PROVISION]


@pytest.mark.parametrize("endpoint", BODILESS, ids=name_of)
async def test_e20_a_body_that_nothing_hears_is_refused(stage: Stage, endpoint: Endpoint) -> None:
    place = await stage.place(endpoint)
    ask = await stage.specimens.ask(endpoint, place)

    refused = await replace(ask, body={"documents": ["x"]}).by(place.caller)

    assert (refused.status, refused.code) == (400, "request.invalid")
    assert (await replace(ask, body={}).by(place.caller)).status < 300


async def test_a_reader_who_has_the_version_is_documented(stage: Stage) -> None:
    note = next(endpoint for endpoint in ENDPOINTS if name_of(endpoint) == "GET /api/notes/:id")
    place = await stage.place(note)
    ask = await stage.specimens.ask(note, place)
    found = await ask.by(place.caller)

    again = await place.caller.get(ask.path, headers={"if-none-match": found.headers["etag"]})

    document = operation(stage.house, note)
    assert str(again.status) in document["responses"]
    assert again.status == 304
    assert "If-None-Match" in {one["name"] for one in document["parameters"]}


TAGGED = ("/api/runs/:id", "/api/jobs/:id", "/api/kg/entities/:id", "/api/org", "/api/workflows/schema")


@pytest.mark.parametrize("path", TAGGED)
async def test_e14_a_reader_who_has_what_a_row_shows_is_told_so(stage: Stage, path: str) -> None:
    row = next(endpoint for endpoint in ENDPOINTS if name_of(endpoint) == f"GET {path}")
    # What others do in a company they share changes what it shows.
    company = await found_company(stage.house)
    place = (
        Place(company, company.team, Client(stage.house.app))
        if is_public(row)
        else await stage.place(row, company, company.team)
    )
    ask = await stage.specimens.ask(row, place)
    found = await ask.by(place.caller)

    again = await place.caller.get(ask.path, headers={"if-none-match": found.headers["etag"]})
    other = await place.caller.get(ask.path, headers={"if-none-match": '"other"'})

    assert (again.status, again.raw, again.headers["etag"]) == (304, b"", found.headers["etag"])
    assert (other.status, other.raw) == (200, found.raw)
    document = operation(stage.house, row)
    assert "ETag" in document["responses"]["200"]["headers"]
    assert "304" in document["responses"]
    assert "If-None-Match" in {one["name"] for one in document["parameters"]}


def test_what_speaks_another_protocol_is_left_to_that_protocols_documents(house: Application) -> None:
    others = {endpoint.route.path for endpoint in ENDPOINTS if not speaks_ours(endpoint)}

    assert others == {"/s3", "/mcp"}
    assert not others & msgspec.json.decode(house.services.registry.openapi)["paths"].keys()


@pytest.mark.parametrize("endpoint", [endpoint for endpoint in ENDPOINTS if speaks_ours(endpoint)], ids=name_of)
def test_every_row_is_documented(house: Application, endpoint: Endpoint) -> None:
    document = operation(house, endpoint)

    assert document["summary"]
    assert document["x-auth"] == endpoint.route.auth.value
    assert document["security"] == ([] if is_public(endpoint) else [{"bearer": []}])

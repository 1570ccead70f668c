"""What the document says about bodies and versions, asked of the server itself."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from atrium.boot.assemble import Application
from atrium.edge.endpoint import Endpoint
from atrium.seams.routes import Auth
from tests.contract.rows import ENDPOINTS, is_public, name_of, speaks_ours
from tests.contract.stage import Stage

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

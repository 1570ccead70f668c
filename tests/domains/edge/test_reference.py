"""The interface described by the server itself: OpenAPI for programs, one page for people."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from atrium.boot.assemble import Application
from atrium.edge.openapi import address_of
from atrium.kit.errors import AppError
from tests.support.client import Client
from tests.table.rows import speaks_ours

Operation = tuple[str, str, dict[str, Any]]
METHODS = {"get", "put", "post", "delete", "patch", "options", "head", "trace"}


@pytest.fixture
async def document(nobody: Client) -> dict[str, Any]:
    answer = await nobody.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    return dict(answer.body)


@pytest.fixture
async def page(nobody: Client) -> str:
    return (await nobody.get("/docs")).raw.decode()


def operations(document: dict[str, Any]) -> list[Operation]:
    return [(path, method, body) for path, item in document["paths"].items() for method, body in item.items()]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key == "$ref")
        yield from (found for inner in value.values() for found in references(inner))
    elif isinstance(value, list):
        yield from (found for inner in value for found in references(inner))


def schemas(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document["components"]["schemas"].values()
    for _, _, body in operations(document):
        yield from (parameter["schema"] for parameter in body["parameters"])
        contents = [body["requestBody"]] if "requestBody" in body else []
        for content in [*contents, *body["responses"].values()]:
            yield from (media["schema"] for media in content.get("content", {}).values() if "schema" in media)


def kinds(kind: type[AppError] = AppError) -> Iterator[type[AppError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from kinds(child)


def test_the_document_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    assert set(document) == {"openapi", "info", "paths", "components"}
    assert {"title", "version"} <= set(document["info"])


def test_every_row_is_an_operation_and_nothing_else_is(house: Application, document: dict[str, Any]) -> None:
    rows = {
        (re.sub(r"[:*](\w+)", r"{\1}", endpoint.route.path), endpoint.route.method.lower())
        for endpoint in house.endpoints
        if speaks_ours(endpoint)
    }

    assert {(path, method) for path, method, _ in operations(document)} == rows
    assert {method for _, method, _ in operations(document)} <= METHODS


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [body["operationId"] for _, _, body in operations(document)]

    assert len(set(ids)) == len(ids)


def test_every_operation_says_what_it_does_and_what_comes_back(document: dict[str, Any]) -> None:
    for path, method, body in operations(document):
        assert body["summary"], (path, method)
        assert body["tags"][0], (path, method)
        assert any(status.startswith("2") for status in body["responses"]), (path, method)
        for status, response in body["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d", status), (path, method)
            assert response["description"], (path, method, status)


def test_path_parameters_are_those_of_the_path(document: dict[str, Any]) -> None:
    for path, method, body in operations(document):
        named = [p["name"] for p in body["parameters"] if p["in"] == "path"]
        assert named == re.findall(r"{(\w+)}", path), (path, method)
        assert all(p["required"] for p in body["parameters"] if p["in"] == "path")
        assert len({(p["name"], p["in"]) for p in body["parameters"]}) == len(body["parameters"])


def test_every_refusal_is_described_as_a_problem(document: dict[str, Any]) -> None:
    for path, method, body in operations(document):
        for status, response in body["responses"].items():
            if status[0] in "45":
                assert response["content"] == {
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                }, (path, method, status)


def test_a_credential_is_asked_for_where_the_row_asks(house: Application, document: dict[str, Any]) -> None:
    public = {"get /health", "post /api/login", "post /api/bootstrap", "get /docs", "get /openapi.json"}

    for path, method, body in operations(document):
        if f"{method} {path}" in public:
            assert body["security"] == [], path
        if path.startswith("/api/x/") or body["x-permission"]:
            assert body["security"] == [{"bearer": []}], path
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = set(references(document))

    assert found
    assert found <= {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}


def test_every_schema_is_one(document: dict[str, Any]) -> None:
    for schema in schemas(document):
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_every_parameter_is_described(document: dict[str, Any]) -> None:
    silent = [
        f"{method} {path}: {parameter['name']}"
        for path, method, body in operations(document)
        for parameter in body["parameters"]
        if not parameter["description"].endswith(".")
    ]

    assert silent == []


def test_every_body_has_an_example_that_is_accepted(house: Application, document: dict[str, Any]) -> None:
    decoders = {
        (address_of(endpoint.route), endpoint.route.method.lower()): endpoint.decode for endpoint in house.endpoints
    }
    bodies = [
        (path, method, body["requestBody"]["content"]["application/json"])
        for path, method, body in operations(document)
        if "application/json" in body.get("requestBody", {}).get("content", {})
    ]

    assert len(bodies) > 50
    for path, method, body in bodies:
        decode = decoders[path, method]
        assert decode is not None
        decode(json.dumps(body["example"]).encode())
        validator = jsonschema_rs.validator_for({**body["schema"], "components": document["components"]})
        validator.validate(body["example"])


async def test_a_value_outside_a_closed_set_is_refused_with_the_set(alice: Client) -> None:
    in_body = await alice.post("/api/notes", {"title": "x", "visibility": "everyone"})
    in_query = await alice.get("/api/notes?scope=world")

    assert (in_body.status, in_query.status) == (400, 400)
    assert in_body.body["errors"] == [
        {"path": "visibility", "message": "Invalid enum value 'everyone'; it takes private, team"}
    ]
    assert in_query.body["errors"] == [{"path": "scope", "message": "Invalid enum value 'world'; it takes org, team"}]


async def test_a_page_links_to_the_next_one(alice: Client) -> None:
    for title in ("one", "two", "three"):
        await alice.post("/api/notes", {"title": f"linked {title}"})

    first = await alice.get("/api/notes?limit=2&q=linked")
    [target] = re.findall(r'^<(/api/notes\?[^>]+)>; rel="next"$', first.headers["link"])
    last = await alice.get(target)

    assert len(first.body["items"]) == 2
    assert first.body["next_cursor"] in target
    assert [one["title"] for one in last.body["items"]] == ["linked one"]
    assert "link" not in last.headers


def test_listings_are_documented_with_their_link(document: dict[str, Any]) -> None:
    for path, method, body in operations(document):
        pages = any(parameter["name"] == "cursor" for parameter in body["parameters"])
        done = next(reply for status, reply in body["responses"].items() if status.startswith("2"))
        assert pages == ("Link" in done.get("headers", {})), (path, method)


async def test_a_reply_is_what_the_document_says(document: dict[str, Any], alice: Client) -> None:
    schema = document["paths"]["/api/whoami"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    validator = jsonschema_rs.validator_for({**schema, "components": document["components"]})

    validator.validate((await alice.get("/api/whoami")).body)

    assert not validator.is_valid({"user": "ann"})


def test_the_page_has_every_row(house: Application, page: str) -> None:
    for endpoint in house.endpoints:
        route = endpoint.route
        assert f'<span class="method">{route.method}</span> <code>{route.path}</code>' in page


def test_the_page_shows_parameters_bodies_and_examples(page: str) -> None:
    _, _, after = page.partition('<span class="method">POST</span> <code>/api/notes</code>')
    row, _, _ = after.partition("<tr><td><span")

    assert "<td><code>visibility</code><td>private | team, optional" in row
    assert "<td><code>Idempotency-Key</code>" in row
    assert "<pre>{\n  &quot;title&quot;: &quot;Meeting&quot;" in row
    assert "<h3>Reply</h3>" in row


def test_the_page_has_every_code_once(page: str) -> None:
    codes = {kind.code for kind in kinds()} | {"internal"}

    assert [page.count(f'<tr id="{code}">') for code in codes] == [1] * len(codes)


async def test_the_page_runs_under_a_policy_that_fits_it_exactly(nobody: Client, page: str) -> None:
    headers = (await nobody.get("/docs")).headers
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))

    assert policy == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert headers["content-type"] == "text/html; charset=utf-8"


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    assert "<script" not in page
    assert " style=" not in page
    assert not re.findall(r"\bon\w+=", page)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)

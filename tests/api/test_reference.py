"""The interface described by the server itself: OpenAPI for programs, one page for people."""

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from atrium.boot.assemble import House
from atrium.kit.errors import AppError
from atrium.seams.routes import Auth
from tests.client import Client

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


def test_every_row_is_an_operation_and_nothing_else_is(house: House, document: dict[str, Any]) -> None:
    rows = {
        (re.sub(r"[:*](\w+)", r"{\1}", endpoint.route.path), endpoint.route.method.lower())
        for endpoint in house.endpoints
        if endpoint.route.auth is not Auth.SIGNED
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


def test_a_credential_is_asked_for_where_the_row_asks(house: House, document: dict[str, Any]) -> None:
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


async def test_a_reply_is_what_the_document_says(document: dict[str, Any], alice: Client) -> None:
    schema = document["paths"]["/api/whoami"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    validator = jsonschema_rs.validator_for({**schema, "components": document["components"]})

    validator.validate((await alice.get("/api/whoami")).body)

    assert not validator.is_valid({"user": "ann"})


def test_the_page_has_every_row(house: House, page: str) -> None:
    for endpoint in house.endpoints:
        route = endpoint.route
        assert f'<span class="method">{route.method}</span> <code>{route.path}</code>' in page


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

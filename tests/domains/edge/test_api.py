"""The wire itself: methods, ids, refusals, headers, bodies and queries, the same on every route."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from atrium.boot.assemble import Application
from atrium.boot.wiring import DOMAINS
from atrium.routes import ROUTES
from atrium.seams.wiring import Domain
from tests.domains.edge import odd_routes
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.servers import open_application, requests_counted, settings_for

LIMIT = 1_048_576
PROBLEM = {"type", "title", "status", "detail", "code", "request_id"}


@pytest.fixture(scope="module")
async def odd_house(database_url: str) -> AsyncIterator[Application]:
    domains = (*DOMAINS, Domain("odd", odd_routes))
    async with open_application(settings_for(database_url), (*ROUTES, *odd_routes.ROUTES), domains) as house:
        yield house


async def over_tls(client: Client, path: str) -> Answer:
    """The same request as a server behind TLS hands it on."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await client.app(scope | {"scheme": "https"}, receive, send)

    return await Client(app, client.token).get(path)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/health", "/docs", "/openapi.json", "/api/config", "/api/whoami", "/api/notes"])
async def test_head_answers_as_get_without_the_body(alice: Client, path: str) -> None:
    got = await alice.get(path)

    head = await alice.send("HEAD", path)

    assert (head.status, head.raw) == (200, b"")
    assert head.headers["content-length"] == str(len(got.raw))
    assert head.headers["content-type"] == got.headers["content-type"]


async def test_head_of_nothing_has_no_body_either(alice: Client) -> None:
    head = await alice.send("HEAD", "/nowhere")

    assert (head.status, head.raw) == (404, b"")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/health", "GET"),
        ("DELETE", "/api/notes", "GET, POST"),
        ("PATCH", "/api/notes/01890000-0000-7000-8000-000000000000", "DELETE, GET, PUT"),
        ("OPTIONS", "/api/login", "POST"),
        ("BREW", "/api/whoami", "GET"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(nobody: Client, method: str, path: str, allow: str) -> None:
    answer = await nobody.send(method, path)

    assert (answer.status, answer.code, answer.headers["allow"]) == (405, "request.method_not_allowed", allow)


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/", "/api/notes/", "//api/notes", "/api/notes/x/y", "/API/notes", "/api/notes//share"]
)  # fmt: skip
async def test_an_address_that_is_not_in_the_table_is_missing(alice: Client, path: str) -> None:
    answer = await alice.get(path)

    assert (answer.status, answer.code) == (404, "request.no_route")


@pytest.mark.parametrize(
    "id",
    ["7", "not-an-id", "0189000000007000800000000000000", "{01890000-0000-7000-8000-000000000000}", "%00", "x" * 5000],
)
async def test_what_is_no_id_is_the_id_of_nothing(alice: Client, id: str) -> None:
    assert (await alice.get(f"/api/notes/{id}")).status == 404


@pytest.mark.parametrize("given", ["abc", "a.b_c-D9", "x" * 64])
async def test_a_request_id_is_echoed(nobody: Client, given: str) -> None:
    answer = await nobody.get("/nowhere", headers={"x-request-id": given})

    assert (answer.headers["x-request-id"], answer["request_id"]) == (given, given)


@pytest.mark.parametrize("given", ["", "two words", "x" * 65, "a;b", "a\tb", '"quoted"', "ünï"])
async def test_an_odd_request_id_is_replaced(nobody: Client, given: str) -> None:
    answer = await nobody.get("/nowhere", headers={"x-request-id": given})

    assert answer.headers["x-request-id"] == answer["request_id"] != given


async def test_every_request_gets_an_id_of_its_own(nobody: Client) -> None:
    ids = {(await nobody.get("/health")).headers["x-request-id"] for _ in range(20)}

    assert len(ids) == 20


async def refusals(company: Company, nobody: Client) -> list[Answer]:
    """One of every status a caller can bring about."""
    member, admin = await company.join(), await company.join("admin")
    note = (await member.post("/api/notes", {"title": "x"}))["id"]
    answers = [
        await member.post("/api/notes", {}),
        await nobody.get("/api/notes"),
        await member.get("/api/audit"),
        await member.get("/nowhere"),
        await member.post("/health"),
        await admin.post("/api/members", {"username": member.username, "role": "viewer"}),
        await member.put(f"/api/notes/{note}", {"title": "y"}, headers={"if-match": '"9"'}),
        await member.post("/api/notes", b" " * (LIMIT + 1)),
    ]
    await company.suspend()
    return [*answers, await member.post("/api/notes", {"title": "x"})]


async def test_every_refusal_is_a_problem_with_a_code_and_an_id(company: Company, nobody: Client) -> None:
    answers = await refusals(company, nobody)

    assert [answer.status for answer in answers] == [400, 401, 403, 404, 405, 409, 412, 413, 402]
    for answer in answers:
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.body) >= PROBLEM
        assert (answer["status"], answer["request_id"]) == (answer.status, answer.headers["x-request-id"])
        assert answer["type"] == f"/docs#{answer.code}"
        assert answer["title"]
        assert answer["detail"]


async def test_every_refusal_is_explained_on_the_reference_page(company: Company, nobody: Client) -> None:
    page = (await nobody.get("/docs")).raw.decode()

    for answer in await refusals(company, nobody):
        assert f'id="{answer["type"].partition("#")[2]}"' in page


async def test_a_defect_of_ours_says_nothing_of_itself(odd_house: Application) -> None:
    answer = await Client(odd_house.app).get("/api/test/broken", headers={"x-request-id": "look-me-up"})

    assert (answer.status, answer.code, answer["request_id"]) == (500, "internal", "look-me-up")
    assert answer.headers["content-type"] == "application/problem+json"
    assert b"secret" not in answer.raw
    assert b"RuntimeError" not in answer.raw


async def test_a_defect_is_explained_on_the_reference_page_too(odd_house: Application) -> None:
    nobody = Client(odd_house.app)
    anchor = (await nobody.get("/api/test/broken"))["type"].partition("#")[2]

    assert f'id="{anchor}"' in (await nobody.get("/docs")).raw.decode()


@pytest.mark.parametrize("path", ["/health", "/docs", "/nowhere", "/api/whoami", "/api/notes"])
async def test_no_answer_is_sniffed_or_kept(alice: Client, path: str) -> None:
    answer = await alice.get(path)

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


async def test_a_secure_answer_asks_to_stay_secure(alice: Client, operator: Client) -> None:
    secure, plain = await over_tls(alice, "/api/whoami"), await alice.get("/api/whoami")

    assert secure.headers["strict-transport-security"].startswith("max-age=")
    assert "strict-transport-security" not in plain.headers
    assert (await over_tls(operator, "/api/admin/status"))["tls"] is True


async def test_a_body_may_be_as_large_as_the_limit_and_no_larger(alice: Client) -> None:
    note = json.dumps({"title": "padded"}).encode()

    fits = await alice.post("/api/notes", note.ljust(LIMIT))
    over = await alice.post("/api/notes", note.ljust(LIMIT + 1))

    assert fits.status == 201
    assert (over.status, over.code, over["limit"]) == (413, "request.too_large", LIMIT)


async def test_a_large_body_without_a_credential_is_refused_for_that(nobody: Client) -> None:
    assert (await nobody.post("/api/notes", b" " * (LIMIT + 1))).status == 401


@pytest.mark.parametrize(
    ("query", "path"),
    [("colour=red", "colour"), ("limit=1&colour=red", "colour"), ("Limit=1", "Limit"), ("=1", ""), ("limit", "limit")],
)
async def test_an_unknown_or_empty_query_parameter_is_refused_by_name(alice: Client, query: str, path: str) -> None:
    answer = await alice.get(f"/api/notes?{query}")

    assert (answer.status, answer["errors"][0]["path"]) == (400, path)


async def test_a_route_that_takes_no_query_says_so(nobody: Client) -> None:
    answer = await nobody.get("/health?verbose=1")

    assert (answer.status, answer["errors"][0]["path"]) == (400, "verbose")
    assert "none" in answer["detail"]


@pytest.mark.parametrize(
    "query",
    ["limit=1&limit=2", "limit=1&limit=1", "q=%ff", "q=%00", "q=a%00b", "&".join(f"a{n}=1" for n in range(101))],
)
async def test_a_query_that_cannot_be_one_is_refused(alice: Client, query: str) -> None:
    answer = await alice.get(f"/api/notes?{query}")

    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")


async def test_a_known_version_is_not_sent_again_to_head_either(alice: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "x"}))["id"]

    for method in ("GET", "HEAD"):
        answer = await alice.send(method, f"/api/notes/{note}", headers={"if-none-match": '"1.rwdm"'})
        assert (answer.status, answer.raw, answer.headers["etag"]) == (304, b"", '"1.rwdm"')
        assert "content-length" not in answer.headers


async def test_another_version_is_sent(alice: Client) -> None:
    note = (await alice.post("/api/notes", {"title": "x"}))["id"]

    assert (await alice.get(f"/api/notes/{note}", headers={"if-none-match": '"0"'})).status == 200


@pytest.mark.parametrize("raw", [b'{"title": "x\\u0000"', b'{"title": "\\u0000"}', b'{"\\u0000": 1}', b'"\\\\\\u0000"'])
async def test_a_nul_is_refused_wherever_it_stands(alice: Client, raw: bytes) -> None:
    assert (await alice.post("/api/notes", raw)).status == 400


async def test_the_letters_of_an_escaped_nul_are_text(alice: Client) -> None:
    answer = await alice.post("/api/notes", rb'{"title": "\\u0000"}')

    assert (answer.status, answer["title"]) == (201, "\\u0000")


@pytest.mark.parametrize(
    ("key", "status"),
    [("x", 201), ("x" * 255, 201), ("", 400), ("x" * 256, 400), ("a\x7fb", 400), ("line\nbreak", 400)],
)
async def test_an_idempotency_key_has_its_limits(alice: Client, key: str, status: int) -> None:
    answer = await alice.post("/api/notes", {"title": "x"}, headers={"idempotency-key": key})

    assert answer.status == status


async def test_a_browsers_question_before_a_request_is_counted_like_a_request(
    house: Application, nobody: Client
) -> None:
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "GET"}
    before = requests_counted(house, "none", "none", 204)

    await nobody.send("OPTIONS", "/openapi.json", headers=asked)

    assert requests_counted(house, "none", "none", 204) == before + 1


async def test_pages_of_every_origin_read_the_document_and_nothing_else(nobody: Client, alice: Client) -> None:
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "GET"}

    document = await nobody.get("/openapi.json", headers={"origin": "https://elsewhere.example"})
    before = await nobody.send("OPTIONS", "/openapi.json", headers=asked)
    refused = [await nobody.send("OPTIONS", path, headers=asked) for path in ("/api/notes", "/api/login", "/health")]
    others = [await alice.get(path, headers=asked) for path in ("/api/notes", "/health", "/docs", "/api/whoami")]

    assert (document.status, document.headers["access-control-allow-origin"]) == (200, "*")
    assert (before.status, before.headers["access-control-allow-methods"]) == (204, "GET")
    assert "access-control-allow-credentials" not in before.headers
    assert [answer.status for answer in refused] == [405, 405, 405]
    assert not any("access-control-allow-origin" in answer.headers for answer in refused + others)

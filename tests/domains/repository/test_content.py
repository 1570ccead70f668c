"""Downloads: ranges, conditions, names, and what a browser may do with the bytes."""

import asyncio
import secrets
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from tests.domains.repository.test_api import content, put
from tests.support.client import Answer, Client
from tests.support.people import Company

BODY = bytes(range(256)) * 4


async def stored_as(client: Client, content_type: str, key: str = "file", **query: object) -> str:
    answer = await client.send("PUT", f"/api/repo/{key}", BODY, query=query, headers={"content-type": content_type})
    return str(answer["id"])


async def asked(client: Client, id: str, **headers: str) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.get(f"/api/repo-obj/{id}/content", headers=sent)


@pytest.mark.parametrize(
    ("range", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1000-", 1000, 1024),
        ("bytes=-24", 1000, 1024),
        ("bytes=0-9999", 0, 1024),
    ],
)
async def test_a_range_gets_that_part(alice: Client, range: str, start: int, stop: int) -> None:
    id = await stored_as(alice, "text/plain")

    answer = await asked(alice, id, range=range)

    assert (answer.status, answer.raw) == (206, BODY[start:stop])
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/1024"
    assert answer.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("range", ["bytes=1024-", "bytes=-0", "bytes=99999999999999999999-"])
async def test_a_range_outside_is_refused_with_the_size(alice: Client, range: str) -> None:
    id = await stored_as(alice, "text/plain")

    answer = await asked(alice, id, range=range)

    assert (answer.status, answer.headers["content-range"]) == (416, "bytes */1024")


@pytest.mark.parametrize("range", ["bytes=5-2", "bytes=0-1,4-5", "lines=1-2", "bytes=", "bytes=-"])
async def test_a_range_of_nonsense_or_several_parts_gets_everything(alice: Client, range: str) -> None:
    id = await stored_as(alice, "text/plain")

    assert ((answer := await asked(alice, id, range=range)).status, len(answer.raw)) == (200, 1024)


async def test_a_range_holds_only_for_the_tag_it_was_asked_for(alice: Client) -> None:
    id = await stored_as(alice, "text/plain")
    whole = await content(alice, id)

    same = await asked(alice, id, range="bytes=0-9", if_range=whole.headers["etag"])
    other = await asked(alice, id, range="bytes=0-9", if_range='"other"')
    dated = await asked(alice, id, range="bytes=0-9", if_range=whole.headers["last-modified"])

    assert (same.status, other.status, dated.status) == (206, 200, 206)


async def test_known_bytes_are_not_sent_again(alice: Client) -> None:
    id = await stored_as(alice, "text/plain")
    whole = await content(alice, id)

    tagged = await asked(alice, id, if_none_match=f'"x", {whole.headers["etag"]}')
    dated = await asked(alice, id, if_modified_since=whole.headers["last-modified"])
    newer = await asked(alice, id, if_none_match='"x"', if_modified_since=whole.headers["last-modified"])

    assert (tagged.status, tagged.raw, dated.status, newer.status) == (304, b"", 304, 200)
    assert tagged.headers["etag"] == whole.headers["etag"]
    assert "content-length" not in tagged.headers


async def test_a_head_has_the_headers_and_no_bytes(alice: Client) -> None:
    id = await stored_as(alice, "text/plain")

    answer = await alice.send("HEAD", f"/api/repo-obj/{id}/content")

    assert (answer.status, answer.raw, answer.headers["content-length"]) == (200, b"", "1024")
    assert parsedate_to_datetime(answer.headers["last-modified"])


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("image/png", "inline"), ("text/plain; charset=utf-8", "inline"), ("application/pdf", "attachment"),
        ("text/html", "attachment"), ("image/svg+xml", "attachment"), ("application/xml", "attachment"), ("nonsense", "attachment"),
    ],
)  # fmt: skip
async def test_only_harmless_types_are_shown_in_place(alice: Client, content_type: str, kind: str) -> None:
    id = await stored_as(alice, content_type)

    answer = await content(alice, id)

    assert answer.headers["content-disposition"] == f'{kind}; filename="file"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["content-security-policy"].endswith("; sandbox")


@pytest.mark.parametrize("range", [None, "bytes=0-99"])
async def test_a_pdf_is_shown_in_place_and_outside_of_the_sandbox_its_viewer_needs(
    alice: Client, range: str | None
) -> None:
    paper = {"content-type": "application/pdf"}
    stored = await alice.put("/api/repo/paper.pdf", b"%PDF-1.7\n" + BODY, headers=paper)

    answer = await alice.get(f"/api/repo-obj/{stored['id']}/content", headers={"range": range} if range else {})
    head = await alice.send("HEAD", f"/api/repo-obj/{stored['id']}/content")

    assert answer.raw == (b"%PDF-1.7\n" + BODY)[: 100 if range else None]
    assert answer.headers["content-disposition"] == 'inline; filename="paper.pdf"'
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
    assert "sandbox" not in answer.headers["content-security-policy"] + head.headers["content-security-policy"]
    assert (head.raw, head.headers["content-length"]) == (b"", str(len(BODY) + 9))


async def test_a_type_that_is_none_becomes_plain_bytes(alice: Client) -> None:
    id = await stored_as(alice, "text/html\u00e9; x")

    assert (await content(alice, id)).headers["content-type"] == "application/octet-stream"


async def test_a_name_outside_of_ascii_travels_in_both_forms(alice: Client) -> None:
    id = await stored_as(alice, "text/plain", filename='Grüße "1".txt')

    header = (await content(alice, id)).headers["content-disposition"]

    assert header == """inline; filename="Gr__e _1_.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%221%22.txt"""


async def test_a_client_that_leaves_ends_the_reading(company: Company, alice: Client) -> None:
    stored = await put(alice, "large", secrets.token_bytes(8 << 20))
    sent: list[int] = []
    scope = {
        "type": "http", "method": "GET", "path": f"/api/repo-obj/{stored['id']}/content", "scheme": "http", "query_string": b"",
        "client": ("198.51.100.7", 1), "headers": [(b"authorization", f"Bearer {alice.token}".encode())],
    }  # fmt: skip
    left = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body":
            sent.append(len(message["body"]))
            left.set()
            await asyncio.sleep(0)

    await alice.app(scope, receive, send)

    assert 0 < sum(sent) < 8 << 20


async def test_bytes_that_are_gone_from_the_store_are_a_plain_refusal(company: Company, alice: Client) -> None:
    stored = await put(alice, "lost", secrets.token_bytes(100))
    await company.house.services.blobs.delete(company.org.id, bytes.fromhex(stored["version"]["sha256"]))

    answer = await content(alice, stored["id"])

    assert (answer.status, answer.code) == (503, "repository.bytes_unavailable")

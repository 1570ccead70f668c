"""S3's smaller doors: links that never end, keys that no listing can carry, moments beyond the calendar, types, suspension."""

import hmac
import time
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tests.domains.s3.replies import Holder, holder_of
from tests.postgres import run_as_owner
from tests.support.client import Answer, Client
from tests.support.people import Company

pytestmark = pytest.mark.finding

DAY = 86_400
FAR = ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59")


@pytest.fixture
async def holder(company: Company) -> Holder:
    return await holder_of(await company.join("owner"))


async def follow_old_link(holder: Holder, seconds: int) -> Answer:
    """A link with the old signature, which says when it ends and not when it was made."""
    until, path = int(time.time()) + seconds, holder.at("here")
    text = f"GET\n\n\n{until}\n{path}"
    signature = b64encode(hmac.digest(holder.key["secret_access_key"].encode(), text.encode(), "sha1")).decode()
    query = f"AWSAccessKeyId={holder.key['access_key_id']}&Expires={until}&Signature={quote(signature, safe='')}"
    return await Client(holder.client.app).get(f"{path}?{query}")


@pytest.mark.parametrize(("seconds", "status"), [(60, 200), (7 * DAY, 200), (8 * DAY, 403), (10**9, 403), (-60, 403)])
async def test_f13_a_link_with_the_old_signature_works_for_seven_days(
    holder: Holder, seconds: int, status: int
) -> None:
    assert (await follow_old_link(holder, seconds)).status == status


@pytest.mark.parametrize(("days", "status"), [(1, 204), (8, 403)])
async def test_f13_a_form_works_for_seven_days(holder: Holder, days: int, status: int) -> None:
    body, content_type = holder.form(until=datetime.now(UTC) + timedelta(days=days))

    answer = await holder.client.send("POST", "/files", body, headers={"content-type": content_type})

    assert answer.status == status, answer.raw


UNWRITABLE = ["\x01", "\x08", "\x0b", "\x1f", "\x80", "\x9f", "\ufffe", "\uffff"]


@pytest.mark.parametrize("character", UNWRITABLE)
async def test_f15_a_key_that_no_listing_can_carry_is_refused_everywhere(holder: Holder, character: str) -> None:
    key = f"a{character}b"

    by_api = await holder.client.put(f"/api/repo/{key}", b"x")
    put = await holder.ask("PUT", f"/files/{quote(key)}", b"x")
    begun = await holder.ask("POST", f"/files/{quote(key)}?uploads")
    copied = await holder.ask("PUT", f"/files/{quote(key)}", x_amz_copy_source=holder.at("here"))
    read = await holder.ask("GET", f"/files/{quote(key)}")
    body, content_type = holder.form({"key": key})
    posted = await holder.client.send("POST", "/files", body, headers={"content-type": content_type})

    assert (by_api.status, by_api.code) == (400, "repository.bad_key")
    for answer in (put, begun, copied, posted, read):
        assert (answer.status, b"<Code>InvalidURI</Code>" in answer.raw) == (400, True)


@pytest.mark.parametrize("key", ["tab\there", "line\nbreak", "re\rturn", "grüße ✓ 😀", "<&>\"'"])
async def test_f15_a_key_that_listings_can_carry_is_taken_and_listed(holder: Holder, key: str) -> None:
    assert (await holder.ask("PUT", f"/files/{quote(key)}", b"x")).status == 200

    listed = ElementTree.fromstring((await holder.ask("GET", "/files")).raw)

    assert key in [one.text for one in listed.iter("{http://s3.amazonaws.com/doc/2006-03-01/}Key")]


async def test_f15_a_key_from_before_breaks_no_listing_and_can_be_read(company: Company, holder: Holder) -> None:
    url = company.house.services.settings.database_url
    await run_as_owner(
        url, "UPDATE objects SET key = $1 WHERE org_id = $2 AND key LIKE '%/here'", "a\x01\x80b", company.org.id
    )

    plain, encoded = await holder.ask("GET", "/files"), await holder.ask("GET", "/files?encoding-type=url")
    read = await holder.ask("GET", "/files/a%01%C2%80b")
    refused = await holder.ask("GET", "/files/a%01b")
    deleted = await holder.ask("DELETE", "/files/a%01%C2%80b")

    assert [ElementTree.fromstring(one.raw).tag.rpartition("}")[2] for one in (plain, encoded, refused)] == [
        "ListBucketResult", "ListBucketResult", "Error",
    ]  # fmt: skip
    assert b"<Key>a%01%C2%80b</Key>" in encoded.raw
    assert (read.status, read.raw, deleted.status) == (200, b"words", 204)


@pytest.mark.parametrize(
    "date", ["Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 99999"]
)
async def test_f16_a_signature_from_the_end_of_all_years_is_refused(holder: Holder, date: str) -> None:
    signed = f"AWS4-HMAC-SHA256 Credential={holder.key['access_key_id']}/99991231/x/s3/aws4_request, SignedHeaders=host, Signature=0"
    headers = {"authorization": signed, "date": date, "x-amz-content-sha256": "UNSIGNED-PAYLOAD"}

    assert (await Client(holder.client.app).get("/files", headers=headers)).status == 403


async def test_d19_a_write_while_suspended_is_refused_in_s3s_own_words(company: Company, holder: Holder) -> None:
    await company.suspend()

    read = await holder.ask("GET", holder.at("here"))
    writes = [
        await holder.ask("PUT", holder.at("here"), b"x"),
        await holder.ask("DELETE", holder.at("here")),
        await holder.ask("POST", holder.at("film") + "?uploads"),
        await holder.ask("PUT", "/files?tagging", b"<Tagging><TagSet/></Tagging>"),
    ]
    body, content_type = holder.form()
    posted = await holder.client.send("POST", "/files", body, headers={"content-type": content_type})

    assert read.status == 200
    for answer in (*writes, posted):
        assert (answer.status, b"<Code>AccountProblem</Code>" in answer.raw) == (403, True), answer.raw


@pytest.mark.parametrize("text", ["a\x01b", "a\x0bb", "a\x7fb", "a\r\nset-cookie: x=y", "gr\u00fc\u00dfe \u2713"])
async def test_what_a_link_wants_a_header_to_say_cannot_end_it(holder: Holder, text: str) -> None:
    overrides = {"ResponseContentDisposition": text, "ResponseContentType": text}

    answer = await holder.follow("here", overrides)

    assert answer.status == 200
    assert "set-cookie" not in answer.headers
    for name in ("content-disposition", "content-type"):
        assert answer.headers[name].encode("latin-1").decode().isprintable()


async def test_where_a_form_leads_cannot_end_the_header(holder: Holder) -> None:
    body, content_type = holder.form({"success_action_redirect": "https://elsewhere.example/\x01\u2713"})

    answer = await holder.client.send("POST", "/files", body, headers={"content-type": content_type})

    assert answer.status == 303
    assert answer.headers["location"].startswith("https://elsewhere.example/ ")

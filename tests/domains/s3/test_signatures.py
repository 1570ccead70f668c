"""Signatures: whatever botocore signs is let in, whatever was changed since is not, and neither is a body that was."""

import asyncio
import hashlib
import hmac
import random
import socket
import string
import zlib
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from atrium.product.s3 import chunks, sigv4
from tests.domains.s3.clients import Person, Place
from tests.support.patience import PATIENCE
from tests.support.processes import rounds

ALPHABET = string.ascii_letters + string.digits + " !$&'()*+,;:@%#[]?=^`{|}~-_.\"<>\\þöñ€😀"
MANY = rounds(150, 3000)
Sent = tuple[str, str, dict[str, str], bytes]


def credentials_of(person: Person) -> Credentials:
    return Credentials(person.key["access_key_id"], person.key["secret_access_key"])


def words(chance: random.Random, most: int) -> str:
    return "".join(chance.choice(ALPHABET) for _ in range(chance.randint(1, most)))


def signed(person: Person, chance: random.Random) -> Sent:
    """A random request to the caller's bucket, signed in its header or in its address."""
    query = {words(chance, 6): words(chance, 8) for _ in range(chance.randint(0, 3))}
    # A letter in front: the client used here would resolve a key that is nothing but dots before it is sent.
    path = f"/{person.bucket}/k{quote(words(chance, 30), safe='~/')}"
    url = f"{person.address}{path}" + (f"?{urlencode(query, quote_via=quote)}" if query else "")
    host, region = urlsplit(person.address).netloc, chance.choice(["atrium", "us-east-1", "eu-west-3", "moon-1"])
    if chance.random() < 0.5:
        body = words(chance, 50).encode()
        headers = {"Host": host, "x-amz-meta-note": f"x   {chance.random()}"}
        request = AWSRequest("PUT", url, data=body, headers=headers)
        S3SigV4Auth(credentials_of(person), "s3", region).add_auth(request)
    else:
        body, request = b"", AWSRequest("GET", url, headers={"Host": host})
        S3SigV4QueryAuth(credentials_of(person), "s3", region, expires=3600).add_auth(request)
    made = request.prepare()
    headers = {name: value if isinstance(value, str) else value.decode() for name, value in made.headers.items()}
    return made.method, made.url, headers, body


def flipped(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice([c for c in "abcdef0123456789" if c != text[at].lower()]) + text[at + 1 :]


def mutated(sent: Sent, chance: random.Random) -> Sent:
    """The same request with one thing about it changed."""
    method, url, headers, body = sent
    changes = ["method", "path", "query", "signature"] + (["header", "digest"] if "Authorization" in headers else [])
    change = chance.choice(changes)
    if change == "method":
        method = chance.choice([one for one in ("GET", "PUT", "DELETE", "POST", "HEAD") if one != method])
    elif change == "path":
        parts = urlsplit(url)
        url = parts._replace(path=parts.path + chance.choice("abcxyz")).geturl()
    elif change == "query":
        url += ("&" if "?" in url else "?") + f"extra={chance.randint(0, 9)}"
    elif change == "header":
        headers = headers | {"x-amz-meta-note": "changed"}
    elif change == "digest":
        headers = headers | {"X-Amz-Content-SHA256": hashlib.sha256(b"other").hexdigest()}
    elif "Authorization" in headers:
        head, _, signature = headers["Authorization"].rpartition("Signature=")
        headers = headers | {"Authorization": f"{head}Signature={flipped(signature, chance)}"}
    else:
        head, _, signature = url.rpartition("X-Amz-Signature=")
        url = f"{head}X-Amz-Signature={flipped(signature, chance)}"
    return method, url, headers, body


async def statuses(sents: Iterator[Sent]) -> list[tuple[int, Sent]]:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:

        async def one(sent: Sent) -> tuple[int, Sent]:
            method, url, headers, body = sent
            # The address goes out as it was signed: httpx would write some characters its own way.
            target = httpx.URL(url).copy_with(raw_path=b"/" + url.split("/", 3)[3].encode())
            answer = await client.request(method, target, headers=headers, content=body or None)
            return answer.status_code, sent

        gate = asyncio.Semaphore(8)

        async def bounded(sent: Sent) -> tuple[int, Sent]:
            async with gate:
                return await one(sent)

        return await asyncio.gather(*(bounded(sent) for sent in sents))


async def test_whatever_botocore_signs_is_admitted(ada: Person) -> None:
    chance = random.Random(1)

    found = await statuses(signed(ada, chance) for _ in MANY)

    assert [sent for status, sent in found if status in (400, 401, 403) or status >= 500] == []
    assert len(found) == len(MANY)


async def test_whatever_was_changed_after_signing_is_refused(ada: Person) -> None:
    chance = random.Random(2)

    found = await statuses(mutated(signed(ada, chance), chance) for _ in MANY)

    assert [(status, sent) for status, sent in found if status != 403] == []


def framed(mode: str, seal: sigv4.Seal, pieces: list[bytes], crc: bytes) -> bytes:
    """A body in frames of its own, signed as botocore's peers sign it."""
    body, last = b"", seal.signature
    for piece in [*pieces, b""]:
        head = f"{len(piece):x}"
        if mode != chunks.UNSIGNED_TRAILER:
            digest = hashlib.sha256(piece).hexdigest()
            empty = hashlib.sha256(b"").hexdigest()
            text = f"AWS4-HMAC-SHA256-PAYLOAD\n{seal.at}\n{seal.scope}\n{last}\n{empty}\n{digest}"
            last = _mac(seal, text)
            head += f";chunk-signature={last}"
        body += head.encode() + b"\r\n" + piece + (b"\r\n" if piece else b"")
    if mode == chunks.SIGNED:
        return body + b"\r\n"
    field = b"x-amz-checksum-crc32:" + crc
    body += field + b"\r\n"
    if mode == chunks.SIGNED_TRAILER:
        digest = hashlib.sha256(field + b"\n").hexdigest()
        text = f"AWS4-HMAC-SHA256-TRAILER\n{seal.at}\n{seal.scope}\n{last}\n{digest}"
        body += f"x-amz-trailer-signature:{_mac(seal, text)}\r\n".encode()
    return body + b"\r\n"


def _mac(seal: sigv4.Seal, text: str) -> str:
    return hmac.new(seal.key, text.encode(), hashlib.sha256).hexdigest()


async def put_framed(person: Person, mode: str, key: str, *, flip: bool) -> httpx.Response:
    """Upload in frames; `flip` changes one byte of the content after everything was signed."""
    pieces = [b"a" * 70_000, b"b" * 1000]
    whole = b"".join(pieces)
    crc = b64encode(zlib.crc32(whole).to_bytes(4, "big"))
    host = urlsplit(person.address).netloc
    at = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    headers = {
        "host": host,
        "x-amz-content-sha256": mode,
        "x-amz-date": at,
        "x-amz-decoded-content-length": str(len(whole)),
        "content-encoding": "aws-chunked",
        **({} if mode == chunks.SIGNED else {"x-amz-trailer": "x-amz-checksum-crc32"}),
    }
    path, scope = f"/{person.bucket}/{key}", f"{at[:8]}/atrium/s3/aws4_request"
    names = ";".join(sorted(headers))
    canonical = f"PUT\n{path}\n\n" + "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = hashlib.sha256(f"{canonical}\n{names}\n{mode}".encode()).hexdigest()
    signing = sigv4.signing_key(person.key["secret_access_key"], at[:8], "atrium")
    seal = sigv4.Seal(signing, scope, at, "")
    signature = _mac(seal, f"AWS4-HMAC-SHA256\n{at}\n{scope}\n{request}")
    body = framed(mode, sigv4.Seal(signing, scope, at, signature), pieces, crc)
    if flip:
        place = body.index(b"aaaa") + 40_000
        body = body[:place] + b"c" + body[place + 1 :]
    credential = f"{person.key['access_key_id']}/{scope}"
    authorization = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.put(
            f"{person.address}{path}", headers=headers | {"authorization": authorization}, content=body
        )


@pytest.mark.parametrize("mode", sorted(chunks.FRAMED))
async def test_a_body_in_frames_is_stored_as_what_is_inside(ada: Person, mode: str) -> None:
    answer = await put_framed(ada, mode, "framed", flip=False)

    assert answer.status_code == 200, answer.text
    found = ada.s3().get_object(Bucket=ada.bucket, Key="framed")
    assert found["Body"].read() == b"a" * 70_000 + b"b" * 1000
    assert "ContentEncoding" not in found


@pytest.mark.parametrize("mode", sorted(chunks.FRAMED))
async def test_one_flipped_byte_in_a_framed_body_stores_nothing(place: Place, ada: Person, mode: str) -> None:
    before = set((place.data / "staging").glob("*"))

    answer = await put_framed(ada, mode, "flipped", flip=True)

    assert answer.status_code in (400, 403), answer.text
    client: Any = ada.s3()
    assert client.list_object_versions(Bucket=ada.bucket).get("Versions") is None
    assert set((place.data / "staging").glob("*")) <= before


async def test_bad_credentials_are_refused_before_the_body_is_asked_for(ada: Person) -> None:
    host, _, port = urlsplit(ada.address).netloc.partition(":")
    scope = f"{datetime.now(UTC):%Y%m%d}/atrium/s3/aws4_request"
    head = (
        f"PUT /{ada.bucket}/big HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n"
        f"x-amz-date: {datetime.now(UTC):%Y%m%dT%H%M%SZ}\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\n"
        f"Authorization: AWS4-HMAC-SHA256 Credential=ATNOBODY/{scope}, "
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=00\r\n\r\n"
    )

    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(head.encode())
        answer = await asyncio.to_thread(_until_closed, connection)

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"100 Continue" not in answer
    assert b"InvalidAccessKeyId" in answer


def _until_closed(connection: socket.socket) -> bytes:
    parts = []
    while piece := connection.recv(65536):
        parts.append(piece)
    return b"".join(parts)


async def test_a_link_stops_with_its_key(place: Place, ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="linked", Body=b"words")
    link = client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "linked"})
    async with httpx.AsyncClient(trust_env=False) as browser, place.server.client(ada.token) as api:
        before = await browser.get(link)
        revoked = await api.delete(f"/api/s3/credentials/{ada.key['id']}")

        after = await browser.get(link)

    assert (before.status_code, before.content) == (200, b"words")
    assert (revoked.status_code, revoked.json()) == (200, {"id": ada.key["id"]})
    assert after.status_code == 403
    assert "InvalidAccessKeyId" in after.text


async def test_the_apis_link_is_signed_with_the_newest_key_and_dies_with_it(place: Place, ada: Person) -> None:
    async with place.server.client(ada.token) as api, httpx.AsyncClient(trust_env=False) as browser:
        stored = (await api.put("/api/repo/a%20b/ü+%25.txt", content=b"first")).json()
        newest = (await api.post("/api/s3/credentials", json={})).json()
        link = (await api.post(f"/api/repo-obj/{stored['id']}/presign", json={"expires_in": 60})).json()["url"]
        writable = await api.post(f"/api/repo-obj/{stored['id']}/presign", json={"method": "PUT"})
        before = await browser.get(link)
        written = await browser.put(writable.json()["url"], content=b"second")
        again = await browser.get(link)
        await api.delete(f"/api/s3/credentials/{newest['id']}")

        after = await browser.get(link)

    assert newest["access_key_id"] in link
    assert (before.status_code, before.content) == (200, b"first")
    assert written.status_code == 200, written.text
    assert again.content == b"second"
    assert after.status_code == 403


async def test_an_old_signature_is_good_in_a_link_and_nowhere_else(ada: Person) -> None:
    client = ada.s3(signature_version="s3")
    ada.s3().put_object(Bucket=ada.bucket, Key="old", Body=b"words")
    link = client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "old"})
    async with httpx.AsyncClient(trust_env=False) as browser:
        good = await browser.get(link)
        changed = await browser.get(link.replace("/old?", "/new?"))
    with pytest.raises(client.exceptions.ClientError) as refused:
        client.get_object(Bucket=ada.bucket, Key="old")

    assert "AWSAccessKeyId" in link
    assert (good.status_code, good.content) == (200, b"words")
    assert changed.status_code == 403
    assert refused.value.response["Error"]["Code"] == "AccessDenied"

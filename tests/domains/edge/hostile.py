"""Requests that mean harm, one function a kind: each is made to cost the server far more than it costs its sender."""

import asyncio
import contextlib
import json
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.support.patience import PATIENCE

MEGABYTE = 1 << 20
# As much as a head may carry, with room for the rest of it.
FULL = 60_000


@dataclass(frozen=True, slots=True)
class Target:
    """A server, and what an attacker may know or hold."""

    port: int
    session: str
    access_key_id: str

    async def send(self, *pieces: bytes) -> int:
        """Everything on a connection of its own; the status that came back, 0 when it was closed without one."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        said = asyncio.create_task(reader.read(4096))
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                if said.done():
                    break
                writer.write(piece)
                await writer.drain()
        head = b""
        with contextlib.suppress(ConnectionError):
            head = await asyncio.wait_for(said, PATIENCE)
        writer.close()
        return int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0

    async def ask(self, method: str, path: str, body: bytes = b"", headers: Iterable[tuple[str, str]] = ()) -> int:
        """One request with an honest frame."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {len(body)}\r\n{lines}\r\n"
        return await self.send(head.encode("latin-1"), body)

    async def ask_signed(self, method: str, path: str, body: bytes = b"", **headers: str) -> int:
        """The same by somebody who is signed in."""
        sent = [("authorization", f"Bearer {self.session}")]
        return await self.ask(method, path, body, sent + [(n.replace("_", "-"), v) for n, v in headers.items()])


Kind = Callable[[Target], Awaitable[int]]
KINDS: dict[str, Kind] = {}


def kind(send: Kind) -> Kind:
    KINDS[send.__name__] = send
    return send


HEAD = b"GET /files HTTP/1.1\r\nhost: x\r\nauthorization: AWS4-HMAC-SHA256 x\r\n"
CHUNKED = b"POST /api/login HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


# Without a credential: the connection


@kind
async def one_header_repeated(target: Target) -> int:
    return await target.send(HEAD, *[b"x-amz-meta-a: b\r\n" * 1000] * 200)


@kind
async def thousands_of_header_names(target: Target) -> int:
    return await target.send(HEAD, *(b"".join(b"h%d:\r\n" % (n * 1000 + m) for m in range(1000)) for n in range(50)))


@kind
async def a_header_without_an_end(target: Target) -> int:
    return await target.send(HEAD + b"x-long: ", *[b"v" * MEGABYTE] * 8)


@kind
async def an_address_without_an_end(target: Target) -> int:
    return await target.send(b"GET /", *[b"a" * MEGABYTE] * 8)


@kind
async def as_many_headers_as_are_taken(target: Target) -> int:
    lines = b"".join(b"x-amz-meta-%d: %b\r\n" % (n, b"v" * 280) for n in range(190))
    return await target.send(HEAD + lines + b"connection: close\r\n\r\n")


@kind
async def one_byte_a_chunk(target: Target) -> int:
    return await target.send(CHUNKED, *[b"1\r\n[\r\n" * 10_000] * 10)


@kind
async def a_trailer_without_an_end(target: Target) -> int:
    return await target.send(CHUNKED + b"2\r\n{}\r\n0\r\nx-trailer: ", *[b"v" * MEGABYTE] * 4)


@kind
async def thousands_of_trailers(target: Target) -> int:
    return await target.send(CHUNKED + b"2\r\n{}\r\n0\r\n", *[b"x-t: v\r\n" * 10_000] * 10)


@kind
async def a_chunk_extension_without_an_end(target: Target) -> int:
    return await target.send(CHUNKED + b"2;", *[b"e" * MEGABYTE] * 4)


@kind
async def ten_thousand_requests_at_once(target: Target) -> int:
    return await target.send(*[b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n" * 5000] * 2)


@kind
async def what_is_not_http(target: Target) -> int:
    return await target.send(b"\x16\x03\x01" + bytes(range(256)) * 2000)


# Without a credential: what is read before one is asked for


@kind
async def thousands_of_signed_names(target: Target) -> int:
    names = ";".join(f"h{number}" for number in range(9000))
    signed = f"AWS4-HMAC-SHA256 Credential={credential(target)}, SignedHeaders={names}, Signature=0"
    return await target.ask("GET", "/files", headers=[("authorization", signed), *amazon()])


@kind
async def one_long_header_signed_many_times(target: Target) -> int:
    names = ";".join(["host", *["x-amz-meta-a"] * 2000])
    signed = f"AWS4-HMAC-SHA256 Credential={credential(target)}, SignedHeaders={names}, Signature=0"
    headers = [("authorization", signed), ("x-amz-meta-a", "v " * 15_000), *amazon()]
    return await target.ask("GET", "/files", headers=headers)


@kind
async def a_signature_of_commas(target: Target) -> int:
    return await target.ask("GET", "/files", headers=[("authorization", "AWS4-HMAC-SHA256 " + "a=b," * 15_000)])


@kind
async def a_credential_of_slashes(target: Target) -> int:
    return await target.ask(
        "GET",
        f"/files?X-Amz-Signature=0&X-Amz-Expires=9&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={'/' * FULL}",
    )


@kind
async def a_link_of_empty_fields(target: Target) -> int:
    return await target.ask("GET", "/files?X-Amz-Signature=0" + "&a" * (FULL // 2))


@kind
async def a_link_without_an_end(target: Target) -> int:
    expires = "1" * 9 + "0" * 50_000
    return await target.ask("GET", f"/files?X-Amz-Signature=0&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires={expires}")


@kind
async def an_encoded_key(target: Target) -> int:
    return await target.ask("GET", "/files/" + "%41" * (FULL // 3) + "?X-Amz-Signature=0")


@kind
async def a_form_of_many_fields(target: Target) -> int:
    field = b'--b\r\ncontent-disposition: form-data; name="a%d"\r\n\r\nv\r\n'
    return await target.ask("POST", "/files", b"".join(field % n for n in range(20_000)), [form()])


@kind
async def a_form_without_a_boundary(target: Target) -> int:
    return await target.ask("POST", "/files", b"--b\r\n" + b"\r\n-" * MEGABYTE, [form()])


@kind
async def a_form_of_nested_policy(target: Target) -> int:
    policy = b64encode(b"[" * 40_000).decode()
    fields = {"key": "k", "awsaccesskeyid": target.access_key_id, "signature": "0", "policy": policy}
    parts = "".join(f'--b\r\ncontent-disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields.items())
    file = '--b\r\ncontent-disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n'
    return await target.ask("POST", "/files", (parts + file).encode(), [form()])


@kind
async def a_form_of_quotes(target: Target) -> int:
    head = b'--b\r\ncontent-disposition: form-data; name="' + b'\\"name=' * 2000
    return await target.ask("POST", "/files", head + b"\r\n\r\n", [form()])


@kind
async def a_sign_in_of_nested_lists(target: Target) -> int:
    return await target.ask("POST", "/api/login", b"[" * FULL)


@kind
async def a_sign_in_of_escapes(target: Target) -> int:
    return await target.ask("POST", "/api/login", b'{"username":"' + b"\\\\" * (FULL // 2) + b'u0000\\u0000"}')


@kind
async def a_sign_in_of_a_long_password(target: Target) -> int:
    return await target.ask("POST", "/api/login", json.dumps({"username": "ada", "password": "p" * 1024}).encode())


@kind
async def a_sign_in_of_a_megabyte(target: Target) -> int:
    return await target.ask("POST", "/api/login", b" " * MEGABYTE)


@kind
async def a_document_from_nobody(target: Target) -> int:
    headers = [("authorization", "Bearer ats_nobody")]
    return await target.ask("POST", "/api/documents", b'{"title":"' + b"x" * 6 * MEGABYTE, headers)


@kind
async def a_page_in_every_language(target: Target) -> int:
    return await target.ask("GET", "/login", headers=[("accept-language", "x;q=0.1," * (FULL // 8))])


@kind
async def a_page_for_a_long_host(target: Target) -> int:
    return await target.ask("GET", "/api/branding", headers=[("host", "a." * (FULL // 2))])


@kind
async def a_thousand_slashes(target: Target) -> int:
    return await target.ask("GET", "/api/notes" + "/x" * (FULL // 2))


@kind
async def a_query_of_many_fields(target: Target) -> int:
    return await target.ask("GET", "/api/config?" + "a=1&" * (FULL // 4))


@kind
async def a_query_of_percents(target: Target) -> int:
    return await target.ask("GET", "/api/i18n/catalog?locale=" + "%c3%a9" * (FULL // 6))


@kind
async def a_language_nobody_speaks(target: Target) -> int:
    return await target.ask("GET", f"/api/i18n/catalog?locale=x{secrets.token_hex(8)}")


@kind
async def a_jar_of_cookies(target: Target) -> int:
    return await target.ask("GET", "/api/whoami", headers=[("cookie", "a=b; " * (FULL // 5))])


@kind
async def a_request_before_a_request(target: Target) -> int:
    asked = [("origin", "https://x"), ("access-control-request-method", "GET")]
    return await target.ask("OPTIONS", "/s3/files", headers=[*asked, ("access-control-request-headers", "a," * 25_000)])


# By somebody who is signed in: what they hand in


@kind
async def ten_thousand_parts(target: Target) -> int:
    part = "<Part><PartNumber>{}</PartNumber><ETag>x</ETag><ChecksumSHA256>x</ChecksumSHA256><a/><b/></Part>"
    body = f"<CompleteMultipartUpload>{''.join(part.format(n) for n in range(1, 10_001))}</CompleteMultipartUpload>"
    return await target.ask_signed("POST", f"/s3/files/film?uploadId={'0' * 32}", body.encode())


@kind
async def a_million_elements(target: Target) -> int:
    return await target.ask_signed("POST", "/s3/files?delete", b"<Delete>" + b"<a/>" * 1_000_000 + b"</Delete>")


@kind
async def as_many_elements_as_are_taken(target: Target) -> int:
    return await target.ask_signed("POST", "/s3/files?delete", b"<Delete>" + b"<a/>" * 190_000 + b"</Delete>")


@kind
async def elements_in_elements(target: Target) -> int:
    return await target.ask_signed("POST", "/s3/files?delete", b"<a>" * 90_000 + b"</a>" * 90_000)


@kind
async def a_thousand_attributes(target: Target) -> int:
    many = b"".join(b' a%d=""' % number for number in range(150_000))
    return await target.ask_signed("POST", "/s3/files?delete", b"<Delete" + many + b"/>")


@kind
async def an_entity_that_grows(target: Target) -> int:
    entities = "".join(f'<!ENTITY {c} "{f"&{chr(ord(c) - 1)};" * 10}">' for c in "bcdefgh")
    text = (
        f'<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">{entities}]><Delete>&h;</Delete>'
    )
    return await target.ask_signed("POST", "/s3/files?delete", text.encode("utf-16"))


@kind
async def a_thousand_keys(target: Target) -> int:
    keys = "".join(f"<Object><Key>{'k' * 900}{n}</Key></Object>" for n in range(1000))
    return await target.ask_signed("POST", "/s3/files?delete", f"<Delete>{keys}</Delete>".encode())


@kind
async def rules_without_an_end(target: Target) -> int:
    rule = b"<CORSRule><AllowedOrigin>x</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>"
    return await target.ask_signed("PUT", "/s3/files?cors", b"<CORSConfiguration>" + rule * 40_000)


@kind
async def a_page_that_many_rules_are_compared_with(target: Target) -> int:
    origins = b"".join(b"<AllowedOrigin>%b*%d</AllowedOrigin>" % (b"o" * 20, n) for n in range(100))
    rule = b"<CORSRule>%b<AllowedMethod>GET</AllowedMethod></CORSRule>" % origins
    await target.ask_signed("PUT", "/s3/files?cors", b"<CORSConfiguration>%b</CORSConfiguration>" % (rule * 10))
    return await target.ask_signed("GET", "/s3/files", origin="o" * FULL)


@kind
async def tags_without_an_end(target: Target) -> int:
    tag = b"<Tag><Key>k</Key><Value>v</Value></Tag>"
    return await target.ask_signed("PUT", "/s3/files?tagging", b"<Tagging><TagSet>" + tag * 100_000)


@kind
async def a_header_of_tags(target: Target) -> int:
    return await target.ask_signed("PUT", "/s3/files/k", b"x", x_amz_tagging="a=b&" * 12_000)


@kind
async def one_byte_a_frame(target: Target) -> int:
    frames = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
    return await target.ask_signed(
        "PUT", "/s3/files/framed", frames,
        x_amz_content_sha256="STREAMING-UNSIGNED-PAYLOAD-TRAILER", x_amz_decoded_content_length="20000",
    )  # fmt: skip


@kind
async def a_list_of_tags_to_compare(target: Target) -> int:
    return await target.ask_signed("GET", "/s3/files/k", if_none_match='"a",' * (FULL // 4))


@kind
async def a_range_of_digits(target: Target) -> int:
    return await target.ask_signed("GET", "/s3/files/k", range=f"bytes={'9' * (FULL // 2)}-{'9' * (FULL // 2)}")


@kind
async def a_date_of_words(target: Target) -> int:
    return await target.ask_signed("GET", "/s3/files/k", if_modified_since="Mon, (" * (FULL // 6))


@kind
async def a_copy_of_percents(target: Target) -> int:
    return await target.ask_signed("PUT", "/s3/files/copy", x_amz_copy_source="/files/" + "%41" * (FULL // 3))


@kind
async def a_note_of_nested_lists(target: Target) -> int:
    return await target.ask_signed("POST", "/api/notes", b'{"title":' + b"[" * 900_000)


@kind
async def a_listing_from_nowhere(target: Target) -> int:
    return await target.ask_signed("GET", f"/api/repo?cursor={'A' * 4000}&prefix={'p' * 1000}&delimiter=/")


@kind
async def a_long_key_against_doubles(target: Target) -> int:
    return await target.ask_signed("POST", "/api/notes", b'{"title":"x"}', idempotency_key="k" * FULL)


@kind
async def a_look_of_a_thousand_colours(target: Target) -> int:
    theme: dict[str, Any] = {f"--x{number}": "#fff" for number in range(20_000)}
    return await target.ask_signed("PUT", "/api/branding", json.dumps({"title": "x", "theme": theme}).encode())


async def a_turn(target: Target, schema: Any) -> int:
    reply = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    asked = {"messages": [{"role": "user", "content": "x"}], "response_format": reply}
    return await target.ask_signed("POST", "/api/jobs", json.dumps({"kind": "ai.turn", "input": asked}).encode())


def lists_of(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "minItems": 30, "items": schema}
    return schema


@kind
async def a_turn_of_lists_of_lists(target: Target) -> int:
    return await a_turn(target, lists_of(9))


@kind
async def a_turn_of_as_many_lists_as_are_taken(target: Target) -> int:
    return await a_turn(target, lists_of(2))


@kind
async def a_turn_of_many_references(target: Target) -> int:
    places = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 50} for n in range(20)}
    return await a_turn(target, {"$ref": "#/$defs/d0", "$defs": {**places, "d20": {"type": "string"}}})


@kind
async def a_turn_of_a_long_text(target: Target) -> int:
    return await a_turn(target, {"type": "string", "minLength": 1_000_000_000})


@kind
async def a_turn_of_a_deep_schema(target: Target) -> int:
    schema: dict[str, Any] = {}
    for _ in range(400):
        schema = {"properties": {"a": schema}}
    return await a_turn(target, schema)


def credential(target: Target) -> str:
    return f"{target.access_key_id}/{datetime.now(UTC):%Y%m%d}/atrium/s3/aws4_request"


def amazon() -> list[tuple[str, str]]:
    return [("x-amz-date", f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"), ("x-amz-content-sha256", "UNSIGNED-PAYLOAD")]


def form() -> tuple[str, str]:
    return "content-type", "multipart/form-data; boundary=b"


# Signed in: schemas that cost more than they are worth


@kind
async def a_schema_of_arrays_in_arrays(target: Target) -> int:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        schema = {"type": "array", "minItems": 100, "items": schema}
    return await turn(target, schema)


@kind
async def a_schema_of_patterns(target: Target) -> int:
    return await turn(target, {"anyOf": [{"pattern": f"\\w{{1,45}}\\W{{1,45}}{number}"} for number in range(100)]})


@kind
async def a_schema_of_branches(target: Target) -> int:
    return await turn(target, {"oneOf": [{"type": "string", "minLength": number} for number in range(700)]})


async def turn(target: Target, schema: dict[str, Any]) -> int:
    shape = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    tool = {"type": "function", "function": {"name": "look", "parameters": schema}}
    asked = {"messages": [{"role": "user", "content": "look"}], "response_format": shape, "tools": [tool]}
    return await target.ask_signed("POST", "/api/jobs", json.dumps({"kind": "ai.turn", "input": asked}).encode())

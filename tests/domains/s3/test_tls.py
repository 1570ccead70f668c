"""Behind TLS, where today's SDKs frame their uploads and put the checksum behind them."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from tests.domains.s3.clients import Person, Place
from tests.support.certificates import self_signed


async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter, seen: bytearray | None = None) -> None:
    try:
        while piece := await source.read(65536):
            if seen is not None:
                seen += piece[:2000]
            target.write(piece)
            await target.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        target.close()


@asynccontextmanager
async def terminating(place: Place, tls: dict[str, Path]) -> AsyncIterator[tuple[str, bytearray]]:
    """An address that speaks TLS in front of the server, and what clients sent through it."""
    seen = bytearray()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", place.port)
        await asyncio.gather(pump(reader, outer, seen), pump(inner, writer))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls["tls_certificate"], tls["tls_key"])
    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    finally:
        server.close()


def client_at(person: Person, address: str, pem: Path) -> Any:
    return boto3.client(
        "s3", endpoint_url=address, region_name=person.key["region"], verify=str(pem),
        aws_access_key_id=person.key["access_key_id"], aws_secret_access_key=person.key["secret_access_key"],
        config=Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}),
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 5_000, 20_000_000])
async def test_an_upload_with_the_defaults_of_today_reads_back(
    place: Place, ada: Person, tmp_path: Path, size: int
) -> None:
    tls, body = self_signed(tmp_path), bytes(range(250)) * (size // 250)
    async with terminating(place, tls) as (address, seen):
        client = client_at(ada, address, tls["tls_certificate"])

        await asyncio.to_thread(client.put_object, Bucket=ada.bucket, Key="k", Body=body)
        found = await asyncio.to_thread(lambda: client.get_object(Bucket=ada.bucket, Key="k")["Body"].read())

    assert found == body
    assert b"STREAMING-UNSIGNED-PAYLOAD-TRAILER" in seen
    assert ada.s3().head_object(Bucket=ada.bucket, Key="k", ChecksumMode="ENABLED")["ChecksumCRC32"]


async def test_links_and_forms_work_with_the_defaults_of_today(place: Place, ada: Person, tmp_path: Path) -> None:
    tls = self_signed(tmp_path)
    async with terminating(place, tls) as (address, _):
        client = client_at(ada, address, tls["tls_certificate"])
        put = client.generate_presigned_url("put_object", {"Bucket": ada.bucket, "Key": "put"})
        get = client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "put"})
        post = client.generate_presigned_post(ada.bucket, "posted")
        async with httpx.AsyncClient(
            verify=ssl.create_default_context(cafile=tls["tls_certificate"]), trust_env=False
        ) as browser:
            answers = [
                await browser.put(put, content=b"words"),
                await browser.get(get),
                await browser.post(post["url"], data=post["fields"], files={"file": b"form"}),
            ]

    assert [answer.status_code for answer in answers] == [200, 200, 204]
    assert answers[1].content == b"words"
    assert ada.s3().get_object(Bucket=ada.bucket, Key="posted")["Body"].read() == b"form"

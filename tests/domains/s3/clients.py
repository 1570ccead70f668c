"""Companies with access keys on a real server, and clients that use them."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.postgres import fresh_database
from tests.support.processes import Process, bootstrap, free_port, serving


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a session and an access key."""

    address: str
    token: str
    key: dict[str, Any]

    def s3(self, **options: Any) -> Any:
        """A client with the defaults of today, on the port that speaks S3."""
        config = Config(
            retries={"max_attempts": 1}, s3={"addressing_style": "path"}, **({"signature_version": "s3v4"} | options)
        )
        return boto3.client(
            "s3",
            endpoint_url=self.address,
            region_name=self.key["region"],
            aws_access_key_id=self.key["access_key_id"],
            aws_secret_access_key=self.key["secret_access_key"],
            config=config,
        )

    @property
    def bucket(self) -> str:
        return str(self.key["bucket"])

    def turn_on_versioning(self) -> None:
        """From here on, deleting over S3 leaves markers."""
        self.s3().put_bucket_versioning(Bucket=self.bucket, VersioningConfiguration={"Status": "Enabled"})


@dataclass(frozen=True, slots=True)
class Place:
    """A server that speaks S3 on a port of its own."""

    url: str
    server: Process
    port: int
    operator: str
    data: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def found(self) -> Person:
        """The owner of a company nobody else knows."""
        name = f"c-{secrets.token_hex(6)}"
        async with self.server.client(self.operator) as client:
            answer = await client.post("/api/orgs", json={"name": name, "owner": {"username": name}})
        assert answer.status_code == 201, answer.text
        return await self.person(answer.json()["token"])

    async def join(self, by: Person, role: str = "member", **key: Any) -> Person:
        """One more in the team of somebody who may add people."""
        async with self.server.client(by.token) as client:
            answer = await client.post("/api/members", json={"username": f"m-{secrets.token_hex(6)}", "role": role})
        assert answer.status_code == 201, answer.text
        return await self.person(answer.json()["token"], **key)

    async def person(self, token: str, **key: Any) -> Person:
        async with self.server.client(token) as client:
            answer = await client.post("/api/s3/credentials", json={"name": "tests", **key})
        assert answer.status_code == 201, answer.text
        return Person(self.address, token, answer.json())


@asynccontextmanager
async def s3_place(folder: Path, **settings: Any) -> AsyncIterator[Place]:
    """A server on a database of its own."""
    async with fresh_database() as url:
        port = free_port()
        async with serving(url, data_dir=folder, s3_port=port, **settings) as [server]:
            yield Place(url, server, port, await bootstrap(server), folder)


def refusal(error: ClientError) -> tuple[int, str]:
    """The status and S3's code."""
    response = error.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]

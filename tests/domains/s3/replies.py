"""One request for every kind of reply that S3's gateway gives, each with the status it must have."""

import hmac
import json
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.config import Config

from tests.support.client import Answer, Client

CORS = (
    b"<CORSConfiguration><CORSRule><AllowedOrigin>https://*.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>"
    b"</CORSRule></CORSConfiguration>"
)
TAGS = b"<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>"


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody with an access key, and a folder of the bucket that nobody else uses."""

    client: Client
    key: dict[str, Any]
    folder: str

    async def ask(self, method: str, place: str, body: bytes = b"", **headers: str) -> Answer:
        """A request below /s3 with the session; the gateway's replies are the same however one is admitted."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.send(method, f"/s3{place}", body or None, headers=sent)

    def at(self, name: str) -> str:
        return f"/files/{self.folder}/{name}"

    def link(self, name: str, **overrides: str) -> str:
        """A signed address without its origin."""
        s3 = boto3.client(
            "s3", endpoint_url="http://atrium.test", region_name="atrium", aws_access_key_id=self.key["access_key_id"],
            aws_secret_access_key=self.key["secret_access_key"],
            config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
        )  # fmt: skip
        wanted = {"Bucket": "files", "Key": f"{self.folder}/{name}", **overrides}
        return str(s3.generate_presigned_url("get_object", wanted)).removeprefix("http://atrium.test")

    async def follow(self, name: str, overrides: dict[str, str], **headers: str) -> Answer:
        """What a link leads anybody to."""
        return await Client(self.client.app).get(self.link(name, **overrides), headers=headers)

    def form(self, fields: dict[str, str] | None = None, until: datetime | None = None) -> tuple[bytes, str]:
        """A signed form with a file, and its content type."""
        day = datetime.now(UTC).strftime("%Y%m%d")
        credential = f"{self.key['access_key_id']}/{day}/atrium/s3/aws4_request"
        whole = {"key": f"{self.folder}/posted", "x-amz-credential": credential, **(fields or {})}
        until = until or datetime.now(UTC) + timedelta(hours=1)
        conditions = [{name: value} for name, value in whole.items()]
        policy = b64encode(
            json.dumps({"expiration": f"{until:%Y-%m-%dT%H:%M:%SZ}", "conditions": conditions}).encode()
        ).decode()
        signature = f"AWS4{self.key['secret_access_key']}".encode()
        for part in (day, "atrium", "s3", "aws4_request", policy):
            signature = hmac.digest(signature, part.encode(), "sha256")
        whole |= {"policy": policy, "x-amz-signature": signature.hex()}
        parts = [
            f'--b\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in whole.items()
        ]
        file = '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nbytes\r\n--b--\r\n'
        return "".join([*parts, file]).encode(), "multipart/form-data; boundary=b"


async def holder_of(client: Client) -> Holder:
    key = await client.post("/api/s3/credentials", {"name": "tests"})
    holder = Holder(client, dict(key.body), secrets.token_hex(6))
    assert (await holder.ask("PUT", holder.at("here"), b"words", content_type="text/plain")).status == 200
    return holder


Kind = Callable[[Holder], Awaitable[Answer]]


def asking(method: str, place: str, body: bytes = b"", **headers: str) -> Kind:
    async def ask(holder: Holder) -> Answer:
        return await holder.ask(method, place.replace("~", f"/files/{holder.folder}"), body, **headers)

    return ask


def posting(**fields: str) -> Kind:
    async def ask(holder: Holder) -> Answer:
        body, content_type = holder.form(fields)
        return await holder.client.send("POST", "/files", body, headers={"content-type": content_type})

    return ask


def uploading(then: str, body: bytes = b"", query: str = "") -> Kind:
    """An upload in parts, and one request on it."""

    async def ask(holder: Holder) -> Answer:
        begun = await holder.ask("POST", holder.at("film") + "?uploads")
        upload = begun.raw.partition(b"<UploadId>")[2].partition(b"<")[0].decode()
        part = await holder.ask("PUT", holder.at("film") + f"?partNumber=1&uploadId={upload}", b"part")
        whole = body.replace(b"ETAG", part.headers["etag"].encode())
        return await holder.ask(then, holder.at("film") + f"?uploadId={upload}{query}", whole)

    return ask


def following(**overrides: str) -> Kind:
    async def ask(holder: Holder) -> Answer:
        return await holder.follow("here", overrides)

    return ask


async def unchanged(holder: Holder) -> Answer:
    whole = await holder.ask("GET", holder.at("here"))
    return await holder.ask("GET", holder.at("here"), if_none_match=whole.headers["etag"])


async def cross_origin(holder: Holder) -> Answer:
    await holder.ask("PUT", "/files?cors", CORS)
    return await holder.ask("GET", holder.at("here"), origin="https://app.example")


async def written_cors(holder: Holder) -> Answer:
    await holder.ask("PUT", "/files?cors", CORS)
    return await holder.ask("GET", "/files?cors")


async def written_tags(holder: Holder) -> Answer:
    await holder.ask("PUT", "/files?tagging", TAGS)
    return await holder.ask("GET", "/files?tagging")


async def deleted(holder: Holder) -> Answer:
    await holder.ask("DELETE", holder.at("here"))
    return await holder.ask("GET", holder.at("here"))


async def unsigned(holder: Holder) -> Answer:
    return await Client(holder.client.app).get("/s3/files/<script>")


async def badly_signed(holder: Holder) -> Answer:
    return await Client(holder.client.app).get("/", headers={"authorization": "AWS4-HMAC-SHA256 Credential=<script>"})


COMPLETED = (
    b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>ETAG</ETag></Part></CompleteMultipartUpload>"
)
KINDS: dict[str, tuple[int, Kind]] = {
    "list buckets": (200, asking("GET", "/")),
    "head of a bucket": (200, asking("HEAD", "/files")),
    "no such bucket": (404, asking("GET", "/<script>")),
    "a bucket that cannot be made": (403, asking("PUT", "/another")),
    "a bucket that cannot go": (403, asking("DELETE", "/files")),
    "its place": (200, asking("GET", "/files?location")),
    "its versioning": (200, asking("GET", "/files?versioning")),
    "its versioning turned on": (
        200,
        asking("PUT", "/files?versioning", b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"),
    ),
    "its access list": (200, asking("GET", "/files?acl")),
    "its rules": (200, written_cors),
    "its rules gone": (204, asking("DELETE", "/files?cors")),
    "rules that are none": (400, asking("PUT", "/files?cors", b"<script/>")),
    "its tags written": (204, asking("PUT", "/files?tagging", TAGS)),
    "its tags": (200, written_tags),
    "a policy there is not": (404, asking("GET", "/files?policy")),
    "logging there is not": (200, asking("GET", "/files?logging")),
    "who pays": (200, asking("GET", "/files?requestPayment")),
    "what is not done here": (405, asking("PUT", "/files?policy", b"{}")),
    "list": (200, asking("GET", "/files")),
    "list in folders": (200, asking("GET", "/files?list-type=2&delimiter=/&prefix=<script>&encoding-type=url")),
    "list of versions": (200, asking("GET", "/files?versions")),
    "list of uploads": (200, asking("GET", "/files?uploads")),
    "a listing of nonsense": (400, asking("GET", "/files?max-keys=<script>")),
    "an object": (200, asking("GET", "~/here")),
    "an empty object": (200, asking("PUT", "~/empty", content_length="0")),
    "head of an object": (200, asking("HEAD", "~/here")),
    "a part of it": (206, asking("GET", "~/here", range="bytes=1-2")),
    "a part outside": (416, asking("GET", "~/here", range="bytes=100-")),
    "known already": (304, unchanged),
    "a condition unmet": (412, asking("GET", "~/here", if_match='"other"')),
    "read from elsewhere": (200, cross_origin),
    "no such object": (404, asking("GET", "~/<script>alert(1)</script>")),
    "no such version": (404, asking("GET", f"~/here?versionId={'0' * 32}")),
    "an object that is deleted": (404, deleted),
    "no such address": (400, asking("GET", "~/%ff")),
    "an object written": (200, asking("PUT", "~/new", b"x", content_type="text/html")),
    "an object copied": (200, lambda holder: holder.ask("PUT", holder.at("c"), x_amz_copy_source=holder.at("here"))),
    "a copy of nothing": (400, asking("PUT", "~/c", x_amz_copy_source="<script>")),
    "its attributes": (200, asking("GET", "~/here?attributes", x_amz_object_attributes="ETag,ObjectSize")),
    "an object's tags": (200, asking("GET", "~/here?tagging")),
    "an object's access list": (200, asking("GET", "~/here?acl")),
    "a lock there is not": (404, asking("GET", "~/here?retention")),
    "an object deleted": (204, asking("DELETE", "~/here")),
    "many deleted": (
        200,
        asking("POST", "/files?delete", b"<Delete><Object><Key>&lt;script&gt;</Key></Object></Delete>"),
    ),
    "an upload begun": (200, asking("POST", "~/film?uploads")),
    "its parts": (200, uploading("GET")),
    "an upload completed": (200, uploading("POST", COMPLETED)),
    "a part that is not there": (400, uploading("POST", COMPLETED.replace(b"ETAG", b"<b/>"))),
    "an upload ended": (204, uploading("DELETE")),
    "a form": (204, posting()),
    "a form that tells": (201, posting(success_action_status="201")),
    "a form that leads elsewhere": (303, posting(success_action_redirect="https://elsewhere.example/")),
    "a form of nonsense": (400, asking("POST", "/files", b"--b", content_type="multipart/form-data; boundary=b")),
    "asked before asking": (200, asking("OPTIONS", "~/here", origin="https://x", access_control_request_method="GET")),
    "asked before asking, by nobody": (400, asking("OPTIONS", "~/here")),
    "a link": (200, following()),
    "a link with a type": (200, following(ResponseContentType="text/html")),
    "a link with a name": (200, following(ResponseContentDisposition='inline; filename="x.html"')),
    "no signature": (403, unsigned),
    "half a signature": (400, badly_signed),
}  # fmt: skip

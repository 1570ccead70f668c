"""Who gets at what over S3: companies, teams, grants, scopes, suspension, quotas; and how buckets are named."""

import http.client
import socket
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.domains.s3.clients import Person, Place, refusal, s3_place
from tests.postgres import run_as_owner


def refused(call: Any, **arguments: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return refusal(error.value)


def keys_of(person: Person) -> list[str]:
    return [one["Key"] for one in person.s3().list_objects_v2(Bucket=person.bucket).get("Contents", [])]


def to_this_machine(host: str, port: int, *more: Any, ask: Any = socket.getaddrinfo) -> Any:
    """Every name below .localhost is this machine, also where the resolver does not know that."""
    return ask("127.0.0.1" if str(host).endswith(".localhost") else host, port, *more)


async def test_companies_share_a_name_and_nothing_else(place: Place, ada: Person) -> None:
    eve = await place.found()
    written = ada.s3().put_object(Bucket=ada.bucket, Key="secret", Body=b"ours")

    assert eve.bucket == ada.bucket
    assert keys_of(eve) == []
    assert refused(eve.s3().get_object, Bucket=eve.bucket, Key="secret") == (404, "NoSuchKey")
    assert refused(eve.s3().get_object, Bucket=eve.bucket, Key="secret", VersionId=written["VersionId"]) == (
        404,
        "NoSuchVersion",
    )
    eve.s3().put_object(Bucket=eve.bucket, Key="secret", Body=b"theirs")
    eve.s3().delete_object(Bucket=eve.bucket, Key="secret")
    assert ada.s3().get_object(Bucket=ada.bucket, Key="secret")["Body"].read() == b"ours"


async def test_a_private_object_is_missing_to_a_teammate_until_it_is_shared(place: Place, ada: Person) -> None:
    bob = await place.join(ada)
    client = bob.s3()
    ada.s3().put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    hidden = refused(client.get_object, Bucket=bob.bucket, Key="k")
    taken = refused(client.put_object, Bucket=bob.bucket, Key="k", Body=b"mine")
    kept = refused(client.delete_object, Bucket=bob.bucket, Key="k")
    async with place.server.client(ada.token) as api, place.server.client(bob.token) as theirs:
        [stored] = (await api.get("/api/repo")).json()["items"]
        user = (await theirs.get("/api/whoami")).json()["user"]["id"]

        await api.post(f"/api/repo-obj/{stored['id']}/share", json={"user_id": user})

    assert (hidden, taken, kept) == ((404, "NoSuchKey"), (403, "AccessDenied"), (403, "AccessDenied"))
    assert client.get_object(Bucket=bob.bucket, Key="k")["Body"].read() == b"words"
    assert keys_of(bob) == ["k"]
    assert refused(client.put_object, Bucket=bob.bucket, Key="k", Body=b"mine") == (403, "AccessDenied")
    assert refused(client.delete_object, Bucket=bob.bucket, Key="k") == (403, "AccessDenied")


async def test_deleting_nothing_keeps_nobody_from_the_key(place: Place, ada: Person) -> None:
    bob = await place.join(ada)

    ada.s3().delete_object(Bucket=ada.bucket, Key="free")
    bob.s3().put_object(Bucket=bob.bucket, Key="free", Body=b"mine")

    assert bob.s3().get_object(Bucket=bob.bucket, Key="free")["Body"].read() == b"mine"
    assert len(bob.s3().list_object_versions(Bucket=bob.bucket)["Versions"]) == 1


async def test_a_key_reaches_no_further_than_its_scope(place: Place, ada: Person) -> None:
    reader = await place.person(ada.token, scope=["files:read"])
    ada.s3().put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    client = reader.s3()

    assert client.get_object(Bucket=ada.bucket, Key="k")["Body"].read() == b"words"
    assert refused(client.put_object, Bucket=ada.bucket, Key="new", Body=b"x") == (403, "AccessDenied")
    assert refused(client.put_object, Bucket=ada.bucket, Key="k", Body=b"x") == (403, "AccessDenied")
    assert refused(client.delete_object, Bucket=ada.bucket, Key="k") == (403, "AccessDenied")
    writer = await place.person(ada.token, scope=["files:write"])
    assert refused(writer.s3().list_objects_v2, Bucket=ada.bucket) == (403, "AccessDenied")


async def test_a_new_key_is_no_wider_than_the_credential_that_asks(place: Place, ada: Person) -> None:
    async with place.server.client(ada.token) as api:
        narrow = (await api.post("/api/tokens", json={"name": "narrow", "scope": ["files:read"]})).json()
        beyond = await api.post("/api/s3/credentials", json={"scope": ["instance:manage"]})
    async with place.server.client(narrow["token"]) as program:
        refused = await program.post("/api/s3/credentials", json={})

    assert (refused.status_code, refused.json()["code"]) == (403, "access.permission_missing")
    assert (beyond.status_code, beyond.json()["code"]) == (403, "identity.scope_too_wide")


async def test_the_secret_is_shown_once_and_kept_sealed(place: Place, ada: Person) -> None:
    async with place.server.client(ada.token) as api:
        listed = (await api.get("/api/s3/credentials")).json()
    [row] = await run_as_owner(
        place.url, "SELECT to_jsonb(k)::text AS all FROM s3_keys k WHERE access_key_id = $1", ada.key["access_key_id"]
    )

    assert [one["access_key_id"] for one in listed["items"]] == [ada.key["access_key_id"]]
    assert (listed["endpoint"], listed["bucket"]) == (ada.address, ada.bucket)
    assert not listed["region"].startswith(("us-", "eu-", "ap-"))
    assert ada.key["secret_access_key"] not in str(listed) + row["all"]
    assert ada.key["secret_access_key"].encode().hex() not in row["all"]


async def test_a_suspended_company_reads_and_does_not_write(place: Place, ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    async with place.server.client(ada.token) as api:
        org = (await api.get("/api/whoami")).json()["org"]["id"]
    async with place.server.client(place.operator) as operator:
        await operator.post(f"/api/orgs/{org}/suspend", json={})

    assert client.get_object(Bucket=ada.bucket, Key="k")["Body"].read() == b"words"
    assert refused(client.put_object, Bucket=ada.bucket, Key="k", Body=b"x") == (403, "AccountProblem")
    assert refused(client.delete_object, Bucket=ada.bucket, Key="k") == (403, "AccountProblem")


async def test_an_upload_beyond_the_quota_is_refused(place: Place, ada: Person) -> None:
    async with place.server.client(ada.token) as api:
        org = (await api.get("/api/whoami")).json()["org"]["id"]
    async with place.server.client(place.operator) as operator:
        limit = {"dimension": "storage.bytes", "limit": 1000, "window": "total"}
        answer = await operator.post(f"/api/orgs/{org}/quota", json=limit)
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="small", Body=b"x" * 900)

    assert answer.status_code == 200, answer.text
    assert refused(client.put_object, Bucket=ada.bucket, Key="large", Body=b"x" * 200) == (403, "QuotaExceeded")
    assert keys_of(ada) == ["small"]


async def test_a_stranger_is_refused_everywhere(place: Place, ada: Person) -> None:
    ada.s3().put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    async with httpx.AsyncClient(base_url=place.address, trust_env=False) as nobody:
        for method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
            for path in ("/", f"/{ada.bucket}", f"/{ada.bucket}/k", f"/{ada.bucket}?uploads", f"/{ada.bucket}/k?acl"):
                answer = await nobody.request(method, path)
                assert answer.status_code == 403, (method, path)
        bearer = await nobody.get(f"/{ada.bucket}/k", headers={"authorization": f"Bearer {ada.token}"})

    assert bearer.status_code == 403
    assert b"<Code>AccessDenied</Code>" in bearer.content


async def test_what_is_not_configured_is_honestly_absent(ada: Person) -> None:
    client, bucket = ada.s3(), ada.bucket

    assert refused(client.get_bucket_policy, Bucket=bucket) == (404, "NoSuchBucketPolicy")
    assert refused(client.get_bucket_lifecycle_configuration, Bucket=bucket) == (404, "NoSuchLifecycleConfiguration")
    assert refused(client.get_bucket_cors, Bucket=bucket) == (404, "NoSuchCORSConfiguration")
    assert refused(client.get_object_lock_configuration, Bucket=bucket)[1] == "ObjectLockConfigurationNotFoundError"
    assert refused(client.put_bucket_policy, Bucket=bucket, Policy="{}") == (405, "MethodNotAllowed")
    assert refused(client.put_object, Bucket=bucket, Key="k", ACL="public-read") == (
        400,
        "AccessControlListNotSupported",
    )
    assert "Status" not in client.get_bucket_versioning(Bucket=bucket)
    assert client.get_bucket_location(Bucket=bucket)["LocationConstraint"] == ada.key["region"]
    assert refused(client.head_bucket, Bucket="another") == (404, "404")
    assert refused(client.create_bucket, Bucket="another") == (403, "AccessDenied")
    assert refused(client.create_bucket, Bucket=bucket) == (409, "BucketAlreadyOwnedByYou")
    assert refused(client.delete_bucket, Bucket=bucket) == (403, "AccessDenied")


async def test_a_hostname_below_the_domain_is_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", to_this_machine)
    async with s3_place(tmp_path, s3_domain="s3.localhost", s3_extra_buckets=1, extraction=0) as place:
        ada = await place.found()
        client = boto3.client(
            "s3", endpoint_url=f"http://s3.localhost:{place.port}", region_name="atrium", aws_access_key_id=ada.key["access_key_id"],
            aws_secret_access_key=ada.key["secret_access_key"], config=Config(s3={"addressing_style": "virtual"}),
        )  # fmt: skip
        client.create_bucket(Bucket="photos")
        client.put_object(Bucket="photos", Key="a/b", Body=b"words")

        by_path = ada.s3().list_objects_v2(Bucket="photos")
        folder = ada.s3().list_objects_v2(Bucket=ada.bucket)
        nonempty = refused(ada.s3().delete_bucket, Bucket="photos")
        names = [one["Name"] for one in client.list_buckets()["Buckets"]]

    assert client.meta.config.s3["addressing_style"] == "virtual"
    assert [one["Key"] for one in by_path["Contents"]] == ["a/b"]
    assert [one["Key"] for one in folder["Contents"]] == ["photos/a/b"]
    assert nonempty == (409, "BucketNotEmpty")
    assert names == [ada.bucket, "photos"]


async def test_s3_is_also_spoken_below_a_path(place: Place, ada: Person) -> None:
    client = boto3.client(
        "s3", endpoint_url=f"{place.server.address}/s3", region_name="atrium", aws_access_key_id=ada.key["access_key_id"],
        aws_secret_access_key=ada.key["secret_access_key"], config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip

    client.put_object(Bucket=ada.bucket, Key="a/b c", Body=b"words")

    assert client.get_object(Bucket=ada.bucket, Key="a/b c")["Body"].read() == b"words"
    assert [one["Name"] for one in client.list_buckets()["Buckets"]] == [ada.bucket]


def test_a_page_elsewhere_reads_what_the_buckets_rules_let_it(ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    rules = {
        "CORSRules": [{"AllowedOrigins": ["https://*.example"], "AllowedMethods": ["GET"], "ExposeHeaders": ["ETag"]}]
    }
    client.put_bucket_cors(Bucket=ada.bucket, CORSConfiguration=rules)
    link = client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "k"})

    allowed = httpx.get(link, headers={"origin": "https://app.example"}, trust_env=False)
    other = httpx.get(link, headers={"origin": "https://elsewhere"}, trust_env=False)
    asked = httpx.options(
        link, headers={"origin": "https://app.example", "access-control-request-method": "GET"}, trust_env=False
    )

    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert allowed.headers["access-control-expose-headers"] == "ETag"
    assert "access-control-allow-origin" not in other.headers
    assert asked.status_code == 200


def test_a_page_in_a_bucket_cannot_act_as_the_console(ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="page.html", Body=b"<script>1</script>", ContentType="text/html")
    link = client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "page.html"})

    answer = httpx.get(link, trust_env=False)

    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_connection_is_used_again_after_a_refusal_without_a_body(ada: Person) -> None:
    host, _, port = ada.address.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port))
    statuses = []
    for _ in range(2):
        connection.request("GET", f"/{ada.bucket}/k")
        answer = connection.getresponse()
        statuses.append((answer.status, b"AccessDenied" in answer.read()))
    connection.close()

    assert statuses == [(403, True)] * 2


async def test_a_session_moves_a_file_in_parts(place: Place, ada: Person) -> None:
    part = b"p" * (5 << 20)
    async with place.server.client(ada.token) as console:
        begun = await console.post("/s3/files/film.mp4?uploads")
        upload = begun.text.partition("<UploadId>")[2].partition("<")[0]
        first = await console.put(f"/s3/files/film.mp4?partNumber=1&uploadId={upload}", content=part)
        second = await console.put(f"/s3/files/film.mp4?partNumber=2&uploadId={upload}", content=b"end")
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{answer.headers['etag']}</ETag></Part>"
            for number, answer in ((1, first), (2, second))
        )
        done = await console.post(
            f"/s3/files/film.mp4?uploadId={upload}",
            content=f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>",
        )

    assert (begun.status_code, first.status_code, done.status_code) == (200, 200, 200), done.text
    assert ada.s3().get_object(Bucket=ada.bucket, Key="film.mp4")["Body"].read() == part + b"end"


async def test_a_session_that_does_not_count_is_refused(place: Place, ada: Person) -> None:
    async with place.server.client("ats_wrong") as stranger:
        answer = await stranger.get("/s3/files")

    assert (answer.status_code, "<Code>AccessDenied</Code>" in answer.text) == (403, True)


async def test_a_signed_request_needs_no_path(place: Place, ada: Person) -> None:
    at_root = Person(place.server.address, ada.token, ada.key)
    at_root.s3().put_object(Bucket=ada.bucket, Key="api/notes", Body=b"a key that looks like an address of ours")

    assert at_root.s3().get_object(Bucket=ada.bucket, Key="api/notes")["Body"].read().startswith(b"a key")

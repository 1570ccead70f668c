"""Objects over S3: writing, reading, conditions, ranges, versions, copies, tags, each as a client of today does it."""

import asyncio
import hashlib
import secrets
import zlib
from base64 import b64encode
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.domains.s3.clients import Person, Place, refusal

ODD_KEYS = [
    "ü/🌍 and spaces",
    "plus+and%25percent",
    "../dots/./kept",
    "//slashes//",
    "quote\"'<&>",
    "x" * 1024,
    "ж" * 512,
]


def body_of(client: Any, bucket: str, key: str, **options: Any) -> bytes:
    return bytes(client.get_object(Bucket=bucket, Key=key, **options)["Body"].read())


@pytest.mark.parametrize("key", ODD_KEYS, ids=lambda key: key[:12])
def test_an_odd_key_reads_back_and_is_listed(ada: Person, key: str) -> None:
    client = ada.s3()

    client.put_object(Bucket=ada.bucket, Key=key, Body=key.encode())

    assert body_of(client, ada.bucket, key) == key.encode()
    assert [one["Key"] for one in client.list_objects_v2(Bucket=ada.bucket)["Contents"]] == [key]
    client.delete_object(Bucket=ada.bucket, Key=key)
    assert "Contents" not in client.list_objects_v2(Bucket=ada.bucket)


def test_a_key_that_is_too_long_is_refused(ada: Person) -> None:
    with pytest.raises(ClientError) as refused:
        ada.s3().put_object(Bucket=ada.bucket, Key="x" * 1025, Body=b"")

    assert refusal(refused.value) == (400, "KeyTooLongError")


def test_what_came_with_the_bytes_comes_back(ada: Person) -> None:
    client = ada.s3()
    said = {
        "ContentType": "text/x-odd; charset=utf-8", "CacheControl": "max-age=3", "ContentLanguage": "de", "ContentEncoding": "gzip",
        "ContentDisposition": 'attachment; filename="a.txt"', "Metadata": {"author": "Ada", "note": "two words"},
    }  # fmt: skip

    put = client.put_object(Bucket=ada.bucket, Key="k", Body=b"words", Tagging="a=1&b=two%20words", **said)

    head = client.head_object(Bucket=ada.bucket, Key="k")
    assert {name: head[name] for name in said} == said
    assert head["ETag"] == f'"{hashlib.md5(b"words").hexdigest()}"' == put["ETag"]
    assert head["VersionId"] == put["VersionId"]
    assert head["TagCount"] == 2
    tags = client.get_object_tagging(Bucket=ada.bucket, Key="k")["TagSet"]
    assert tags == [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "two words"}]


async def test_an_object_written_over_one_wire_is_read_over_the_other(place: Place, ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="from/s3.txt", Body=b"one", ContentType="text/plain")
    async with place.server.client(ada.token) as api:
        stored = (
            await api.put("/api/repo/from/api.txt", content=b"two", headers={"content-type": "text/plain"})
        ).json()

        listed = (await api.get("/api/repo", params={"prefix": "from/"})).json()["items"]
        content = await api.get(f"/api/repo-obj/{listed[1]['id']}/content")
        events = [one["kind"] for one in (await api.get("/api/audit")).json()["items"]]

    assert [one["key"] for one in listed] == ["from/api.txt", "from/s3.txt"]
    assert content.content == b"one"
    assert body_of(client, ada.bucket, "from/api.txt") == b"two"
    assert client.head_object(Bucket=ada.bucket, Key="from/api.txt")["VersionId"] == stored["version"]["id"]
    assert events.count("repository.written") == 2


async def test_tags_and_settings_that_are_written_and_removed_are_in_the_audit_trail(place: Place, ada: Person) -> None:
    client, tags = ada.s3(), {"TagSet": [{"Key": "k", "Value": "secret words"}]}
    client.put_object(Bucket=ada.bucket, Key="k", Body=b"words")
    client.put_object_tagging(Bucket=ada.bucket, Key="k", Tagging=tags)
    client.delete_object_tagging(Bucket=ada.bucket, Key="k")
    client.put_bucket_tagging(Bucket=ada.bucket, Tagging=tags)
    client.delete_bucket_tagging(Bucket=ada.bucket)
    client.delete_bucket_cors(Bucket=ada.bucket)

    async with place.server.client(ada.token) as api:
        trail = await api.get("/api/audit")

    kinds = [one["kind"] for one in trail.json()["items"]]
    assert (kinds.count("repository.tagged"), kinds.count("s3.bucket_changed")) == (2, 3)
    assert "secret words" not in trail.text


@pytest.mark.parametrize(
    ("asked", "status", "body"),
    [
        ({"Range": "bytes=1-3"}, 206, b"123"),
        ({"Range": "bytes=-4"}, 206, b"6789"),
        ({"Range": "bytes=7-"}, 206, b"789"),
        ({"Range": "bytes=0-999"}, 206, b"0123456789"),
        ({"Range": "nonsense"}, 200, b"0123456789"),
        ({"PartNumber": 1}, 206, b"0123456789"),
    ],
)
def test_a_range_gets_that_part(ada: Person, asked: dict[str, Any], status: int, body: bytes) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="digits", Body=b"0123456789")

    answer = client.get_object(Bucket=ada.bucket, Key="digits", **asked)

    assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["Body"].read()) == (status, body)


def test_a_range_beyond_the_end_is_refused(ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="digits", Body=b"0123456789")

    with pytest.raises(ClientError) as refused:
        client.get_object(Bucket=ada.bucket, Key="digits", Range="bytes=10-")

    assert refusal(refused.value) == (416, "InvalidRange")
    assert refused.value.response["ResponseMetadata"]["HTTPHeaders"]["content-range"] == "bytes */10"


def test_reading_conditions(ada: Person) -> None:
    client = ada.s3()
    etag = client.put_object(Bucket=ada.bucket, Key="k", Body=b"words")["ETag"]
    modified = client.head_object(Bucket=ada.bucket, Key="k")["LastModified"]

    outcomes = {}
    for name, condition in {
        "match": {"IfMatch": etag},
        "other": {"IfMatch": '"other"'},
        "known": {"IfNoneMatch": etag},
        "unchanged": {"IfModifiedSince": modified},
        "not since": {"IfUnmodifiedSince": modified.replace(year=2001)},
    }.items():
        try:
            outcomes[name] = client.get_object(Bucket=ada.bucket, Key="k", **condition)["ResponseMetadata"][
                "HTTPStatusCode"
            ]
        except ClientError as error:
            outcomes[name] = error.response["ResponseMetadata"]["HTTPStatusCode"]

    assert outcomes == {"match": 200, "other": 412, "known": 304, "unchanged": 304, "not since": 412}


async def test_of_twenty_who_create_a_key_one_wins(ada: Person) -> None:
    client = ada.s3(max_pool_connections=20)

    def create(number: int) -> int:
        try:
            client.put_object(Bucket=ada.bucket, Key="contested", Body=str(number).encode(), IfNoneMatch="*")
        except ClientError as error:
            return refusal(error)[0]
        return 200

    found = await asyncio.gather(*(asyncio.to_thread(create, number) for number in range(20)))

    assert sorted(found) == [200] + [412] * 19
    assert len(client.list_object_versions(Bucket=ada.bucket)["Versions"]) == 1


def test_a_write_that_matches_what_is_there_lands_and_another_does_not(ada: Person) -> None:
    client = ada.s3()
    etag = client.put_object(Bucket=ada.bucket, Key="k", Body=b"one")["ETag"]

    client.put_object(Bucket=ada.bucket, Key="k", Body=b"two", IfMatch=etag)
    with pytest.raises(ClientError) as stale:
        client.put_object(Bucket=ada.bucket, Key="k", Body=b"three", IfMatch=etag)
    with pytest.raises(ClientError) as absent:
        client.put_object(Bucket=ada.bucket, Key="other", Body=b"three", IfMatch=etag)

    assert refusal(stale.value) == (412, "PreconditionFailed")
    assert refusal(absent.value) == (404, "NoSuchKey")
    assert body_of(client, ada.bucket, "k") == b"two"


def test_deleting_hides_and_bringing_back_is_deleting_the_marker(ada: Person) -> None:
    client = ada.s3()
    ada.turn_on_versioning()
    first = client.put_object(Bucket=ada.bucket, Key="k", Body=b"one")["VersionId"]
    client.put_object(Bucket=ada.bucket, Key="k", Body=b"two")

    gone = client.delete_object(Bucket=ada.bucket, Key="k")

    with pytest.raises(ClientError) as hidden:
        client.get_object(Bucket=ada.bucket, Key="k")
    with pytest.raises(ClientError) as marker:
        client.get_object(Bucket=ada.bucket, Key="k", VersionId=gone["VersionId"])
    assert gone["DeleteMarker"] is True
    assert refusal(hidden.value) == (404, "NoSuchKey")
    assert hidden.value.response["ResponseMetadata"]["HTTPHeaders"]["x-amz-delete-marker"] == "true"
    assert refusal(marker.value) == (405, "MethodNotAllowed")
    assert body_of(client, ada.bucket, "k", VersionId=first) == b"one"
    assert client.delete_object(Bucket=ada.bucket, Key="k", VersionId=gone["VersionId"])["DeleteMarker"] is True
    assert body_of(client, ada.bucket, "k") == b"two"


def test_the_history_of_a_key_is_listed_newest_first(ada: Person) -> None:
    client = ada.s3()
    ada.turn_on_versioning()
    versions = [client.put_object(Bucket=ada.bucket, Key="k", Body=bytes([n]))["VersionId"] for n in range(3)]
    marker = client.delete_object(Bucket=ada.bucket, Key="k")["VersionId"]

    pages = client.get_paginator("list_object_versions").paginate(Bucket=ada.bucket, PaginationConfig={"PageSize": 2})
    found = list(pages)

    assert [one["VersionId"] for page in found for one in page.get("Versions", [])] == versions[::-1]
    assert [(one["VersionId"], one["IsLatest"]) for page in found for one in page.get("DeleteMarkers", [])] == [
        (marker, True)
    ]
    assert len(found) == 2


def test_the_history_folds_folders_however_much_is_in_them(ada: Person) -> None:
    client = ada.s3()
    for key in ["a", "b/1", "b/2", "b/2", "b/3", "b/3", "c", "d/1"]:
        client.put_object(Bucket=ada.bucket, Key=key, Body=b"x")

    paginator = client.get_paginator("list_object_versions")
    pages = list(paginator.paginate(Bucket=ada.bucket, Delimiter="/", PaginationConfig={"PageSize": 2}))

    assert [one["Key"] for page in pages for one in page.get("Versions", [])] == ["a", "c"]
    assert [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])] == ["b/", "d/"]


def test_many_are_deleted_at_once_and_each_for_itself(ada: Person) -> None:
    client = ada.s3()
    for number in range(12):
        client.put_object(Bucket=ada.bucket, Key=f"k{number}", Body=b"x")
    doomed = [{"Key": f"k{number}"} for number in range(10)] + [{"Key": "k10", "ETag": '"other"'}]

    told = client.delete_objects(Bucket=ada.bucket, Delete={"Objects": doomed})

    assert [one["Key"] for one in told["Deleted"]] == [f"k{number}" for number in range(10)]
    assert [(one["Key"], one["Code"]) for one in told["Errors"]] == [("k10", "PreconditionFailed")]
    assert [one["Key"] for one in client.list_objects_v2(Bucket=ada.bucket)["Contents"]] == ["k10", "k11"]


def test_listing_folds_folders_and_pages_through_all(ada: Person) -> None:
    client = ada.s3()
    for key in ["a.txt", "b/1", "b/2", "b/c/3", "d.txt", "e/4"]:
        client.put_object(Bucket=ada.bucket, Key=key, Body=b"x")

    found = []
    for version in ("list_objects_v2", "list_objects"):
        paginator = client.get_paginator(version)
        pages = list(paginator.paginate(Bucket=ada.bucket, Delimiter="/", PaginationConfig={"PageSize": 1}))
        keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
        folders = [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])]
        found.append((keys, folders))
    inside = client.list_objects_v2(Bucket=ada.bucket, Prefix="b/", Delimiter="/")

    assert found == [(["a.txt", "d.txt"], ["b/", "e/"])] * 2
    assert [one["Key"] for one in inside["Contents"]] == ["b/1", "b/2"]
    assert [one["Prefix"] for one in inside["CommonPrefixes"]] == ["b/c/"]


def test_a_copy_keeps_or_replaces_what_is_said_about_it(ada: Person) -> None:
    client = ada.s3()
    client.put_object(
        Bucket=ada.bucket, Key="a b", Body=b"words", Metadata={"x": "1"}, ContentType="text/plain", Tagging="t=1"
    )
    source = {"Bucket": ada.bucket, "Key": "a b"}

    client.copy_object(Bucket=ada.bucket, Key="kept", CopySource=source)
    client.copy_object(
        Bucket=ada.bucket,
        Key="new",
        CopySource=source,
        MetadataDirective="REPLACE",
        Metadata={"y": "2"},
        ContentType="image/png",
    )
    with pytest.raises(ClientError) as itself:
        client.copy_object(Bucket=ada.bucket, Key="a b", CopySource=source)

    kept, new = (client.head_object(Bucket=ada.bucket, Key=key) for key in ("kept", "new"))
    assert (kept["Metadata"], kept["ContentType"], kept["TagCount"]) == ({"x": "1"}, "text/plain", 1)
    assert (new["Metadata"], new["ContentType"]) == ({"y": "2"}, "image/png")
    assert body_of(client, ada.bucket, "new") == b"words"
    assert refusal(itself.value) == (400, "InvalidRequest")


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"])
def test_a_checksum_is_checked_kept_and_told(ada: Person, algorithm: str) -> None:
    client = ada.s3()

    put = client.put_object(Bucket=ada.bucket, Key="k", Body=b"words", ChecksumAlgorithm=algorithm)

    value = put[f"Checksum{algorithm}"]
    head = client.head_object(Bucket=ada.bucket, Key="k", ChecksumMode="ENABLED")
    told = client.get_object_attributes(Bucket=ada.bucket, Key="k", ObjectAttributes=["Checksum", "ObjectSize"])
    assert head[f"Checksum{algorithm}"] == value
    assert told["Checksum"][f"Checksum{algorithm}"] == value
    assert told["ObjectSize"] == 5
    wrong = b64encode(bytes(len(value) * 3 // 4 - value.count("="))).decode()
    with pytest.raises(ClientError) as refused:
        client.put_object(Bucket=ada.bucket, Key="bad", Body=b"words", **{f"Checksum{algorithm}": wrong})
    assert refusal(refused.value) == (400, "BadDigest")
    assert [one["Key"] for one in client.list_objects_v2(Bucket=ada.bucket)["Contents"]] == ["k"]


def test_a_checksum_that_is_only_in_a_links_query_is_not_the_bodys(ada: Person) -> None:
    client = ada.s3()
    empty = b64encode(zlib.crc32(b"").to_bytes(4, "big")).decode()
    link = client.generate_presigned_url(
        "put_object", {"Bucket": ada.bucket, "Key": "linked", "ChecksumCRC32": empty}, HttpMethod="PUT"
    )

    answer = httpx.put(link, content=b"words", trust_env=False)

    assert answer.status_code in (200, 403)
    if "x-amz-checksum-crc32=" in link.lower():
        assert answer.status_code == 200
        assert body_of(client, ada.bucket, "linked") == b"words"


def test_a_wrong_md5_or_digest_stores_nothing(ada: Person) -> None:
    client = ada.s3()

    with pytest.raises(ClientError) as refused:
        client.put_object(Bucket=ada.bucket, Key="k", Body=b"words", ContentMD5=b64encode(bytes(16)).decode())

    assert refusal(refused.value) == (400, "BadDigest")
    assert "Contents" not in client.list_objects_v2(Bucket=ada.bucket)


def test_a_form_uploads_what_its_policy_allows(ada: Person) -> None:
    client = ada.s3()
    post = client.generate_presigned_post(
        ada.bucket, "up/${filename}", Fields={"x-amz-meta-from": "form"},
        Conditions=[{"x-amz-meta-from": "form"}, ["content-length-range", 1, 100]],
    )  # fmt: skip
    url = f"{ada.address}/{ada.bucket}"

    good = httpx.post(url, data=post["fields"], files={"file": ("a.txt", b"words")}, trust_env=False)
    large = httpx.post(url, data=post["fields"], files={"file": ("b.txt", b"x" * 101)}, trust_env=False)
    changed = post["fields"] | {"x-amz-meta-from": "elsewhere"}
    other = httpx.post(url, data=changed, files={"file": ("c.txt", b"words")}, trust_env=False)
    forged = post["fields"] | {"x-amz-signature": "0" * 64}
    unsigned = httpx.post(url, data=forged, files={"file": ("d.txt", b"words")}, trust_env=False)

    more = post["fields"] | {"x-amz-meta-more": "unmentioned"}
    unmentioned = httpx.post(url, data=more, files={"file": ("e.txt", b"words")}, trust_env=False)

    assert [one.status_code for one in (good, large, other, unsigned, unmentioned)] == [204, 400, 403, 403, 403]
    assert body_of(client, ada.bucket, "up/a.txt") == b"words"
    assert client.head_object(Bucket=ada.bucket, Key="up/a.txt")["Metadata"] == {"from": "form"}
    assert [one["Key"] for one in client.list_objects_v2(Bucket=ada.bucket)["Contents"]] == ["up/a.txt"]


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("success_action_status", "201", 201),
        ("success_action_status", "200", 200),
        ("success_action_status", "404", 204),
        ("success_action_redirect", "https://example.org/done", 303),
    ],
)
def test_a_form_chooses_its_reply(ada: Person, field: str, value: str, status: int) -> None:
    chosen = {field: value}
    post = ada.s3().generate_presigned_post(ada.bucket, "a.txt", Fields=chosen, Conditions=[chosen])

    answer = httpx.post(
        f"{ada.address}/{ada.bucket}", data=post["fields"], files={"file": ("a.txt", b"words")}, trust_env=False
    )

    assert answer.status_code == status
    if status == 201:
        assert "<Key>a.txt</Key>" in answer.text
    if status == 303:
        assert answer.headers["location"].startswith(f"{value}?bucket={ada.bucket}&key=a.txt&etag=")
    assert body_of(ada.s3(), ada.bucket, "a.txt") == b"words"


def test_missing_bytes_are_told_in_the_words_of_s3(place: Place, ada: Person) -> None:
    client, words = ada.s3(), secrets.token_bytes(64)
    client.put_object(Bucket=ada.bucket, Key="k", Body=words)
    for blob in place.data.glob(f"blobs/*/*/*/{hashlib.sha256(words).hexdigest()}"):
        blob.unlink()

    with pytest.raises(ClientError) as refused:
        client.get_object(Bucket=ada.bucket, Key="k")

    assert refusal(refused.value) == (503, "ServiceUnavailable")

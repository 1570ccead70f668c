"""A key pair that is narrowed to a folder: nothing beside it can be read, written, listed, copied or named."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import httpx
import pytest

from tests.domains.s3.clients import Person, Place
from tests.domains.s3.test_access import refused

DENIED = (403, "AccessDenied")


@dataclass(frozen=True, slots=True)
class Folder:
    """The owner's whole key, and one for a folder of the bucket."""

    whole: Any
    narrow: Any
    person: Person
    bucket: str


@pytest.fixture
async def folder(place: Place, ada: Person) -> Folder:
    person = await place.person(ada.token, prefix="reports/2026")
    whole = ada.s3()
    for key in ("reports/2026/a", "reports/2026/b/c", "reports/2026-secret", "reports/2025/a", "root"):
        whole.put_object(Bucket=ada.bucket, Key=key, Body=key.encode())
    return Folder(whole, person.s3(), person, ada.bucket)


async def test_the_key_says_how_far_it_reaches(place: Place, ada: Person) -> None:
    issued = await place.person(ada.token, prefix="reports")
    async with place.server.client(ada.token) as api:
        listed = (await api.get("/api/s3/credentials")).json()["items"]
        bad = await api.post("/api/s3/credentials", json={"prefix": "a\x01"})
        none = await api.post("/api/s3/credentials", json={"prefix": ""})

    assert issued.key["prefix"] == "reports/"
    assert [one["prefix"] for one in listed] == ["reports/", None]
    assert (bad.status_code, none.json()["prefix"]) == (400, None)


def test_everything_works_below_the_prefix(folder: Folder) -> None:
    client, bucket = folder.narrow, folder.bucket

    client.put_object(Bucket=bucket, Key="reports/2026/new", Body=b"x")
    client.copy_object(Bucket=bucket, Key="reports/2026/copy", CopySource=f"{bucket}/reports/2026/a")
    client.put_object_tagging(Bucket=bucket, Key="reports/2026/a", Tagging={"TagSet": [{"Key": "k", "Value": "v"}]})
    client.delete_object(Bucket=bucket, Key="reports/2026/new")
    upload = client.create_multipart_upload(Bucket=bucket, Key="reports/2026/film")["UploadId"]
    part = client.upload_part(Bucket=bucket, Key="reports/2026/film", UploadId=upload, PartNumber=1, Body=b"part")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    client.complete_multipart_upload(Bucket=bucket, Key="reports/2026/film", UploadId=upload, MultipartUpload=parts)

    assert client.get_object(Bucket=bucket, Key="reports/2026/copy")["Body"].read() == b"reports/2026/a"
    assert client.head_object(Bucket=bucket, Key="reports/2026/film")["ContentLength"] == 4
    assert [one["Name"] for one in client.list_buckets()["Buckets"]] == [bucket]
    client.head_bucket(Bucket=bucket)


OUTSIDE = ["root", "reports/2026", "reports/2026-secret", "reports/2025/a", "reports/", "absent", "../reports/2026/a"]
Call = Callable[[Any, dict[str, Any]], Any]
CALLS: dict[str, Call] = {
    "get": lambda s3, at: s3.get_object(**at),
    "head": lambda s3, at: s3.head_object(**at),
    "put": lambda s3, at: s3.put_object(**at, Body=b"x"),
    "delete": lambda s3, at: s3.delete_object(**at),
    "tags": lambda s3, at: s3.get_object_tagging(**at),
    "tag": lambda s3, at: s3.put_object_tagging(**at, Tagging={"TagSet": []}),
    "access list": lambda s3, at: s3.get_object_acl(**at),
    "attributes": lambda s3, at: s3.get_object_attributes(**at, ObjectAttributes=["ETag"]),
    "copy to": lambda s3, at: s3.copy_object(**at, CopySource=f"{at['Bucket']}/reports/2026/a"),
    "copy from": lambda s3, at: s3.copy_object(Bucket=at["Bucket"], Key="reports/2026/x", CopySource=at),
    "begin": lambda s3, at: s3.create_multipart_upload(**at),
    "part": lambda s3, at: s3.upload_part(**at, UploadId="0" * 32, PartNumber=1, Body=b"x"),
    "parts": lambda s3, at: s3.list_parts(**at, UploadId="0" * 32),
    "complete": lambda s3, at: s3.complete_multipart_upload(
        **at, UploadId="0" * 32, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": "e"}]}
    ),
    "abort": lambda s3, at: s3.abort_multipart_upload(**at, UploadId="0" * 32),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_works_outside_of_the_prefix(folder: Folder, name: str) -> None:
    for key in OUTSIDE:
        status, code = refused(CALLS[name], s3=folder.narrow, at={"Bucket": folder.bucket, "Key": key})
        assert (status, code) in (DENIED, (403, "403")), key

    assert folder.whole.get_object(Bucket=folder.bucket, Key="root")["Body"].read() == b"root"


def test_a_part_is_not_copied_from_outside(folder: Folder) -> None:
    client, bucket, key = folder.narrow, folder.bucket, "reports/2026/film"
    upload = client.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    source = {"Bucket": bucket, "Key": "root"}

    assert (
        refused(client.upload_part_copy, Bucket=bucket, Key=key, UploadId=upload, PartNumber=1, CopySource=source)
        == DENIED
    )


def test_many_at_once_are_deleted_below_and_refused_outside(folder: Folder) -> None:
    named = {"Objects": [{"Key": "root"}, {"Key": "reports/2026/a"}]}

    told = folder.narrow.delete_objects(Bucket=folder.bucket, Delete=named)

    assert [one["Key"] for one in told["Deleted"]] == ["reports/2026/a"]
    assert [(one["Key"], one["Code"]) for one in told["Errors"]] == [("root", "AccessDenied")]


@pytest.mark.parametrize(
    ("asked", "keys", "folders"),
    [
        ({}, ["reports/2026/a", "reports/2026/b/c"], []),
        ({"Prefix": "reports/2026/b"}, ["reports/2026/b/c"], []),
        ({"Prefix": "reports/2025"}, [], []),
        ({"Prefix": "reports/2026-"}, [], []),
        ({"Delimiter": "/"}, [], ["reports/"]),
        ({"Delimiter": "/", "Prefix": "re"}, [], ["reports/"]),
        ({"Delimiter": "/", "Prefix": "reports/"}, [], ["reports/2026/"]),
        ({"Delimiter": "/", "Prefix": "reports/2026/"}, ["reports/2026/a"], ["reports/2026/b/"]),
        ({"Delimiter": "-"}, ["reports/2026/a", "reports/2026/b/c"], []),
    ],
)
def test_a_listing_tells_only_what_is_below(
    folder: Folder, asked: dict[str, str], keys: list[str], folders: list[str]
) -> None:
    for listed in (folder.narrow.list_objects, folder.narrow.list_objects_v2):
        found = listed(Bucket=folder.bucket, **asked)
        assert [one["Key"] for one in found.get("Contents", [])] == keys
        assert [one["Prefix"] for one in found.get("CommonPrefixes", [])] == folders

    versions = folder.narrow.list_object_versions(Bucket=folder.bucket, **asked)

    assert [one["Key"] for one in versions.get("Versions", [])] == keys
    assert [one["Prefix"] for one in versions.get("CommonPrefixes", [])] == folders


def test_a_listing_goes_on_where_it_ended(folder: Folder) -> None:
    pages = folder.narrow.get_paginator("list_objects_v2").paginate(
        Bucket=folder.bucket, PaginationConfig={"PageSize": 1}
    )
    behind = folder.narrow.list_objects_v2(Bucket=folder.bucket, Delimiter="/", StartAfter="reports/2026/a")

    assert [one["Key"] for page in pages for one in page["Contents"]] == ["reports/2026/a", "reports/2026/b/c"]
    assert "CommonPrefixes" not in behind


def test_uploads_outside_are_not_told(folder: Folder) -> None:
    for key in ("outside", "reports/2026/inside"):
        folder.whole.create_multipart_upload(Bucket=folder.bucket, Key=key)

    found = folder.narrow.list_multipart_uploads(Bucket=folder.bucket)
    elsewhere = folder.narrow.list_multipart_uploads(Bucket=folder.bucket, Prefix="out")

    assert [one["Key"] for one in found["Uploads"]] == ["reports/2026/inside"]
    assert "Uploads" not in elsewhere


def test_what_concerns_the_whole_bucket_is_not_changed(folder: Folder) -> None:
    client, bucket = folder.narrow, folder.bucket
    rules = {"CORSRules": [{"AllowedOrigins": ["*"], "AllowedMethods": ["GET"]}]}

    assert refused(client.put_bucket_cors, Bucket=bucket, CORSConfiguration=rules) == DENIED
    assert refused(client.delete_bucket_cors, Bucket=bucket) == DENIED
    assert refused(client.put_bucket_tagging, Bucket=bucket, Tagging={"TagSet": []}) == DENIED
    assert refused(client.delete_bucket, Bucket=bucket) == DENIED


def test_links_and_forms_reach_as_far_as_the_key_that_signs_them(folder: Folder) -> None:
    inside, outside = (
        folder.narrow.generate_presigned_url("get_object", {"Bucket": folder.bucket, "Key": key})
        for key in ("reports/2026/a", "root")
    )
    posted = []
    for key in ("reports/2026/posted", "posted", "reports/2026-posted"):
        form = folder.narrow.generate_presigned_post(folder.bucket, key)
        answer = httpx.post(form["url"], data=form["fields"], files={"file": BytesIO(b"x")}, trust_env=False)
        posted.append(answer.status_code)

    assert httpx.get(inside, trust_env=False).content == b"reports/2026/a"
    assert httpx.get(outside, trust_env=False).status_code == 403
    assert posted == [204, 403, 403]


async def test_the_server_signs_with_a_key_that_reaches_the_object(place: Place, folder: Folder, ada: Person) -> None:
    async with place.server.client(ada.token) as api:
        ids = {one["key"]: one["id"] for one in (await api.get("/api/repo")).json()["items"]}
        links = [
            (await api.post(f"/api/repo-obj/{ids[key]}/presign", json={})).json()["url"]
            for key in ("root", "reports/2026/a")
        ]
        for one in (await api.get("/api/s3/credentials")).json()["items"]:
            if one["prefix"] is None:
                await api.delete(f"/api/s3/credentials/{one['id']}")
        none = await api.post(f"/api/repo-obj/{ids['root']}/presign", json={})

    assert ada.key["access_key_id"] in links[0]
    assert folder.person.key["access_key_id"] in links[1]
    assert (none.status_code, none.json()["code"]) == (409, "s3.no_key")

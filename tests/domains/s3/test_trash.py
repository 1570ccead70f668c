"""Deleting over S3: into the trash where nobody asked for versioning, behind a marker where somebody did."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.domains.s3.clients import Person, Place, refusal, s3_place
from tests.support.processes import run_atrium, server_settings

MB = 1 << 20


def refused(call: Any, **arguments: Any) -> tuple[int, str]:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return refusal(error.value)


async def trash_of(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await api.get("/api/trash")).json()["items"])


def body_of(client: Any, bucket: str, key: str, **options: Any) -> bytes:
    return bytes(client.get_object(Bucket=bucket, Key=key, **options)["Body"].read())


async def test_a_deleted_object_comes_back_with_its_version_ids(place: Place, ada: Person) -> None:
    client = ada.s3()
    ids = [client.put_object(Bucket=ada.bucket, Key="a/k", Body=body)["VersionId"] for body in (b"one", b"two")]

    gone = client.delete_object(Bucket=ada.bucket, Key="a/k")

    assert "DeleteMarker" not in gone
    assert "VersionId" not in gone
    assert refused(client.get_object, Bucket=ada.bucket, Key="a/k") == (404, "NoSuchKey")
    assert refused(client.get_object, Bucket=ada.bucket, Key="a/k", VersionId=ids[0]) == (404, "NoSuchVersion")
    assert "Versions" not in client.list_object_versions(Bucket=ada.bucket)
    async with place.server.client(ada.token) as api:
        [item] = await trash_of(api)
        assert (item["kind"], item["title"]) == ("object", "k")
        assert (await api.post(f"/api/trash/{item['id']}/restore", json={})).status_code == 200
    assert [one["VersionId"] for one in client.list_object_versions(Bucket=ada.bucket)["Versions"]] == ids[::-1]
    assert body_of(client, ada.bucket, "a/k") == b"two"
    assert body_of(client, ada.bucket, "a/k", VersionId=ids[0]) == b"one"


async def test_a_deleted_key_is_written_copied_and_uploaded_to_anew(place: Place, ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="source", Body=b"source")
    for key in ("put", "copy", "parts"):
        client.put_object(Bucket=ada.bucket, Key=key, Body=b"old")
        client.delete_object(Bucket=ada.bucket, Key=key)

    client.put_object(Bucket=ada.bucket, Key="put", Body=b"new", IfNoneMatch="*")
    client.copy_object(Bucket=ada.bucket, Key="copy", CopySource={"Bucket": ada.bucket, "Key": "source"})
    upload = client.create_multipart_upload(Bucket=ada.bucket, Key="parts")["UploadId"]
    part = client.upload_part(Bucket=ada.bucket, Key="parts", UploadId=upload, PartNumber=1, Body=b"p" * MB)
    client.complete_multipart_upload(
        Bucket=ada.bucket,
        Key="parts",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )

    assert [body_of(client, ada.bucket, key)[:6] for key in ("put", "copy", "parts")] == [b"new", b"source", b"pppppp"]
    assert len(client.list_object_versions(Bucket=ada.bucket)["Versions"]) == 4
    async with place.server.client(ada.token) as api:
        assert {one["title"] for one in await trash_of(api)} == {"put", "copy", "parts"}
        for item in await trash_of(api):
            taken = await api.post(f"/api/trash/{item['id']}/restore", json={})
            assert (taken.status_code, taken.json()["code"]) == (409, "repository.key_taken")


async def test_an_upload_in_parts_outlives_the_deletion_of_its_key(ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="k", Body=b"old")
    upload = client.create_multipart_upload(Bucket=ada.bucket, Key="k")["UploadId"]
    part = client.upload_part(Bucket=ada.bucket, Key="k", UploadId=upload, PartNumber=1, Body=b"new")
    client.delete_object(Bucket=ada.bucket, Key="k")

    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    client.complete_multipart_upload(Bucket=ada.bucket, Key="k", UploadId=upload, MultipartUpload=parts)

    assert body_of(client, ada.bucket, "k") == b"new"
    client.delete_object(Bucket=ada.bucket, Key="k")
    again = refused(
        client.complete_multipart_upload, Bucket=ada.bucket, Key="k", UploadId=upload, MultipartUpload=parts
    )
    assert again == (404, "NoSuchUpload")


async def test_a_thousand_deleted_at_once_are_in_the_trash(place: Place, ada: Person) -> None:
    client = ada.s3()
    keys = [f"k{number:02}" for number in range(30)]
    for key in keys:
        client.put_object(Bucket=ada.bucket, Key=key, Body=key.encode())

    told = client.delete_objects(Bucket=ada.bucket, Delete={"Objects": [{"Key": key} for key in [*keys, "absent"]]})

    assert [one["Key"] for one in told["Deleted"]] == [*keys, "absent"]
    assert not any("DeleteMarker" in one for one in told["Deleted"])
    async with place.server.client(ada.token) as api:
        found = (await api.get("/api/trash", params={"limit": 200})).json()["items"]
    assert sorted(one["title"] for one in found) == keys


async def test_one_version_goes_for_good_and_the_last_one_to_the_trash(place: Place, ada: Person) -> None:
    client = ada.s3()
    first, second = (client.put_object(Bucket=ada.bucket, Key="k", Body=b)["VersionId"] for b in (b"one", b"two"))

    client.delete_object(Bucket=ada.bucket, Key="k", VersionId=second)
    current = body_of(client, ada.bucket, "k")
    client.delete_object(Bucket=ada.bucket, Key="k", VersionId=first)

    assert current == b"one"
    async with place.server.client(ada.token) as api:
        [item] = await trash_of(api)
        await api.post(f"/api/trash/{item['id']}/restore", json={})
    assert [one["VersionId"] for one in client.list_object_versions(Bucket=ada.bucket)["Versions"]] == [first]


async def test_where_versioning_was_turned_on_deleting_is_s3s_own(place: Place, ada: Person) -> None:
    client = ada.s3()
    ada.turn_on_versioning()
    version = client.put_object(Bucket=ada.bucket, Key="k", Body=b"one")["VersionId"]

    marker = client.delete_object(Bucket=ada.bucket, Key="k")
    many = client.delete_objects(Bucket=ada.bucket, Delete={"Objects": [{"Key": "k"}]})

    assert client.get_bucket_versioning(Bucket=ada.bucket)["Status"] == "Enabled"
    assert marker["DeleteMarker"] is True
    assert many["Deleted"][0]["DeleteMarker"] is True
    assert body_of(client, ada.bucket, "k", VersionId=version) == b"one"
    async with place.server.client(ada.token) as api:
        assert await trash_of(api) == []
        for one in client.list_object_versions(Bucket=ada.bucket)["DeleteMarkers"]:
            client.delete_object(Bucket=ada.bucket, Key="k", VersionId=one["VersionId"])
        assert body_of(client, ada.bucket, "k") == b"one"
        client.delete_object(Bucket=ada.bucket, Key="k", VersionId=version)
        assert await trash_of(api) == []
    assert "Versions" not in client.list_object_versions(Bucket=ada.bucket)


async def test_a_link_finds_nothing_in_the_trash(ada: Person) -> None:
    client = ada.s3()
    version = client.put_object(Bucket=ada.bucket, Key="k", Body=b"one")["VersionId"]
    links = [
        client.generate_presigned_url("get_object", {"Bucket": ada.bucket, "Key": "k", **more})
        for more in ({}, {"VersionId": version})
    ]

    client.delete_object(Bucket=ada.bucket, Key="k")

    assert [httpx.get(link, trust_env=False).status_code for link in links] == [404, 404]
    source = {"Bucket": ada.bucket, "Key": "k", "VersionId": version}
    assert refused(client.copy_object, Bucket=ada.bucket, Key="c", CopySource=source) == (404, "NoSuchVersion")


async def test_who_may_not_delete_trashes_nothing(place: Place, ada: Person) -> None:
    bob = await place.join(ada)
    reader = await place.person(ada.token, scope=["files:read", "files:write"])
    ada.s3().put_object(Bucket=ada.bucket, Key="k", Body=b"words")

    assert refused(bob.s3().delete_object, Bucket=bob.bucket, Key="k") == (403, "AccessDenied")
    assert refused(reader.s3().delete_object, Bucket=ada.bucket, Key="k") == (403, "AccessDenied")

    async with place.server.client(ada.token) as api:
        assert await trash_of(api) == []
    assert body_of(ada.s3(), ada.bucket, "k") == b"words"


async def test_the_bytes_in_the_trash_are_sound(tmp_path: Path) -> None:
    # A server of its own: the command looks at everybody's bytes, and other tests damage theirs on purpose.
    async with s3_place(tmp_path, extraction=0) as place:
        ada = await place.found()
        client = ada.s3()
        client.put_object(Bucket=ada.bucket, Key="k", Body=b"words that stay")
        client.delete_object(Bucket=ada.bucket, Key="k")

        verified = await run_atrium("blobs", "verify", **server_settings(place.url, data_dir=place.data))

    assert verified.code == 0, verified.output
    assert "0 missing, 0 corrupt, 0 orphaned" in verified.output

"""Uploads in parts: what they make, what they refuse, what they leave behind."""

import hashlib
from base64 import b64decode, b64encode
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.domains.s3.clients import Person, Place, refusal
from tests.postgres import run_as_owner

MIB = 1 << 20
PARTS = [b"a" * (5 * MIB), b"b" * (5 * MIB), b"c" * 1000]


def begin(client: Any, bucket: str, key: str = "k", **options: Any) -> str:
    return str(client.create_multipart_upload(Bucket=bucket, Key=key, **options)["UploadId"])


def send(
    client: Any, bucket: str, upload: str, parts: list[bytes], key: str = "k", **options: Any
) -> list[dict[str, Any]]:
    sent = []
    for number, body in enumerate(parts, 1):
        answer = client.upload_part(Bucket=bucket, Key=key, UploadId=upload, PartNumber=number, Body=body, **options)
        told = {name: value for name, value in answer.items() if name == "ETag" or name.startswith("ChecksumSHA")}
        sent.append({"PartNumber": number, **told})
    return sent


def complete(client: Any, bucket: str, upload: str, parts: list[dict[str, Any]], **options: Any) -> Any:
    return client.complete_multipart_upload(
        Bucket=bucket, Key="k", UploadId=upload, MultipartUpload={"Parts": parts}, **options
    )


async def used_bytes(place: Place, person: Person) -> int:
    async with place.server.client(person.token) as api:
        rows = (await api.get("/api/usage")).json()
    found = [row for row in rows["items"] if row["dimension"] == "storage.bytes" and row["level"] == "org"]
    return int(found[0]["used"]) if found else 0


async def test_parts_become_one_version_counted_once(place: Place, ada: Person) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket, Metadata={"x": "1"}, ContentType="text/plain", Tagging="t=1")
    sent = send(client, ada.bucket, upload, PARTS)

    made = complete(client, ada.bucket, upload, sent)

    whole = b"".join(PARTS)
    digests = b"".join(hashlib.md5(part).digest() for part in PARTS)
    found = client.get_object(Bucket=ada.bucket, Key="k")
    assert made["ETag"] == f'"{hashlib.md5(digests).hexdigest()}-3"' == found["ETag"]
    assert found["Body"].read() == whole
    assert (found["Metadata"], found["ContentType"], found["TagCount"]) == ({"x": "1"}, "text/plain", 1)
    second = client.get_object(Bucket=ada.bucket, Key="k", PartNumber=2)
    assert (second["Body"].read(), second["PartsCount"]) == (PARTS[1], 3)
    assert complete(client, ada.bucket, upload, sent)["VersionId"] == made["VersionId"]
    assert len(client.list_object_versions(Bucket=ada.bucket)["Versions"]) == 1
    assert await run_as_owner(place.url, "SELECT FROM multipart_parts p JOIN users u USING (org_id) LIMIT 1") == []


async def test_what_an_upload_used_is_given_back_when_it_is_aborted(place: Place, ada: Person) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket)
    send(client, ada.bucket, upload, PARTS)
    # The same number again: what it replaces is no longer counted.
    client.upload_part(Bucket=ada.bucket, Key="k", UploadId=upload, PartNumber=1, Body=b"x")
    held = await used_bytes(place, ada)

    client.abort_multipart_upload(Bucket=ada.bucket, Key="k", UploadId=upload)

    assert held == 5 * MIB + 1001
    assert await used_bytes(place, ada) == 0
    with pytest.raises(ClientError) as gone:
        client.list_parts(Bucket=ada.bucket, Key="k", UploadId=upload)
    assert refusal(gone.value) == (404, "NoSuchUpload")


async def test_parts_that_were_left_out_are_not_counted(place: Place, ada: Person) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket)
    sent = send(client, ada.bucket, upload, PARTS)

    complete(client, ada.bucket, upload, sent[:1])

    assert await used_bytes(place, ada) == 5 * MIB


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda sent: [], "MalformedXML"),
        (lambda sent: sent[::-1], "InvalidPartOrder"),
        (lambda sent: [{**sent[0], "ETag": '"' + "0" * 32 + '"'}], "InvalidPart"),
        (lambda sent: [{**sent[0], "PartNumber": 9}], "InvalidPart"),
        (lambda sent: [sent[2], sent[2] | {"PartNumber": 4}], "InvalidPart"),
    ],
)
def test_a_completion_that_does_not_fit_the_parts_is_refused(ada: Person, change: Any, code: str) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket)
    sent = send(client, ada.bucket, upload, PARTS)

    with pytest.raises(ClientError) as refused:
        complete(client, ada.bucket, upload, change(sent))

    assert refusal(refused.value) == (400, code)
    assert "Contents" not in client.list_objects_v2(Bucket=ada.bucket)
    assert len(client.list_parts(Bucket=ada.bucket, Key="k", UploadId=upload)["Parts"]) == 3


def test_a_part_that_is_too_small_is_refused_unless_it_is_the_last(ada: Person) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket)

    with pytest.raises(ClientError) as refused:
        complete(client, ada.bucket, upload, send(client, ada.bucket, upload, [b"small", b"last"]))

    assert refusal(refused.value) == (400, "EntityTooSmall")


def test_a_composite_checksum_is_made_of_the_parts(ada: Person) -> None:
    client = ada.s3()
    upload = begin(client, ada.bucket, ChecksumAlgorithm="SHA256")
    sent = send(client, ada.bucket, upload, PARTS, ChecksumAlgorithm="SHA256")
    raw = b"".join(b64decode(part["ChecksumSHA256"]) for part in sent)
    expected = f"{b64encode(hashlib.sha256(raw).digest()).decode()}-3"

    with pytest.raises(ClientError) as refused:
        complete(client, ada.bucket, upload, sent, ChecksumSHA256=b64encode(bytes(32)).decode() + "-3")
    made = complete(client, ada.bucket, upload, sent, ChecksumSHA256=expected)

    assert refusal(refused.value) == (400, "BadDigest")
    assert (made["ChecksumSHA256"], made["ChecksumType"]) == (expected, "COMPOSITE")


@pytest.mark.parametrize("algorithm", ["CRC32", "CRC32C", "CRC64NVME"])
def test_a_full_checksum_is_of_the_whole(ada: Person, algorithm: str) -> None:
    client = ada.s3()
    whole = client.put_object(Bucket=ada.bucket, Key="whole", Body=b"".join(PARTS), ChecksumAlgorithm=algorithm)
    upload = begin(client, ada.bucket, ChecksumAlgorithm=algorithm, ChecksumType="FULL_OBJECT")
    sent = send(client, ada.bucket, upload, PARTS, ChecksumAlgorithm=algorithm)

    made = complete(client, ada.bucket, upload, sent)

    assert (made[f"Checksum{algorithm}"], made["ChecksumType"]) == (whole[f"Checksum{algorithm}"], "FULL_OBJECT")


def test_parts_are_copied_from_what_is_there(ada: Person) -> None:
    client = ada.s3()
    client.put_object(Bucket=ada.bucket, Key="source ü", Body=b"0123456789" * MIB)
    upload = begin(client, ada.bucket)
    source = {"Bucket": ada.bucket, "Key": "source ü"}

    sent = [
        {"PartNumber": number, "ETag": answer["CopyPartResult"]["ETag"]}
        for number, asked in enumerate([f"bytes=0-{6 * MIB - 1}", "bytes=5-9"], 1)
        for answer in [
            client.upload_part_copy(
                Bucket=ada.bucket, Key="k", UploadId=upload, PartNumber=number, CopySource=source, CopySourceRange=asked
            )
        ]
    ]
    complete(client, ada.bucket, upload, sent)

    body = client.get_object(Bucket=ada.bucket, Key="k")["Body"].read()
    assert body == (b"0123456789" * MIB)[: 6 * MIB] + b"56789"


async def test_an_upload_is_its_beginners_alone(place: Place, ada: Person) -> None:
    bob = await place.join(ada)
    upload = begin(ada.s3(), ada.bucket)

    with pytest.raises(ClientError) as refused:
        send(bob.s3(), bob.bucket, upload, [b"words"])

    assert refusal(refused.value) == (404, "NoSuchUpload")
    assert "Uploads" not in bob.s3().list_multipart_uploads(Bucket=bob.bucket)
    assert len(ada.s3().list_multipart_uploads(Bucket=ada.bucket)["Uploads"]) == 1

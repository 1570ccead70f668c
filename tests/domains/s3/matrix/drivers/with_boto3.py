"""boto3 with its defaults."""

import boto3
from shared import BUCKET, URL, main

s3 = boto3.client("s3", endpoint_url=URL)


def put(path: str, key: str) -> None:
    s3.upload_file(path, BUCKET, key)


def get(key: str, path: str) -> None:
    s3.download_file(BUCKET, key, path)


def list_keys(prefix: str) -> list[str]:
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return [found["Key"] for page in pages for found in page.get("Contents", ())]


def delete(key: str) -> None:
    s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key}]})


def copy(source: str, key: str) -> None:
    s3.copy({"Bucket": BUCKET, "Key": source}, BUCKET, key)


def presign(verb: str, key: str) -> str:
    return str(
        s3.generate_presigned_url(f"{verb.lower()}_object", Params={"Bucket": BUCKET, "Key": key}, ExpiresIn=300)
    )


def presign_form(key: str) -> dict[str, object]:
    return dict(s3.generate_presigned_post(BUCKET, key, ExpiresIn=300))


main(put=put, get=get, list=list_keys, delete=delete, copy=copy, presign=presign, presign_form=presign_form)

"""minio-py with its defaults."""

from datetime import timedelta
from pathlib import Path

import urllib3
from minio import Minio
from minio.commonconfig import CopySource
from minio.datatypes import PostPolicy
from shared import BUCKET, CERTIFICATE, KEY_ID, REGION, SECRET, URL, main

scheme, _, host = URL.partition("://")
pool = urllib3.PoolManager(ca_certs=CERTIFICATE) if CERTIFICATE else None
s3 = Minio(host, access_key=KEY_ID, secret_key=SECRET, secure=scheme == "https", region=REGION, http_client=pool)


def put(path: str, key: str) -> None:
    s3.fput_object(BUCKET, key, path)


def get(key: str, path: str) -> None:
    s3.fget_object(BUCKET, key, path)
    Path(path).touch()


def list_keys(prefix: str) -> list[str]:
    return [found.object_name for found in s3.list_objects(BUCKET, prefix, recursive=True)]


def delete(key: str) -> None:
    s3.remove_object(BUCKET, key)


def copy(source: str, key: str) -> None:
    s3.copy_object(BUCKET, key, CopySource(BUCKET, source))


def presign(verb: str, key: str) -> str:
    return str(s3.get_presigned_url(verb, BUCKET, key, expires=timedelta(minutes=5)))


def presign_form(key: str) -> dict[str, object]:
    from datetime import UTC, datetime

    policy = PostPolicy(BUCKET, datetime.now(UTC) + timedelta(minutes=5))
    policy.add_equals_condition("key", key)
    return {"url": f"{URL}/{BUCKET}", "fields": {"key": key, **s3.presigned_post_policy(policy)}}


main(put=put, get=get, list=list_keys, delete=delete, copy=copy, presign=presign, presign_form=presign_form)

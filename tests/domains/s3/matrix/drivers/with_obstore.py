"""obstore, the Rust object store in Python."""

from pathlib import Path

import obstore
from obstore.store import S3Store
from shared import BUCKET, CERTIFICATE, URL, main

client = {"allow_http": True}
store = S3Store(
    BUCKET,
    endpoint=URL,
    virtual_hosted_style_request=False,
    client_options=client | ({"allow_invalid_certificates": True} if CERTIFICATE else {}),
)


def put(path: str, key: str) -> None:
    obstore.put(store, key, Path(path))


def get(key: str, path: str) -> None:
    with Path(path).open("wb") as file:
        for chunk in obstore.get(store, key).stream():
            file.write(chunk)


def list_keys(prefix: str) -> list[str]:
    return [found["path"] for page in obstore.list(store, prefix) for found in page]


def delete(key: str) -> None:
    obstore.delete(store, key)


def copy(source: str, key: str) -> None:
    obstore.copy(store, source, key)


main(put=put, get=get, list=list_keys, delete=delete, copy=copy)

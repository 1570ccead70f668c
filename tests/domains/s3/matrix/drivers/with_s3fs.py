"""s3fs, by which fsspec, pandas and Dask reach S3."""

import s3fs
from shared import BUCKET, URL, main

files = s3fs.S3FileSystem(client_kwargs={"endpoint_url": URL}, use_listings_cache=False)


def put(path: str, key: str) -> None:
    files.put_file(path, f"{BUCKET}/{key}")


def get(key: str, path: str) -> None:
    files.get_file(f"{BUCKET}/{key}", path)


def list_keys(prefix: str) -> list[str]:
    return [str(found).removeprefix(f"{BUCKET}/") for found in files.find(f"{BUCKET}/{prefix}")]


def delete(key: str) -> None:
    files.rm_file(f"{BUCKET}/{key}")


def copy(source: str, key: str) -> None:
    files.cp_file(f"{BUCKET}/{source}", f"{BUCKET}/{key}")


main(put=put, get=get, list=list_keys, delete=delete, copy=copy)

"""pyarrow's S3 filesystem, and a table written and read through it."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileType, S3FileSystem
from shared import BUCKET, CERTIFICATE, URL, main

scheme, _, host = URL.partition("://")
trusted = {"tls_ca_file_path": CERTIFICATE} if CERTIFICATE else {}
files = S3FileSystem(endpoint_override=host, scheme=scheme, force_virtual_addressing=False, **trusted)


def put(path: str, key: str) -> None:
    with Path(path).open("rb") as source, files.open_output_stream(f"{BUCKET}/{key}") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def get(key: str, path: str) -> None:
    with files.open_input_stream(f"{BUCKET}/{key}") as source, Path(path).open("wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def list_keys(prefix: str) -> list[str]:
    found = files.get_file_info(FileSelector(f"{BUCKET}/{prefix}".rstrip("/"), recursive=True))
    return [one.path.removeprefix(f"{BUCKET}/") for one in found if one.type is FileType.File]


def delete(key: str) -> None:
    files.delete_file(f"{BUCKET}/{key}")


def copy(source: str, key: str) -> None:
    files.copy_file(f"{BUCKET}/{source}", f"{BUCKET}/{key}")


def table(key: str) -> int:
    pq.write_table(pa.table({"n": list(range(100_000))}), f"{BUCKET}/{key}", filesystem=files)
    return int(pc.sum(pq.read_table(f"{BUCKET}/{key}", filesystem=files)["n"]).as_py())


main(put=put, get=get, list=list_keys, delete=delete, copy=copy, table=table)

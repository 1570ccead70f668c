"""DuckDB with httpfs: tables written to the bucket and asked there."""

import duckdb
import duckdb_extension_httpfs  # noqa: F401  its import makes the extension known
from duckdb_extensions import import_extension
from shared import BUCKET, CERTIFICATE, KEY_ID, REGION, SECRET, URL, main

scheme, _, host = URL.partition("://")
import_extension("httpfs")
database = duckdb.connect()
database.execute("LOAD httpfs")
if CERTIFICATE:
    database.execute(f"SET ca_cert_file = '{CERTIFICATE}'")
database.execute(
    f"CREATE SECRET (TYPE s3, KEY_ID '{KEY_ID}', SECRET '{SECRET}', REGION '{REGION}', ENDPOINT '{host}', URL_STYLE 'path',"
    f" USE_SSL {str(scheme == 'https').lower()})"
)


def table(key: str) -> int:
    database.execute(f"COPY (SELECT * FROM range(100000) AS t(n)) TO 's3://{BUCKET}/{key}' (FORMAT parquet)")
    found = database.execute(f"SELECT sum(n) FROM 's3://{BUCKET}/{key}'").fetchone()
    return int(found[0])


def list_keys(prefix: str) -> list[str]:
    rows = database.execute(f"SELECT file FROM glob('s3://{BUCKET}/{prefix}*')").fetchall()
    return [row[0].removeprefix(f"s3://{BUCKET}/") for row in rows]


main(table=table, list=list_keys)

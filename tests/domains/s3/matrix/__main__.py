"""`python -m tests.domains.s3.matrix`: install the clients, let each do its chores over HTTP and HTTPS, print what held."""

import argparse
import asyncio
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
import httpx

from tests.domains.s3.matrix.chores import MANY, chores_of, move_five_gibibytes
from tests.domains.s3.matrix.clients import CLIENTS, Client, Failed
from tests.domains.s3.matrix.endpoint import Endpoint, endpoint
from tests.domains.s3.matrix.shelf import NotInstallable, Shelf

LARGE = ("aws-cli-1", "rclone")


def write_many(where: Endpoint) -> None:
    """The keys that every client lists."""
    s3 = boto3.client(
        "s3",
        endpoint_url=where.url,
        region_name=where.region,
        aws_access_key_id=where.access_key_id,
        aws_secret_access_key=where.secret_access_key,
        verify=str(where.certificate) if where.certificate else None,
    )
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: s3.put_object(Bucket=where.bucket, Key=f"many/{n:05}", Body=b"%d" % n), range(MANY)))


def try_client(client: Client, *, large: bool) -> dict[str, str]:
    """What each chore came to: seconds, or what went wrong."""
    found = {}
    chores = chores_of(client) | ({"5 GiB": move_five_gibibytes} if large else {})
    for name, chore in chores.items():
        began = time.monotonic()
        try:
            chore(client)
            found[name] = f"{time.monotonic() - began:.1f} s"
        except (AssertionError, OSError, ValueError, httpx.HTTPError) as error:
            found[name] = f"FAILED: {error}" if isinstance(error, Failed) else f"FAILED: {type(error).__name__} {error}"
        print(f"  {client.name:16} {name:12} {found[name]}", flush=True)
    return found


async def try_all(names: list[str], shelf: Shelf, *, secure: bool, large: bool) -> bool:
    """Whether every chore of every client that can be installed held."""
    well = True
    async with endpoint(secure=secure) as where:
        print(f"{where.url.partition(':')[0]}:", flush=True)
        await asyncio.to_thread(write_many, where)
        for name in names:
            with tempfile.TemporaryDirectory(prefix="atrium-client-") as folder:
                try:
                    client = await asyncio.to_thread(CLIENTS[name], shelf, where, Path(folder))
                except NotInstallable as reason:
                    print(f"  {name:16} not installable here: {reason}", flush=True)
                    continue
                found = await asyncio.to_thread(try_client, client, large=large and name in LARGE)
                well &= not any(result.startswith("FAILED") for result in found.values())
        well &= where.server.popen.poll() is None
    return well


def main() -> int:
    """Run what was asked for; 0 when everything held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"only these; of {', '.join(CLIENTS)}")
    parser.add_argument("--http", action="store_true", help="without HTTPS")
    parser.add_argument("--https", action="store_true", help="without plain HTTP")
    parser.add_argument("--large", action="store_true", help=f"also 5 GiB, with {' and '.join(LARGE)}")
    parser.add_argument("--shelf", type=Path, default=Path(".clients"), help="where clients are installed")
    options = parser.parse_args()
    shelf = Shelf(options.shelf.absolute())
    wires = [secure for secure, without in ((False, options.https), (True, options.http)) if not without]
    names = options.names or list(CLIENTS)
    well = [asyncio.run(try_all(names, shelf, secure=secure, large=options.large)) for secure in wires]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())

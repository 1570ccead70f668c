"""What every client is asked to do, and what must then be true."""

import filecmp
import hashlib
import json
import os
import random
import ssl
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.domains.s3.matrix.clients import Client

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = (0, 5 * KIB, 20 * MIB)
ODD_NAMES = (
    "spaces in a name.txt",
    "plus+and&and=and;.txt",
    "per%cent%20.txt",
    "unicode-ü-日本語-🙂.txt",
    "quotes'(and)[more]~!@$.txt",
)
LONGEST_KEY = 1024
MANY = 10_000


def move_every_size(client: Client) -> None:
    """Nothing, a little and several parts come back byte for byte."""
    for size in SIZES:
        sent, back = _file(client, f"sent-{size}", size), client.folder / f"back-{size}"
        client.do("put", sent, f"sizes/{size}.bin")
        client.do("get", f"sizes/{size}.bin", back)
        assert filecmp.cmp(sent, back, shallow=False), f"{size} bytes came back changed"
        back.unlink()


def use_odd_keys(client: Client) -> None:
    """Keys with every awkward character are written, listed, copied, read and removed."""
    sent, prefix = _file(client, "odd-sent", 300), f"odd {client.name}/"
    keys = [prefix + name for name in (*ODD_NAMES, _long_name(LONGEST_KEY - len(prefix)))]
    for key in keys:
        client.do("put", sent, key)
    listed = client.keys(prefix)
    relative = "relative" in client.can
    assert listed == {key.removeprefix(prefix) if relative else key for key in keys}, f"listed {sorted(listed)}"
    for key in keys:
        back = client.folder / "odd-back"
        client.do("get", key, back)
        assert filecmp.cmp(sent, back, shallow=False), f"{key} came back changed"
        client.do("delete", key)
    if "silent" not in client.can:
        # A folder that a client keeps a marker for may stay.
        assert client.keys(prefix) <= {prefix}


def copy_on_the_server(client: Client) -> None:
    """A copy has the same bytes."""
    sent, back = _file(client, "copy-sent", 20 * MIB), client.folder / "copy-back"
    client.do("put", sent, "copies/one.bin")
    client.do("copy", "copies/one.bin", "copies/two.bin")
    client.do("get", "copies/two.bin", back)
    assert filecmp.cmp(sent, back, shallow=False)


def list_many(client: Client) -> None:
    """Ten thousand keys are all listed, over as many pages as it takes."""
    found = client.keys("many/")
    assert len(found) == MANY, f"listed {len(found)} of {MANY}"


def sync_twice(client: Client) -> None:
    """The second time there is nothing to do: no object gets a new version."""
    folder = client.folder / "tree"
    (folder / "deep" / "er").mkdir(parents=True, exist_ok=True)
    for number in range(20):
        (folder / ("deep/er" if number % 2 else ".") / f"file {number}.txt").write_bytes(os.urandom(1000 + number))
    prefix = f"sync-{client.name.replace(' ', '-')}/"
    client.do("sync", folder, prefix)
    first = _versions(client, prefix)
    client.do("sync", folder, prefix)
    assert len(first) == 20, f"{len(first)} of 20 arrived"
    assert _versions(client, prefix) == first, "the second run wrote again"


def follow_links(client: Client) -> None:
    """Links made with the client's own defaults let anybody read and write for a while."""
    sent = _file(client, "link-sent", 5 * KIB)
    client.do("put", sent, "links/read me.bin")
    with _browser(client) as browser:
        read = browser.get(_link(client.do("presign", "GET", "links/read me.bin")))
        assert (read.status_code, read.content) == (200, sent.read_bytes()), read.text[:300]
        if "presign" not in client.can:
            return
        written = browser.put(_link(client.do("presign", "PUT", "links/write me.bin")), content=b"written by a link")
        assert written.status_code == 200, written.text[:300]
        form = json.loads(client.do("presign_form", "links/posted.bin"))
        files = {"file": ("posted.bin", b"written by a form")}
        posted = browser.post(form["url"], data=form["fields"], files=files)
        assert posted.status_code in (200, 201, 204), posted.text[:300]
    for key, body in (("write me", b"written by a link"), ("posted", b"written by a form")):
        back = client.folder / "link-back"
        client.do("get", f"links/{key}.bin", back)
        assert back.read_bytes() == body


def keep_a_table(client: Client) -> None:
    """A Parquet table is written to the bucket and asked there."""
    assert int(client.do("table", "tables/numbers.parquet")) == sum(range(100_000))


def back_up_and_restore(client: Client) -> None:
    """A tree comes back as it was, and the backup program finds its own archive sound."""
    source, target = client.folder / "precious", client.folder / "restored"
    (source / "letters").mkdir(parents=True, exist_ok=True)
    for number in range(12):
        _file(client, f"precious/letters/{number}.bin", number * 400 * KIB)
    if "begin" in client.can:
        client.do("begin")
    client.do("backup", source)
    client.do("verify", source)
    client.do("restore", target)
    assert _digests(source) == _digests(next(target.rglob("letters")).parent)


def move_five_gibibytes(client: Client) -> None:
    """A file of 5 GiB goes up in parts and comes back byte for byte."""
    sent, back = client.folder / "large-sent", client.folder / "large-back"
    block = os.urandom(64 * MIB)
    with sent.open("wb") as file:
        for number in range(5 * GIB // len(block)):
            file.write(number.to_bytes(8) + block[8:])
    try:
        client.do("put", sent, f"large/{client.name}.bin")
        client.do("get", f"large/{client.name}.bin", back)
        assert _digest(back) == _digest(sent)
    finally:
        sent.unlink()
        back.unlink(missing_ok=True)


def chores_of(client: Client) -> dict[str, Callable[[Client], None]]:
    """What this client has words for."""
    found: dict[str, Callable[[Client], None]] = {}
    if "put" in client.can:
        found |= {"sizes": move_every_size, "odd keys": use_odd_keys, "copy": copy_on_the_server}
    if "list" in client.can:
        found |= {"10,000 keys": list_many}
    if "sync" in client.can:
        found |= {"sync twice": sync_twice}
    if client.can & {"presign", "presign_get"}:
        found |= {"links": follow_links}
    if "table" in client.can:
        found |= {"tables": keep_a_table}
    if "backup" in client.can:
        found |= {"backup": back_up_and_restore}
    return found


def _long_name(length: int) -> str:
    """A name of this many bytes, in pieces that also fit a file system."""
    return "/".join(["k" * 203] * 5)[-length:].strip("/").rjust(length, "k")


def _file(client: Client, name: str, size: int) -> Path:
    path = client.folder / name
    path.write_bytes(random.randbytes(size))
    return path


def _browser(client: Client) -> httpx.Client:
    certificate = client.endpoint.certificate
    trusted = ssl.create_default_context(cafile=certificate) if certificate else True
    return httpx.Client(verify=trusted, trust_env=False, timeout=60)


def _link(printed: str) -> str:
    text = printed.strip()
    return str(json.loads(text)) if text.startswith('"') else text


def _versions(client: Client, prefix: str) -> set[tuple[str, str]]:
    """Every version under a prefix, asked over the wire by the one client that the tests have themselves."""
    import boto3

    endpoint = client.endpoint
    s3 = boto3.client(
        "s3",
        endpoint_url=endpoint.url,
        region_name=endpoint.region,
        aws_access_key_id=endpoint.access_key_id,
        aws_secret_access_key=endpoint.secret_access_key,
        verify=str(endpoint.certificate) if endpoint.certificate else None,
    )
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=endpoint.bucket, Prefix=prefix)
    return {(one["Key"], one["VersionId"]) for page in pages for one in page.get("Versions", ())}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): _digest(path) for path in sorted(folder.rglob("*")) if path.is_file()}

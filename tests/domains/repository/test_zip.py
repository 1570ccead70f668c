"""Many files as one archive: byte for byte, only what the caller can read, sent as it is read."""

import asyncio
import hashlib
import io
import tracemalloc
import zipfile
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest

from atrium.engine.repository import archives
from atrium.kit.files.archive import ArchiveEntry, length_of, pack
from tests.support.client import Answer, Client
from tests.support.people import Company

AT = datetime(2026, 11, 17, 12, 0, 2, tzinfo=UTC)


async def put(client: Client, key: str, body: bytes, visibility: str = "team") -> str:
    answer = await client.put(f"/api/repo/{key}?visibility={visibility}", body)
    assert answer.status == 201, answer.raw
    return str(answer["id"])


def unpacked(answer: Answer) -> dict[str, bytes]:
    assert answer.status == 200, answer.raw
    assert answer.headers["content-length"] == str(len(answer.raw))
    with zipfile.ZipFile(io.BytesIO(answer.raw)) as archive:
        assert archive.testzip() is None
        return {one.filename: archive.read(one) for one in archive.infolist()}


async def test_a_folder_comes_out_as_it_went_in(alice: Client) -> None:
    bodies = {"a.txt": b"a" * 100_000, "deep/er/b.bin": bytes(range(256)), "empty": b"", "Ólafsvík.txt": "þ".encode()}
    for name, body in bodies.items():
        await put(alice, f"ports/{name}", body)
    await put(alice, "portside.txt", b"not in it")

    answer = await alice.get("/api/repo-zip", prefix="ports/")

    assert unpacked(answer) == bodies
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="ports.zip"'
    assert (await alice.send("HEAD", "/api/repo-zip", query={"prefix": "ports/"})).raw == b""


async def test_what_the_caller_cannot_read_is_not_in_it(alice: Client, bob: Client, stranger: Client) -> None:
    team = await put(alice, "x/team.txt", b"team")
    private = await put(alice, "x/private.txt", b"private", "private")
    shared = await put(alice, "y/shared.txt", b"shared", "private")
    await alice.post(f"/api/repo-obj/{shared}/share", {"user_id": bob.user_id})
    everything = ",".join((team, private, shared))

    assert unpacked(await bob.get("/api/repo-zip", prefix="x/")) == {"team.txt": b"team"}
    assert unpacked(await bob.get("/api/repo-zip", ids=everything)) == {
        "x/team.txt": b"team",
        "y/shared.txt": b"shared",
    }
    assert unpacked(await bob.get("/api/repo-zip", ids=team)) == {"team.txt": b"team"}
    assert unpacked(await stranger.get("/api/repo-zip", ids=everything)) == {}


async def test_a_token_that_reads_no_files_gets_none(company: Company) -> None:
    notes = await company.join("member", scope=["notes:read"])

    assert (await notes.get("/api/repo-zip")).status == 403


@pytest.mark.parametrize(
    "query", [{"ids": "x"}, {"ids": ""}, {"prefix": "a/", "ids": "0" * 8 + "-0000-0000-0000-" + "0" * 12}]
)
async def test_a_question_that_makes_no_sense_is_refused(alice: Client, query: dict[str, object]) -> None:
    assert (await alice.send("GET", "/api/repo-zip", query=query)).status == 400


async def test_too_much_is_refused_before_the_first_byte(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(3):
        await put(alice, f"many/{n}", b"12345")

    monkeypatch.setattr(archives, "MOST", 2)
    many = await alice.get("/api/repo-zip", prefix="many/")
    monkeypatch.setattr(archives, "MOST", 3)
    monkeypatch.setattr(archives, "MOST_BYTES", 14)
    large = await alice.get("/api/repo-zip", prefix="many/")

    assert [(one.status, one.code) for one in (many, large)] == [(413, "request.too_large")] * 2


async def test_an_archive_ends_where_the_caller_may_not_read_on(
    alice: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_TOGETHER", 1)
    ids = [await put(alice, f"x/{n}", b"x" * 100_000) for n in range(3)]
    received = bytearray()

    async def send(message: dict[str, Any]) -> None:
        received.extend(message.get("body", b""))
        if len(received) > 50_000 and ids:
            await alice.post(f"/api/repo-obj/{ids.pop()}/visibility", {"visibility": "private"})

    with pytest.raises(Exception, match="not shared with you"):
        await streamed(bob, "x/", send)

    assert 100_000 < len(received) < 300_000


async def streamed(client: Client, prefix: str, send: Any, *, leaves: asyncio.Event | None = None) -> None:
    """A download whose pieces are taken one by one."""
    begun = False

    async def receive() -> dict[str, Any]:
        nonlocal begun
        if not begun:
            begun = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await (leaves or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    await client.app(client._scope("GET", "/api/repo-zip", {"prefix": prefix}, {}), receive, send)


async def test_it_is_sent_in_small_pieces(alice: Client) -> None:
    await put_large(alice)

    assert await largest_piece(alice) < 2 << 20


@pytest.mark.proof
async def test_it_is_sent_as_it_is_read(alice: Client) -> None:
    await put_large(alice)

    tracemalloc.start()
    await largest_piece(alice)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 6 << 20


async def put_large(alice: Client) -> None:
    body = bytes(1 << 20) * 8
    for n in range(4):
        await put(alice, f"x/{n}", body)


async def largest_piece(alice: Client) -> int:
    """The most bytes that are sent at once of many more."""
    digest, most = hashlib.sha256(), 0

    async def send(message: dict[str, Any]) -> None:
        nonlocal most
        digest.update(message.get("body", b""))
        most = max(most, len(message.get("body", b"")))

    await streamed(alice, "x/", send)
    return most


async def test_it_ends_when_the_client_leaves(alice: Client) -> None:
    for n in range(4):
        await put(alice, f"x/{n}", bytes(1 << 20))
    leaves, received = asyncio.Event(), 0

    async def send(message: dict[str, Any]) -> None:
        nonlocal received
        received += len(message.get("body", b""))
        leaves.set()
        await asyncio.sleep(0)

    await streamed(alice, "x/", send, leaves=leaves)

    assert received < 3 << 20


@pytest.mark.parametrize("limit", [zipfile.ZIP64_LIMIT, 5_000, 100])
async def test_the_length_is_known_beforehand(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", limit)
    bodies = {"a": b"", "b/": b"", "b/c": b"x" * 5_001, "þ" * 30: b"y" * 300, "d": b"z"}
    entries = [ArchiveEntry(name, len(body), AT) for name, body in bodies.items()]

    async def read(index: int) -> AsyncGenerator[bytes, None]:
        yield bodies[entries[index].name]

    raw = b"".join([piece async for piece in pack(entries, read)])

    assert len(raw) == length_of(entries)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert {one.filename: archive.read(one) for one in archive.infolist()} == bodies
        assert archive.infolist()[0].date_time == (2026, 11, 17, 12, 0, 2)


def test_names_stay_inside_and_apart() -> None:
    keys = [
        "../../etc/passwd",
        "/abs",
        "a//b",
        "a/b",
        "a",
        "a/./c",
        "C:\\x",
        "C:y",
        "n\nl",
        "d/",
        "a.tar.gz",
        "a.tar.gz/x",
        "..",
        "/",
    ]

    names = archives.names_below("", [(key, 1 if key == "/" else 0) for key in keys])

    assert names == [
        "__/__/etc/passwd", "abs", "a/b", "a/b (2)", "a (2)", "a/_/c", "C__x", "C_y", "n_l", "d/", "a.tar (2).gz", "a.tar.gz/x",
        "__ (2)", "object",
    ]  # fmt: skip

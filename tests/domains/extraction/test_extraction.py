"""Text out of documents: the markers of honest ones, and an orderly end for hostile ones."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from atrium.engine.extraction import text_process
from atrium.engine.extraction.text_process import WORKER, ExtractionFailed, extract, kind_of
from atrium.kit.isolation.sandbox import Sandbox
from atrium.seams.settings import Settings
from tests.domains.extraction import hostile
from tests.support import honest
from tests.support.client import Client
from tests.support.folders import readable_folder
from tests.support.patience import PATIENCE
from tests.support.people import Company

FULL = bool(os.environ.get("ATRIUM_FULL"))
# The limits of a server when run in full; tighter ones otherwise, which the same documents meet sooner.
# What these hide, a reader simply does not follow: text or failure, both are an orderly end.
HARMLESS = frozenset({"pdf_xref_loop", "xlsx_far_cell", "html_long_attribute", "eml_headers"})
SANDBOX = Sandbox()
LIMITS = Settings() if FULL else Settings(extraction_seconds=6, extraction_memory=512 << 20)


async def uploaded(client: Client, key: str, content_type: str, body: bytes) -> str:
    answer = await client.put(f"/api/repo/{key}", body, headers={"content-type": content_type})
    assert answer.status == (201 if answer["version"]["number"] == 1 else 200), answer.raw
    return str(answer["id"])


async def text_of(client: Client, id: str) -> dict[str, Any]:
    """The text once the server has read it."""
    async with asyncio.timeout(PATIENCE):
        while (found := (await client.get(f"/api/repo-obj/{id}"))["text"])["state"] in ("waiting", "running"):
            await asyncio.sleep(0.05)
    return dict(found)


@pytest.mark.parametrize("name", honest.SAMPLES)
async def test_the_marker_of_an_honest_document_is_found(company: Company, alice: Client, name: str) -> None:
    content_type, make = honest.SAMPLES[name]
    id = await uploaded(alice, name, content_type, make())

    text = await text_of(alice, id)

    assert (text["state"], text["problem"]) == ("done", None)
    assert honest.MARKER in text["text"]
    assert "evil" not in text["text"]


async def test_two_hundred_pages_are_read(tmp_path: Path) -> None:
    await two_hundred_pages(tmp_path)


@pytest.mark.proof
async def test_two_hundred_pages_take_less_than_three_seconds(tmp_path: Path) -> None:
    assert await two_hundred_pages(tmp_path) < 3


async def two_hundred_pages(folder: Path) -> float:
    """Seconds to read them."""
    path = folder / "big.pdf"
    path.write_bytes(honest.pdf(200))
    started = time.perf_counter()

    found = await extract(path, "pdf", Settings(), SANDBOX)

    assert honest.MARKER in found.text
    return time.perf_counter() - started


@pytest.mark.parametrize("name", hostile.SAMPLES)
async def test_a_hostile_document_ends_and_gives_nothing_away(tmp_path: Path, name: str) -> None:
    await read_hostile(tmp_path, name)


@pytest.mark.proof
@pytest.mark.parametrize("name", hostile.SAMPLES)
async def test_a_hostile_document_ends_in_time_and_the_loop_goes_on(tmp_path: Path, name: str) -> None:
    took, away = await read_hostile(tmp_path, name)

    assert took < LIMITS.extraction_seconds + 5
    assert away < 2


async def read_hostile(folder: Path, name: str) -> tuple[float, float]:
    """Seconds until it ended, and the longest that the event loop was away meanwhile."""
    content_type, make = hostile.SAMPLES[name]
    path = folder / "hostile"
    path.write_bytes(make())
    kind = kind_of(content_type, name)
    assert kind is not None
    away = [0.0]
    ticks = asyncio.ensure_future(_ticks(away))
    started = time.perf_counter()

    text, problem = await _outcome(path, kind)
    took = time.perf_counter() - started

    ticks.cancel()
    assert len(text.encode()) <= LIMITS.extraction_output + 4
    assert "root:x" not in text
    assert name in HARMLESS or problem
    return took, max(away)


async def _outcome(path: Path, kind: str) -> tuple[str, str | None]:
    try:
        return (await extract(path, kind, LIMITS, SANDBOX)).text, None
    except ExtractionFailed as failure:
        return "", str(failure)


async def _ticks(away: list[float]) -> None:
    """For how long the event loop was away, each time."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.05)
        away.append(time.perf_counter() - before - 0.05)


async def test_a_failure_is_told_and_the_object_stays_readable(company: Company, alice: Client) -> None:
    id = await uploaded(alice, "broken.pdf", "application/pdf", hostile.pdf_cut_off())

    text = await text_of(alice, id)

    assert (text["state"], text["text"]) == ("failed", "")
    assert text["problem"]
    assert (await alice.get(f"/api/repo-obj/{id}/content")).raw == hostile.pdf_cut_off()


async def test_each_version_has_its_own_text(company: Company, alice: Client) -> None:
    id = await uploaded(alice, "a.txt", "text/plain", b"first")
    first = await text_of(alice, id)
    await uploaded(alice, "a.txt", "text/plain", b"second")

    after = await text_of(alice, id)

    assert (first["text"], after["text"]) == ("first", "second")


async def test_long_text_is_cut_off_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"words " * 1_000_000)

    found = await extract(path, "plain", Settings(extraction_output=10_000), SANDBOX)

    assert (len(found.text), found.truncated) == (10_000, True)


@pytest.mark.parametrize("body", [b"", b"\xef\xbb\xbfwords", "caf\u00e9 \U0001f30d".encode() * 2_000])
async def test_e11_a_text_that_is_read_at_once_reads_as_its_reader_reads_it(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(body)
    by_reader = await extract(path, "plain", Settings(extraction_output=9_999), SANDBOX)

    assert text_process.read_plain(body, 9_999) == by_reader


@pytest.mark.parametrize("body", [b"na\xefve", "words".encode("utf-16"), b"words\0"])
def test_e11_what_is_no_plain_utf_8_is_left_to_the_reader(body: bytes) -> None:
    assert text_process.read_plain(body, 9_999) is None


async def test_a_document_gets_no_more_memory_than_the_setting_says(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"x" * (200 << 20))

    with pytest.raises(ExtractionFailed, match="memory"):
        await extract(path, "plain", Settings(extraction_memory=128 << 20), SANDBOX)


async def test_a_document_gets_no_more_time_than_the_setting_says(tmp_path: Path) -> None:
    path = tmp_path / "slow.pdf"
    path.write_bytes(hostile.pdf_many_pages())

    with pytest.raises(ExtractionFailed, match=r"longer|signal"):
        await extract(path, "pdf", Settings(extraction_seconds=1), SANDBOX)


async def test_pictures_have_no_text(alice: Client) -> None:
    id = await uploaded(alice, "a.png", "image/png", b"x")

    assert (await alice.get(f"/api/repo-obj/{id}"))["text"]["state"] == "none"


async def test_the_reader_has_no_network() -> None:
    code = f"import runpy; runpy.run_path({str(WORKER)!r})['confine'](5, 1 << 30); print(open('/proc/net/dev').read().count(':'))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", code, stdout=asyncio.subprocess.PIPE)

    out, _ = await process.communicate()

    if out.strip() != b"1":
        pytest.skip("this kernel does not let a process leave the network")


SPY = """
import os, sys
seen = []
for path in ("/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", __import__("sys").argv[0].replace("extractor", "other")):
    try:
        seen.append(open(path).read())
    except OSError:
        seen.append("")
print("read", sum(map(len, seen)), "in", sorted(os.listdir("/")), "as", os.getuid())
"""


async def test_a_reader_that_was_taken_over_sees_no_file_but_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if reason := await SANDBOX.reason():
        pytest.skip(f"there is no working sandbox here: {reason}")
    with readable_folder() as folder:
        (folder / "extractor.py").write_text(SPY)
        (folder / "document").write_text("x")
        monkeypatch.setattr(text_process, "WORKER", folder / "extractor.py")

        found = await extract(folder / "document", "plain", Settings(), SANDBOX)

    assert found.text.startswith("read 0 in ")
    assert "'home'" not in found.text
    assert found.text.endswith("as 65534\n")

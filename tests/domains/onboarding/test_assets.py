"""Pictures and fonts: redrawn, bounded, kept in the blob store, and public to every page."""

import asyncio
import base64
import hashlib
import io
import os
import random
import resource
import threading
from typing import Any

import pytest
from PIL import Image

from atrium.boot.assemble import Application
from atrium.engine.repository import release
from atrium.product.branding import logo
from tests.domains.onboarding.conftest import publish
from tests.support.client import Answer, Client

MOST = 2 << 20


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), **more: Any) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", size, "#0f766e").save(made, kind, **more)
    return made.getvalue()


def font(length: int = 100) -> bytes:
    return b"wOF2" + b"\x00\x01\x00\x00" + length.to_bytes(4, "big") + os.urandom(length - 12)


async def upload(person: Client, raw: bytes, kind: str = "logo") -> Answer:
    return await person.post(
        "/api/beta/assets", {"kind": kind, "data": base64.b64encode(raw).decode(), "filename": "x"}
    )


async def test_a_picture_is_drawn_anew_and_everybody_may_show_it(owner: Client, visitor: Client) -> None:
    exif = Image.Exif()
    exif[0x010E] = "canary"
    made = await upload(owner, picture("JPEG", (3000, 100), exif=exif), "hero")

    shown = await visitor.get(made["url"], headers={"origin": "https://elsewhere.example"})

    assert (made.status, made["content_type"], made["width"]) == (201, "image/jpeg", 2560)
    assert hashlib.sha256(shown.raw).hexdigest() == made["sha256"]
    assert b"canary" not in shown.raw
    assert {name: shown.headers[name] for name in (
        "cache-control", "x-content-type-options", "content-security-policy", "access-control-allow-origin",
        "cross-origin-resource-policy", "content-type",
    )} == {
        "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox", "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin", "content-type": "image/jpeg",
    }  # fmt: skip


async def test_two_mebibytes_fit_and_one_byte_more_does_not(owner: Client) -> None:
    fits, over = await upload(owner, font(MOST), "font"), await upload(owner, font(MOST + 1), "font")

    assert (fits.status, fits["size"], over.status) == (201, MOST, 413)


async def test_hostile_files_are_refused_or_redrawn(owner: Client, visitor: Client) -> None:
    dice, good = random.Random(3), [picture("PNG"), picture("JPEG"), picture("WEBP")]
    broken = [one[: dice.randrange(4, len(one) - 1)] for one in good for _ in range(6)]
    changed = []
    for one in good * 5:
        raw = bytearray(one)
        for _ in range(8):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        changed.append(bytes(raw) + b"<script>canary</script>")
    strange = [b"", b"<svg onload='x'/>", b"GIF89a" + bytes(20), b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"wOF2", bytes(100)]

    replies = [await upload(owner, raw) for raw in (*broken, *changed, *strange)]
    fonts = [await upload(owner, raw, "font") for raw in (picture(), b"OTTO" + bytes(60), font(100)[:-1], font(40))]

    assert len(replies) == 40
    assert {reply.status for reply in replies} <= {201, 400}
    assert all(reply.status == 400 for reply in (*replies[-7:], *fonts))
    for reply in replies:
        if reply.status == 201:
            assert b"canary" not in (await visitor.get(reply["url"])).raw


async def test_pictures_that_come_at_once_are_drawn_one_after_the_other_and_beside_the_loop(
    owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, threads, at_once = logo._draw, set[int](), list[int]()
    busy = 0

    def noted(*arguments: Any) -> Any:
        nonlocal busy
        busy += 1
        threads.add(threading.get_ident())
        at_once.append(busy)
        try:
            return draw(*arguments)
        finally:
            busy -= 1

    monkeypatch.setattr(logo, "_draw", noted)
    replies = await asyncio.gather(*(upload(owner, picture("JPEG", (500, 500)), "hero") for _ in range(8)))

    assert {reply.status for reply in replies} == {201}
    assert (len(at_once), set(at_once)) == (8, {1})
    assert threading.get_ident() not in threads


@pytest.mark.proof
async def test_thirty_pictures_at_once_take_the_memory_of_a_few(owner: Client) -> None:
    # Three bytes a pixel: drawn all at once, they would take half a gibibyte.
    large = picture("JPEG", (2500, 2500))
    await upload(owner, large, "hero")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    replies = await asyncio.gather(*(upload(owner, large, "hero") for _ in range(30)))

    assert {reply.status for reply in replies} == {201}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


async def test_a_file_that_visitors_are_shown_stays(owner: Client, visitor: Client) -> None:
    shown, spare = await upload(owner, picture()), await upload(owner, picture("WEBP"))
    await publish(owner, assets={"logo": shown["id"]})

    kept, gone = (
        await owner.delete(f"/api/beta/asset/{shown['id']}"),
        await owner.delete(f"/api/beta/asset/{spare['id']}"),
    )

    assert (kept.status, kept.code, gone.status) == (409, "onboarding.asset_in_use", 200)
    assert (await visitor.get(spare["url"])).status == 404
    assert (await visitor.get("/api/beta/config"))["assets"] == {"logo": shown["url"]}
    listed = await owner.get("/api/beta/assets")
    assert [one["id"] for one in listed["items"]] == [shown["id"]]


async def test_bytes_stay_in_the_store_as_long_as_a_file_refers_to_them(
    house: Application, owner: Client, visitor: Client
) -> None:
    first, second = await upload(owner, picture(size=(9, 9))), await upload(owner, picture(size=(9, 9)))
    await owner.delete(f"/api/beta/asset/{first['id']}")

    await release.sweep(house.services)
    still = await visitor.get(second["url"])
    await owner.delete(f"/api/beta/asset/{second['id']}")
    await release.sweep(house.services)

    assert still.status == 200
    sha256 = bytes.fromhex(first["sha256"])
    assert await house.services.blobs.stat(house.services.started["onboarding"].founding.org_id, sha256) is None


async def test_files_count_as_storage_and_there_are_at_most_a_hundred(owner: Client) -> None:
    async def used() -> int:
        lines = (await owner.get("/api/usage"))["items"]
        return sum(line["used"] for line in lines if (line["level"], line["dimension"]) == ("team", "storage.bytes"))

    before = await used()
    replies = await asyncio.gather(*(upload(owner, font(60 + n), "font") for n in range(105)))

    assert sorted(reply.status for reply in replies) == [*[201] * 100, *[409] * 5]
    assert {reply.code for reply in replies if reply.status == 409} == {"onboarding.too_many_assets"}
    assert await used() - before == sum(reply["size"] for reply in replies if reply.status == 201)

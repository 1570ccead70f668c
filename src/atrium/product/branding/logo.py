"""Logos: bytes from a stranger in, a small image of our own drawing out. Nothing of the sent file survives but its pixels."""

import asyncio
import base64
import struct
import warnings
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import msgspec
from PIL import Image, ImageOps
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

from atrium.product.branding.model import BadLogo, LogoTooLarge

SENT_BYTES, SENT_PIXELS, SENT_SCANS = 1_048_576, 4096 * 4096, 40
# Every page carries the logo, so what is kept stays small: an image that does not compress is made smaller instead.
KEPT_BYTES, SIDES = 131_072, (512, 384, 256, 192, 128)
# Base64 takes four bytes for three; the rest is for line breaks and for the JSON around it.
BODY_LIMIT = 1_572_864
_SEND = "send a PNG, JPEG or WebP image of at most 1 MiB, as base64 or as a data: URI"
# Each reader by name, never by asking the library to guess: it knows dozens of formats, and each is code that strangers reach.
_READERS: dict[str, type[ImageFile]] = {"PNG": PngImageFile, "JPEG": JpegImageFile, "WEBP": WebPImageFile}
_WRITING: dict[str, dict[str, Any]] = {
    "PNG": {"optimize": True},
    "JPEG": {"quality": 90, "optimize": True},
    "WEBP": {"quality": 90},
}
# What the readers raise when bytes are not what they claim to be.
_BROKEN = (
    *(OSError, SyntaxError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError, EOFError, MemoryError),
    *(struct.error, zlib.error, Image.DecompressionBombError),
)
# One at a time: a burst of uploads must not hold the memory of several large images at once.
_BENCH = ThreadPoolExecutor(1, thread_name_prefix="logo")


class Drawn(msgspec.Struct, frozen=True):
    """An image of our own drawing."""

    body: bytes
    kind: str
    width: int
    height: int


async def redraw(sent: str) -> str:
    """The image as a data: URI, drawn anew in a thread: upright, without metadata, at most 512 pixels and 128 KiB."""
    drawn = await draw(_bytes_of(sent), SIDES, KEPT_BYTES)
    return f"data:image/{drawn.kind};base64,{base64.b64encode(drawn.body).decode()}"


async def draw(raw: bytes, sides: Sequence[int], kept_bytes: int) -> Drawn:
    """The image drawn anew in a thread, with the longest of these sides whose bytes are few enough, or the shortest of them."""
    return await asyncio.get_running_loop().run_in_executor(_BENCH, _draw, raw, sides, kept_bytes)


def _draw(raw: bytes, sides: Sequence[int], kept_bytes: int) -> Drawn:
    kind = _kind_of(raw)
    try:
        # The decoders warn of small damage on standard error; only this one thread ever silences them.
        with warnings.catch_warnings(action="ignore"):
            image = _pixels_of(raw, kind, sides[0])
    except _BROKEN as error:
        raise BadLogo(f"this {kind} image cannot be read, it may be cut off or damaged; {_SEND}") from error
    body = _encoded(image, kind, sides, kept_bytes)
    return Drawn(body, kind.lower(), image.width, image.height)


def _bytes_of(sent: str) -> bytes:
    text = sent.partition(";base64,")[2] if sent.startswith("data:") else sent
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:
        raise BadLogo(f"the logo is not base64; {_SEND}") from error
    if len(raw) > SENT_BYTES:
        raise LogoTooLarge(f"the logo has {len(raw)} bytes; {_SEND}", limit=SENT_BYTES)
    return raw


def _kind_of(raw: bytes) -> str:
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if raw.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "WEBP"
    if b"<svg" in raw[:4096].lower():
        raise BadLogo(f"an SVG can carry scripts and is not taken; {_SEND}")
    raise BadLogo(f"this is no image of a kind that is taken; {_SEND}")


def _pixels_of(raw: bytes, kind: str, side: int) -> Image.Image:
    with _READERS[kind](BytesIO(raw)) as opened:
        _require_modest(opened, raw)
        opened.draft("RGB", (2 * side, 2 * side))
        opened.load()
        alpha = kind != "JPEG" and opened.has_transparency_data
        image = _in_eight_bits(opened).convert("RGBA" if alpha else "RGB")
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    image = _upright(image)
    # From bare pixels, so that nothing the file carried beside them can be written out again.
    return Image.frombytes(image.mode, image.size, image.tobytes())


def _require_modest(opened: ImageFile, raw: bytes) -> None:
    """Refuse what a small file can promise and a server cannot afford; only the header has been read so far."""
    if opened.width * opened.height > SENT_PIXELS:
        raise BadLogo(f"the image is {opened.width} by {opened.height} pixels; send one of at most 4096 by 4096")
    # A JPEG may be drawn in passes over all of its pixels; a hostile one has thousands, an honest one about ten.
    if opened.format == "JPEG" and raw.count(b"\xff\xda") > SENT_SCANS:
        raise BadLogo(f"the JPEG is made of too many scans; save it again in a common way, and {_SEND}")


def _in_eight_bits(image: Image.Image) -> Image.Image:
    # The library cuts 16-bit greys off at 255 instead of scaling them.
    return image.point(lambda value: value / 256).convert("L") if image.mode.startswith("I") else image


def _upright(image: Image.Image) -> Image.Image:
    """Turned as its camera said; that note is about to be dropped. A note that cannot be read turns nothing."""
    try:
        return ImageOps.exif_transpose(image)
    except _BROKEN:
        return image


def _encoded(image: Image.Image, kind: str, sides: Sequence[int], kept_bytes: int) -> bytes:
    for side in sides:
        image.thumbnail((side, side), Image.Resampling.LANCZOS)
        kept = BytesIO()
        image.save(kept, kind, **_WRITING[kind])
        if kept.tell() <= kept_bytes:
            break
    return kept.getvalue()

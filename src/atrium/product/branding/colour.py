"""Colours written #rrggbb: their WCAG contrast, and the nearest one of the same hue that meets a condition. Nothing about themes."""

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import cbrt, cos, dist, radians, sin

Triple = tuple[float, float, float]
_STEPS = 512
_NARROWING = 8
_TURNS = (radians(-12), radians(12))
_LINEAR = tuple(
    value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in (n / 255 for n in range(256))
)


def contrast(one: str, other: str) -> float:
    """The WCAG contrast ratio of two colours, unrounded."""
    here, there = _luminance(one) + 0.05, _luminance(other) + 0.05
    return here / there if here >= there else there / here


@lru_cache(maxsize=8192)
def tint(colour: str, ground: str) -> str:
    """The colour a stylesheet gets from `color-mix(in srgb, colour 12%, ground)`."""
    # 12 % of one and 88 % of the other, rounded, in whole numbers: 3/25 and 22/25 never meet in the middle.
    return _hex(*((6 * x + 44 * y + 25) // 50 for x, y in zip(_channels(colour), _channels(ground), strict=True)))


def nearest(wanted: str, passes: Callable[[str], bool]) -> str | None:
    """The passing colour closest to the wanted one, lighter or darker, of its hue or one beside it; None when none passes."""
    place = _oklab(wanted)
    ways = product((1, -1), (0.0, *_TURNS))
    found = [colour for step, turn in ways if (colour := _first(_turned(place, turn), step, passes)) is not None]
    return min(found, key=lambda colour: dist(place, _oklab(colour)), default=None)


def difference(one: str, other: str) -> float:
    """How far apart two colours look: their distance in OKLab, where black and white are 1 apart."""
    return dist(_oklab(one), _oklab(other))


def _turned(place: Triple, by: float) -> Triple:
    lightness, a, b = place
    return lightness, a * cos(by) - b * sin(by), a * sin(by) + b * cos(by)


def _first(place: Triple, step: int, passes: Callable[[str], bool]) -> str | None:
    """Walk towards white or black, to the first colour that passes; the pole itself is the last one tried."""
    lightness = place[0] + step / _STEPS
    while 0 < lightness < 1:
        if passes(colour := _shade(place, lightness)):
            return colour
        lightness += step / _STEPS
    pole = "#ffffff" if step > 0 else "#000000"
    return pole if passes(pole) else None


def _shade(place: Triple, lightness: float) -> str:
    """The hue at another lightness, with as much of its chroma as the screen can show there."""
    _, a, b = place
    whole = _linear((lightness, a, b))
    if _is_shown(whole):
        return _painted(whole)
    low, high = 0.0, 1.0
    for _ in range(_NARROWING):
        middle = (low + high) / 2
        shown = _is_shown(_linear((lightness, a * middle, b * middle)))
        low, high = (middle, high) if shown else (low, middle)
    return _painted(_linear((lightness, a * low, b * low)))


@lru_cache(maxsize=8192)
def _luminance(colour: str) -> float:
    red, green, blue = (_LINEAR[channel] for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@lru_cache(maxsize=8192)
def _oklab(colour: str) -> Triple:
    red, green, blue = (_LINEAR[channel] for channel in _channels(colour))
    long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _linear(place: Triple) -> Triple:
    lightness, a, b = place
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _is_shown(linear: Triple) -> bool:
    return all(-0.0005 <= channel <= 1.0005 for channel in linear)


def _painted(linear: Triple) -> str:
    return _hex(*(round(255 * _encoded(min(1.0, max(0.0, channel)))) for channel in linear))


def _encoded(channel: float) -> float:
    return 12.92 * channel if channel <= 0.0031308 else 1.055 * float(channel ** (1 / 2.4)) - 0.055


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _hex(red: int, green: int, blue: int) -> str:
    return f"#{red:02x}{green:02x}{blue:02x}"

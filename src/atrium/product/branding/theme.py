"""Themes: what a token may hold, and the contrast gate that every set of them passes before it is shown.

**No set that leaves `resolve` has a text pair below 4.5:1 or an interface pair below 3:1, in light or in dark.** A theme is
accepted only when it passes together with everything beneath it: the console's own values, then the instance's, then the
company's. An instance may change its theme later without asking the companies on top of it, and must not learn about
theirs; so a company's theme keeps the whole palette it was accepted in. In each mode the first of these that passes is shown:

1. the company's tokens on the instance's present theme;
2. the palette the company's theme was accepted in;
3. the instance's present theme;
4. the console's own values.
"""

import re
from collections.abc import Mapping
from math import floor

import msgspec

from atrium.product.branding.colour import contrast, nearest, tint
from atrium.product.branding.model import BadToken, Theme
from atrium.product.branding.tokens import DEFAULTS, FONTS, MODES, NAMES, PAIRS, SOFT

NOTHING: Theme = {}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_RADIUS = re.compile(r"(?:[0-9]|1[0-6])px")


class ContrastCheck(msgspec.Struct, frozen=True):
    """A pair of one mode and its floor. `front` and `ground` are tokens; a soft ground is the front's tint on it."""

    front: str
    ground: str
    soft: bool
    needs: float

    @property
    def pair(self) -> tuple[str, str]:
        """The two as people name them."""
        return self.front, self.front + SOFT if self.soft else self.ground

    def ratio(self, palette: Theme) -> float:
        """The contrast this pair has in a palette."""
        front, ground = palette[self.front], palette[self.ground]
        return contrast(front, tint(front, ground) if self.soft else ground)


CHECKS: dict[str, tuple[ContrastCheck, ...]] = {
    mode: tuple(
        ContrastCheck(
            mode + front, mode + ("surface" if ground.endswith(SOFT) else ground), ground.endswith(SOFT), needs
        )
        for front, ground, needs in PAIRS
    )
    for mode in MODES
}


def require_well_formed(theme: Mapping[str, object]) -> Theme:
    """The theme in its stored spelling; refuse the first token that is unknown or malformed, by name."""
    return {name: _well_formed(name, value) for name, value in theme.items()}


def require_legible(theme: Theme, beneath: Theme) -> Theme:
    """The whole palette of a theme on a legible one; refuse by name what falls below the contrast floor there."""
    palette = {**beneath, **theme}
    failed = [check for mode in MODES for check in CHECKS[mode] if check.ratio(palette) < check.needs]
    if failed:
        raise _below_the_floor(failed, theme, palette)
    return palette


def resolve(instance: Theme, own: Theme = NOTHING, accepted: Theme = NOTHING) -> Theme:
    """Every token's value for a company's theme on the instance's: in each mode, the first choice that is legible."""
    if not instance and not own:
        return dict(DEFAULTS)
    beneath = {**DEFAULTS, **instance}
    merged = {**beneath, **own}
    palette = {name: merged[name] for name in ("radius", "font")}
    for mode in MODES:
        choices = (merged, {**DEFAULTS, **accepted}, beneath)
        shown = next((choice for choice in choices if is_legible(choice, mode)), DEFAULTS)
        palette |= {mode + name: shown[mode + name] for name in NAMES}
    return palette


def is_legible(palette: Theme, mode: str) -> bool:
    """Whether every pair of one mode meets its floor."""
    return all(check.ratio(palette) >= check.needs for check in CHECKS[mode])


def overrides(palette: Theme, *themes: Theme) -> Theme:
    """The part of a palette that a page must be told: what some theme names, and whatever else is not the console's own."""
    named = set().union(*themes)
    return {name: value for name, value in palette.items() if name in named or value != DEFAULTS[name]}


def _well_formed(name: str, value: object) -> str:
    if name not in DEFAULTS:
        raise _malformed(name, "is not a known token")
    text = value if isinstance(value, str) else ""
    if name == "radius":
        if not _RADIUS.fullmatch(text):
            raise _malformed(name, "must be 0px to 16px, in whole pixels")
    elif name == "font":
        if text not in FONTS:
            raise _malformed(name, f"must be one of {', '.join(FONTS)}")
    elif not _COLOUR.fullmatch(text):
        raise _malformed(name, "must be a colour written #rrggbb")
    return text.lower()


def _malformed(name: str, reason: str) -> BadToken:
    token = name if len(name) <= 64 else f"{name[:64]}…"
    return BadToken(
        f'theme token "{token}" {reason}', token=token, errors=[{"path": f"theme.{token}", "message": reason}]
    )


def _below_the_floor(failed: list[ContrastCheck], theme: Theme, palette: Theme) -> BadToken:
    check = failed[0]
    token, colour = _way_out(check, theme, palette)
    told = {token: _reason(check, palette)}
    for other in failed:
        told.setdefault(_sent(other, theme)[0], _reason(other, palette))
    return BadToken(
        f'theme token "{token}" {told[token]}',
        token=token,
        pair=check.pair,
        ratio=_rounded_down(check.ratio(palette)),
        needs=check.needs,
        nearest=colour,
        errors=[{"path": f"theme.{name}", "message": reason} for name, reason in told.items()],
    )


def _reason(check: ContrastCheck, palette: Theme) -> str:
    front, ground = check.pair
    ratio = _rounded_down(check.ratio(palette))
    return f"is below the contrast floor: {front} on {ground} is {ratio:.2f}:1, needs {check.needs:g}:1"


def _rounded_down(ratio: float) -> float:
    """To two places, downwards: what fails must not read as if it passed."""
    return floor(ratio * 100) / 100


def _sent(check: ContrastCheck, theme: Theme) -> list[str]:
    """Which tokens of a failed pair the caller sent; at least one, because what lies beneath is legible."""
    return [token for token in (check.front, check.ground) if token in theme]


def _way_out(check: ContrastCheck, theme: Theme, palette: Theme) -> tuple[str, str | None]:
    """Which of the sent tokens to change, and to what: rather one that some colour can mend."""
    sent = _sent(check, theme)
    for token in sent:
        if (colour := _nearest_legible(token, palette)) is not None:
            return token, colour
    return sent[0], None


def _nearest_legible(token: str, palette: Theme) -> str | None:
    checks = [check for mode in MODES for check in CHECKS[mode] if token in (check.front, check.ground)]
    trial = dict(palette)

    def passes(colour: str) -> bool:
        trial[token] = colour
        return all(check.ratio(trial) >= check.needs for check in checks)

    return nearest(palette[token], passes)

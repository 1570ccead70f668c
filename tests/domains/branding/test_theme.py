"""Themes: what a token may hold, and that no accepted one is ever shown below the contrast floor."""

import colorsys
import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from atrium.product.branding.colour import contrast, difference, nearest, tint
from atrium.product.branding.model import BadToken, Theme
from atrium.product.branding.theme import is_legible, overrides, require_legible, require_well_formed, resolve
from atrium.product.branding.tokens import DEFAULTS, FONTS, MODES, NAMES, PAIRS
from tests.support.processes import PROOFS

COLOURS = [mode + name for mode in MODES for name in NAMES]
A_COLOUR = re.compile(r"\A#[0-9a-f]{6}\Z")
CLEAN = {
    "radius": re.compile(r"\A(?:0|[1-9]|1[0-6])px\Z"),
    "font": re.compile(r"\A(?:system|inter|serif|rounded)\Z"),
}
# Night by day and day by night: the accepted theme that is furthest from the console's own.
SWAPPED: Theme = {
    **{name: DEFAULTS[f"dark-{name}"] for name in NAMES},
    **{f"dark-{name}": DEFAULTS[name] for name in NAMES},
}

hex_colours = st.from_regex(r"\A#[0-9a-f]{6}\Z")
raw_themes = st.dictionaries(st.sampled_from(COLOURS), hex_colours, max_size=12)


def ratio_by_the_book(one: str, other: str) -> float:
    """WCAG 2 written out once more, so that a slip in the product's own arithmetic shows."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def softened(colour: str, surface: str) -> str:
    mixed = (0.12 * int(colour[at : at + 2], 16) + 0.88 * int(surface[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


def illegible_pairs(palette: Theme) -> Iterator[tuple[str, str, float]]:
    for mode, (front, ground, needs) in itertools.product(MODES, PAIRS):
        over, surface = palette[mode + front], palette[mode + "surface"]
        under = softened(over, surface) if ground.endswith("@soft") else palette[mode + ground]
        ratio = ratio_by_the_book(over, under)
        if ratio < needs:
            yield mode + front, mode + ground, ratio


def refusal_of(theme: dict[str, Any], beneath: Theme = DEFAULTS) -> BadToken | None:
    try:
        require_legible(require_well_formed(theme), beneath)
    except BadToken as refused:
        return refused
    return None


def mended(theme: Theme, beneath: Theme) -> Theme:
    """The theme made acceptable by taking every suggestion, which puts it right on the floor; what nothing mends is dropped."""
    theme = dict(theme)
    while (refused := refusal_of(theme, beneath)) is not None:
        token, colour = str(refused.facts["token"]), refused.facts["nearest"]
        if colour is None:
            del theme[token]
        else:
            theme[token] = str(colour)
    return theme


def test_there_are_56_tokens_and_the_consoles_own_values_are_legible() -> None:
    assert len(DEFAULTS) == 56
    assert len(PAIRS) * len(MODES) == 86
    assert list(illegible_pairs(DEFAULTS)) == []
    assert refusal_of(DEFAULTS) is None
    assert refusal_of(SWAPPED) is None


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.478), ("#123456", "#123456", 1.0)],
)
def test_contrast_is_the_published_one(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.0005)
    assert contrast(other, one) == contrast(one, other)


@given(hex_colours, hex_colours)
def test_contrast_and_tint_agree_with_the_book(one: str, other: str) -> None:
    assert contrast(one, other) == pytest.approx(ratio_by_the_book(one, other), rel=1e-12)
    assert tint(one, other) == softened(one, other)


@settings(max_examples=100 if PROOFS else 10)
@given(first=raw_themes, company=raw_themes, second=raw_themes, start=st.sampled_from([{}, SWAPPED]))
@example(first=SWAPPED, company={"text": "#ffffff"}, second={}, start={})
@example(first={}, company={"dark-bg": "#000000", "bg": "#ffffff"}, second=SWAPPED, start={})
def test_no_accepted_theme_is_ever_shown_below_the_floor(
    first: Theme, company: Theme, second: Theme, start: Theme
) -> None:
    instance = mended(start | first, DEFAULTS)
    own = mended(company, resolve(instance))
    accepted = require_legible(own, resolve(instance))
    later = mended((SWAPPED if not start else {}) | second, DEFAULTS)

    for palette in (
        resolve(instance),
        resolve(instance, own, accepted),
        resolve(later),
        resolve(later, own, accepted),
        resolve({}, own, accepted),
    ):
        assert palette.keys() == DEFAULTS.keys()
        assert list(illegible_pairs(palette)) == []


@settings(max_examples=100 if PROOFS else 10)
@given(instance=raw_themes, own=raw_themes, accepted=raw_themes)
def test_even_rows_that_no_gate_has_seen_are_shown_legibly(instance: Theme, own: Theme, accepted: Theme) -> None:
    palette = resolve(instance, own, accepted)

    assert list(illegible_pairs(palette)) == []


@settings(max_examples=60 if PROOFS else 10)
@given(instance=raw_themes, company=raw_themes)
def test_an_accepted_theme_is_shown_as_it_was_written(instance: Theme, company: Theme) -> None:
    beneath = mended(instance, DEFAULTS)
    own = mended(company, resolve(beneath))

    shown = resolve(beneath, own, require_legible(own, resolve(beneath)))

    assert shown == {**DEFAULTS, **beneath, **own}
    assert overrides(shown, beneath, own) == {**beneath, **own}


def test_a_theme_the_instance_moved_away_from_keeps_the_palette_it_was_accepted_in() -> None:
    own = {"text": "#ffffff", "radius": "2px"}
    accepted = require_legible(own, resolve(SWAPPED))

    shown = resolve({"font": "serif"}, own, accepted)

    assert (shown["text"], shown["bg"]) == ("#ffffff", SWAPPED["bg"])
    assert (shown["radius"], shown["font"]) == ("2px", "serif")


def test_one_modes_conflict_leaves_the_other_mode_alone() -> None:
    own = {"text": "#ffffff", "dark-accent-soft": "#1c2240"}
    beneath = {name: SWAPPED[name] for name in NAMES}
    accepted = require_legible(own, resolve(beneath))

    shown = resolve({"dark-bg": "#000000"}, own, accepted)

    assert shown["bg"] == SWAPPED["bg"]
    assert (shown["dark-accent-soft"], shown["dark-bg"]) == ("#1c2240", "#000000")


def mutations(numbers: random.Random) -> Iterator[object]:
    """Values around the good ones: half of them one edit away, the rest what an attacker or a bug would send."""
    good = ["#3b49df", "#FFFFFF", "0px", "16px", *FONTS]
    edits = [*"\n\r\t \0;}{\\#%é\uff11٣\u202e-.", "/**/", "px"]
    wild: list[object] = [
        *(None, True, 0, 8, 3.5, [], ["#000000"], {}, {"r": 1}, "", "#", "#fff", "#ffff", "#00000000", "0x000000"),
        *("rgb(0,0,0)", "var(--bg)", "url(//x)", "red", "inherit", "expression(1)", "17px", "-1px", "1.5px", "08px"),
        *("8PX", "8em", "8", "Inter", "System", "comic sans", "system, serif", "#0000000", "#gggggg", "\uff03000000"),
    ]
    while True:
        if numbers.random() < 0.15:
            yield numbers.choice(wild)
        elif numbers.random() < 0.3:
            yield f"#{numbers.randrange(1 << 24):06x}"
        else:
            text = numbers.choice(good)
            at = numbers.randrange(len(text) + 1)
            yield text[:at] + numbers.choice(edits) * numbers.randrange(0, 3) + text[at + numbers.randrange(0, 2) :]


def judge(token: str, value: object) -> str | BadToken:
    try:
        return require_well_formed({token: value})[token]
    except BadToken as refused:
        return refused


def test_ten_thousand_fuzzed_values_are_refused_by_name_or_are_clean_css() -> None:
    numbers = random.Random(20)
    taken = refused = 0

    for value in itertools.islice(mutations(numbers), 10_000):
        token = numbers.choice([*COLOURS, *(["radius", "font"] * 20)])
        judged = judge(token, value)
        if isinstance(judged, BadToken):
            refused += 1
            assert judged.facts["token"] == token
        else:
            taken += 1
            assert CLEAN.get(token, A_COLOUR).search(judged), (token, value)

    assert taken > 500
    assert refused > 5_000


@settings(max_examples=500 if PROOFS else 10)
@given(st.dictionaries(st.text() | st.sampled_from(COLOURS), st.text() | st.integers() | st.none(), max_size=3))
def test_any_map_at_all_is_refused_or_clean(theme: dict[str, Any]) -> None:
    try:
        kept = require_well_formed(theme)
    except BadToken:
        return

    assert kept.keys() <= DEFAULTS.keys()
    assert all(re.search(r"\A[#a-z0-9]{3,7}\Z", value) for value in kept.values())


@pytest.mark.parametrize("value", ["#3b49df\n", "\n#3b49df", "#3b49d", "#3b49dg", "#\uff13b49df"])
def test_a_colour_is_exactly_seven_characters(value: str) -> None:
    with pytest.raises(BadToken, match=r'"bg" must be a colour written #rrggbb'):
        require_well_formed({"bg": value})


def test_an_unknown_token_is_named_however_long() -> None:
    with pytest.raises(BadToken) as refused:
        require_well_formed({"x" * 100_000: "#000000"})

    assert refused.value.facts["token"] == "x" * 64 + "…"
    assert len(refused.value.message) < 200


def test_the_refusal_says_which_pair_how_far_and_what_would_do() -> None:
    refused = refusal_of({"accent": "#9aa5ff"})

    assert refused is not None
    assert (
        refused.message
        == 'theme token "accent" is below the contrast floor: on-accent on accent is 2.28:1, needs 4.5:1'
    )
    facts = refused.facts
    assert (facts["token"], facts["pair"], facts["ratio"], facts["needs"]) == (
        "accent",
        ("on-accent", "accent"),
        2.28,
        4.5,
    )
    assert refusal_of({"accent": facts["nearest"]}) is None


def test_a_ratio_just_below_the_floor_does_not_read_as_if_it_met_it() -> None:
    greys = [f"#{n:02x}{n:02x}{n:02x}" for n in range(256)]
    close = [(one, other) for one, other in itertools.product(greys, greys) if 4.495 <= contrast(one, other) < 4.5]
    assert close

    for one, other in close:
        refused = refusal_of({"on-accent": one, "accent": other})
        assert refused is not None
        ratio = refused.facts["ratio"]
        assert isinstance(ratio, float)
        assert ratio < 4.5 or refused.facts["pair"] != ("on-accent", "accent")
        assert "is 4.50:1" not in refused.message


def test_every_failing_token_has_its_own_line() -> None:
    refused = refusal_of({"text": "#ffffff", "dark-text": "#000000", "nav-text": "#fefefe"})

    assert refused is not None
    errors = refused.facts["errors"]
    assert isinstance(errors, list)
    assert [line["path"] for line in errors] == ["theme.text", "theme.nav-text", "theme.dark-text"]


def test_the_token_that_can_be_mended_is_the_one_that_is_named() -> None:
    refused = refusal_of({"text": "#14171f", "bg": "#222222"})

    assert refused is not None
    assert (refused.facts["token"], refused.facts["pair"]) == ("bg", ("text", "bg"))


def test_where_no_colour_passes_none_is_suggested() -> None:
    # Half of the grounds black, half white: nothing can be read on both.
    refused = refusal_of({"text": "#777777", "bg": "#000000"})

    assert refused is not None
    assert (refused.facts["token"], refused.facts["nearest"]) == ("text", None)


@settings(max_examples=300 if PROOFS else 10)
@given(token=st.sampled_from(COLOURS), colour=hex_colours, beneath=st.sampled_from([DEFAULTS, {**DEFAULTS, **SWAPPED}]))
def test_the_nearest_colour_passes_and_keeps_the_hue(token: str, colour: str, beneath: Theme) -> None:
    refused = refusal_of({token: colour}, beneath)
    assume(refused is not None)
    assert refused is not None

    suggested = refused.facts["nearest"]

    assert isinstance(suggested, str)
    assert refusal_of({token: suggested}, beneath) is None
    assert hue_apart(colour, suggested) < 60


def hue_apart(one: str, other: str) -> float:
    """Degrees between two hues on the plain colour wheel; 0 when one of them is too grey to have any."""
    (h1, s1, _), (h2, s2, _) = (
        colorsys.rgb_to_hsv(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))) for colour in (one, other)
    )
    apart = abs(h1 - h2) * 360
    return min(apart, 360 - apart) if min(s1, s2) > 0.15 else 0


def mode_of(token: str) -> str:
    return "dark-" if token.startswith("dark-") else ""


GRID = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in itertools.product(range(0, 256, 17), repeat=3)]


@settings(max_examples=25 if PROOFS else 10)
@given(token=st.sampled_from(COLOURS), colour=hex_colours)
def test_hardly_any_colour_is_nearer_than_the_nearest(token: str, colour: str) -> None:
    refused = refusal_of({token: colour})
    assume(refused is not None)
    assert refused is not None
    distance = difference(colour, str(refused.facts["nearest"]))

    # A just noticeable difference is about 0.02; a colour of another hue may be nearer by that little.
    nearer = [other for other in GRID if difference(colour, other) < distance - 0.03]

    assert not any(is_legible({**DEFAULTS, token: other}, mode_of(token)) for other in nearer)


def test_the_nearest_is_none_when_nothing_passes_and_a_pole_when_only_that_does() -> None:
    assert nearest("#336699", lambda colour: False) is None
    assert nearest("#336699", lambda colour: colour == "#ffffff") == "#ffffff"
    assert nearest("#000000", lambda colour: colour == "#ffffff") == "#ffffff"
    assert nearest("#ffffff", lambda colour: colour == "#000000") == "#000000"


def test_of_a_lighter_and_a_darker_way_out_the_shorter_one_is_taken() -> None:
    assert nearest("#606060", lambda colour: colour <= "#505050" or colour >= "#a0a0a0") == "#505050"
    assert nearest("#909090", lambda colour: colour <= "#505050" or colour >= "#a0a0a0") == "#a0a0a0"

"""One-time codes against RFC 6238's own figures, and recovery codes."""

import base64
import re

import pyotp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.crypto import totp

SEED = base64.b32encode(b"12345678901234567890").decode()
# Appendix B of the RFC, SHA-1; its eight digits end in our six.
VECTORS = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]


@pytest.mark.parametrize(("at", "code"), VECTORS)
def test_the_published_codes_are_accepted_at_their_time(at: int, code: str) -> None:
    assert totp.step_of(SEED, code[-6:], at) == at // 30


@pytest.mark.parametrize(("at", "code"), VECTORS[1:])
@pytest.mark.parametrize(("drift", "fits"), [(-60, False), (-30, True), (30, True), (60, False)])
def test_a_clock_may_be_one_step_off(at: int, code: str, drift: int, fits: bool) -> None:
    assert totp.step_of(SEED, code[-6:], at + drift) == (at // 30 if fits else None)


@given(st.integers(60, 4_000_000_000), st.floats(0, 0.999))
def test_a_code_names_the_step_it_was_made_in(at: int, fraction: float) -> None:
    code = pyotp.TOTP(SEED).at(at)

    step = totp.step_of(SEED, code, at + fraction)

    assert step is not None
    assert abs(step - at // 30) <= 1
    assert pyotp.TOTP(SEED).at(step * 30) == code


@given(st.text(max_size=64))
def test_any_text_is_a_code_or_refused_and_never_an_error(code: str) -> None:
    step = totp.step_of(SEED, code, 59)

    assert step is None or pyotp.TOTP(SEED).at(step * 30) == code


@pytest.mark.parametrize("code", ["", "28708", "2870822", "94287082", "287082 ", "２８７０８２", "28708٢"])  # noqa: RUF001
def test_a_near_miss_is_refused(code: str) -> None:
    assert totp.step_of(SEED, code, 59) is None


def test_seeds_are_long_and_all_different() -> None:
    seeds = {totp.new_secret() for _ in range(100)}

    assert len(seeds) == 100
    assert all(len(base64.b32decode(seed)) >= 20 for seed in seeds)


def test_the_address_is_what_an_app_scans() -> None:
    address = totp.address_of(SEED, "ann@example.test", "Atrium")

    parsed = pyotp.parse_uri(address)
    assert address.startswith("otpauth://totp/Atrium:ann%40example.test?")
    assert isinstance(parsed, pyotp.TOTP)
    assert (parsed.secret, parsed.name, parsed.issuer, parsed.interval) == (SEED, "ann@example.test", "Atrium", 30)


def test_recovery_codes_are_ten_readable_and_all_different() -> None:
    codes = totp.new_recovery_codes()

    assert len(set(codes)) == totp.RECOVERY_CODES == 10
    assert all(re.fullmatch(r"[2-9a-hjkmnp-z]{5}(-[2-9a-hjkmnp-z]{5}){3}", code) for code in codes)


def test_how_a_recovery_code_is_typed_does_not_matter() -> None:
    [code, other, *_] = totp.new_recovery_codes()

    spellings = {code, code.upper(), code.replace("-", ""), code.replace("-", " "), f" {code} "}

    assert {totp.recovery_digest(spelling) for spelling in spellings} == {totp.recovery_digest(code)}
    assert totp.recovery_digest(other) != totp.recovery_digest(code)

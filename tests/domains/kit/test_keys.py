"""Keys: what is sealed opens in its place alone, under any key still on the ring."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.crypto.keys import Keyring, Unsealable, read_secret

OLD, NEW, FOREIGN = "an old key that is long enough to be one", "a new key that is long enough to be one", "f" * 32
ring, renewed, foreign = Keyring(OLD), Keyring(f"{NEW},{OLD}"), Keyring(FOREIGN)
places = st.text(max_size=60)


@given(st.binary(max_size=300), places)
def test_what_is_sealed_opens_in_its_place(plain: bytes, place: str) -> None:
    assert ring.open(ring.seal(plain, place), place) == plain


@given(st.binary(max_size=60), places, places)
def test_in_any_other_place_it_does_not_open(plain: bytes, place: str, other: str) -> None:
    if place == other:
        other += "x"

    with pytest.raises(Unsealable):
        ring.open(ring.seal(plain, place), other)


@given(st.binary(max_size=40), st.data())
def test_a_flipped_bit_anywhere_does_not_open(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(ring.seal(plain, "place"))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(Unsealable):
        ring.open(bytes(sealed), "place")


@given(st.binary(max_size=40), st.data())
def test_a_cut_or_grown_seal_does_not_open(plain: bytes, data: st.DataObject) -> None:
    sealed = ring.seal(plain, "place")
    cut = sealed[: data.draw(st.integers(0, len(sealed) - 1))]

    for damaged in (cut, sealed + b"x", b"x" + sealed):
        with pytest.raises(Unsealable):
            ring.open(damaged, "place")


@given(st.binary(max_size=80))
def test_bytes_that_nobody_sealed_do_not_open(junk: bytes) -> None:
    with pytest.raises(Unsealable):
        ring.open(junk, "place")


@given(st.binary(min_size=8, max_size=60))
def test_a_seal_shows_nothing_and_is_never_the_same_twice(plain: bytes) -> None:
    first, second = ring.seal(plain, "place"), ring.seal(plain, "place")

    assert plain not in first
    assert first != second


def test_a_renewed_ring_opens_the_old_and_seals_with_the_new() -> None:
    old, new = ring.seal(b"secret", "place"), renewed.seal(b"secret", "place")

    assert renewed.open(old, "place") == renewed.open(new, "place") == b"secret"
    assert (renewed.is_current(old), renewed.is_current(new), ring.is_current(old)) == (False, True, True)
    with pytest.raises(Unsealable):
        ring.open(new, "place")


def test_a_ring_without_the_key_opens_nothing() -> None:
    with pytest.raises(Unsealable):
        foreign.open(ring.seal(b"secret", "place"), "place")


@given(st.binary(max_size=60), st.text(max_size=20))
def test_a_signature_holds_for_its_message_and_purpose_alone(message: bytes, purpose: str) -> None:
    tag = ring.sign(purpose, message)

    assert ring.verify(purpose, message, tag)
    assert renewed.verify(purpose, message, tag)
    assert not ring.verify(purpose + "x", message, tag)
    assert not ring.verify(purpose, message + b"x", tag)
    assert not ring.verify(purpose, message, tag[:-1] + bytes([tag[-1] ^ 1]))
    assert not ring.verify(purpose, message, tag[:-1])
    assert not ring.verify(purpose, message, b"")
    assert not foreign.verify(purpose, message, tag)


@pytest.mark.parametrize("secret", ["", " ", ",", "short", "x" * 31, f"{OLD},short", f"short,{OLD}", f" {'x' * 31} "])
def test_a_short_key_is_refused_by_name(secret: str) -> None:
    with pytest.raises(ValueError, match="SERVICE_SECRET_KEY"):
        Keyring(secret)


def test_spaces_and_a_stray_comma_around_keys_do_not_matter() -> None:
    assert Keyring(f" {NEW} , {OLD} ,").open(ring.seal(b"secret", "place"), "place") == b"secret"


def test_a_configured_key_is_the_key(tmp_path: Path) -> None:
    assert read_secret(OLD, tmp_path / "data") == OLD
    assert not (tmp_path / "data").exists()


def test_without_one_a_key_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"

    made = read_secret("", folder)

    assert read_secret("", folder) == made
    assert stat.S_IMODE(os.stat(folder / "secret.key").st_mode) == 0o600
    assert os.listdir(folder) == ["secret.key"]
    Keyring(made)


def test_two_folders_get_two_keys(tmp_path: Path) -> None:
    assert read_secret("", tmp_path / "one") != read_secret("", tmp_path / "two")

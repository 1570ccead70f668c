"""Raw tokens: recognisable, unguessable, and refused after any single slip of the pen."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.crypto.tokens import PREFIXES, digest_of, is_well_formed, new_token

ALPHABET = string.ascii_letters + string.digits + "_-"


@pytest.mark.parametrize("kind", sorted(PREFIXES))
def test_a_token_shows_its_kind(kind: str) -> None:
    token = new_token(kind)

    assert token.startswith(PREFIXES[kind])
    assert len(token) == 53
    assert token[4:].isalnum()
    assert is_well_formed(token.encode())


@pytest.mark.parametrize("kind", ["session", "token"])
def test_any_single_changed_character_is_refused(kind: str) -> None:
    token = new_token(kind)

    accepted = [
        token[:at] + other + token[at + 1 :]
        for at in range(len(token))
        for other in ALPHABET
        if other != token[at] and is_well_formed((token[:at] + other + token[at + 1 :]).encode())
    ]

    assert accepted == []


def test_any_two_neighbours_that_changed_places_are_refused() -> None:
    token = new_token("token")

    swapped = [token[:at] + token[at + 1] + token[at] + token[at + 2 :] for at in range(len(token) - 1)]

    assert [one for one in swapped if one != token and is_well_formed(one.encode())] == []


def test_a_missing_or_an_extra_character_is_refused() -> None:
    token = new_token("session")

    assert not [at for at in range(len(token)) if is_well_formed((token[:at] + token[at + 1 :]).encode())]
    assert not is_well_formed(token.encode() + b"0")
    assert not is_well_formed(b" " + token.encode())


def test_ten_thousand_tokens_are_all_different() -> None:
    tokens = {new_token("token") for _ in range(10_000)}

    assert len(tokens) == len({token[4:47] for token in tokens}) == 10_000


def test_every_place_takes_many_characters() -> None:
    tokens = [new_token("token") for _ in range(2_000)]

    # The first place of 43 holds what 256 bits leave over, so it is not even; all others take the whole alphabet.
    assert min(len({token[at] for token in tokens}) for at in range(5, 47)) == 62


@given(st.binary(max_size=80))
def test_bytes_that_are_no_token_are_refused(junk: bytes) -> None:
    assert not is_well_formed(junk)


def test_a_digest_is_a_digest() -> None:
    token = new_token("token").encode()

    assert len(digest_of(token)) == 32
    assert digest_of(token) == digest_of(bytes(token)) != digest_of(token + b"x")

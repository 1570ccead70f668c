"""Keys: what is one, and where those with a prefix end."""

from html import escape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.engine.repository.object_keys import BadKey, after_all_with, name_in, require_key

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@given(st.text(CHARACTERS, min_size=1), st.text(CHARACTERS))
def test_everything_with_a_prefix_is_before_its_end(prefix: str, rest: str) -> None:
    end = after_all_with(prefix)

    assert end is None or (prefix + rest).encode() < end.encode()


@given(st.text(CHARACTERS, min_size=1), st.text(CHARACTERS))
def test_nothing_without_the_prefix_is_between(prefix: str, other: str) -> None:
    end = after_all_with(prefix)
    inside = prefix.encode() <= other.encode() and (end is None or other.encode() < end.encode())

    assert inside == other.startswith(prefix)


def test_nothing_is_after_everything_with_the_last_character() -> None:
    assert after_all_with("\U0010ffff") is None
    assert after_all_with("a\U0010ffff") == "b"
    assert after_all_with("") is None


@given(st.text())
def test_a_key_is_accepted_when_it_is_short_and_xml_can_carry_it(key: str) -> None:
    try:
        ElementTree.fromstring(f"<k>{escape(key)}</k>".encode())
        fine = 1 <= len(key.encode()) <= 1024 and not any("\x80" <= character <= "\x9f" for character in key)
    except (UnicodeEncodeError, ElementTree.ParseError):
        fine = False

    if fine:
        assert require_key(key) == key
    else:
        with pytest.raises(BadKey):
            require_key(key)


@pytest.mark.parametrize(("key", "name"), [("a/b.txt", "b.txt"), ("a/", "a"), ("/", "object"), ("x" * 400, "x" * 255)])
def test_a_name_is_the_last_part(key: str, name: str) -> None:
    assert name_in(key) == name

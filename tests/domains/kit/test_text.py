"""Slugs made from names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrium.kit.text.plain import slug_of


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme Ltd", "acme-ltd"),
        ("Grüne Räume", "grune-raume"),
        ("  --A__B--  ", "a-b"),
        ("ﬁne №5", "fine-no5"),
        ("公司", "company"),
        ("", "company"),
        ("x" * 100, "x" * 63),
        ("a" * 62 + " bcd", "a" * 62),
    ],
)
def test_a_name_becomes_a_slug(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text(max_size=200))
def test_any_name_gives_a_slug_the_table_takes(name: str) -> None:
    slug = slug_of(name)

    assert re.fullmatch(r"[a-z0-9-]{1,63}", slug)
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert slug_of(slug) == slug

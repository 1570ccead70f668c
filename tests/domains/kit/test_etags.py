"""Entity tags."""

import pytest

from atrium.kit.errors import Stale
from atrium.kit.web.etags import etag_of, names_tag, require_current


def test_a_tag_differs_when_a_fact_does() -> None:
    assert etag_of("a", None) == etag_of("a", None)
    assert len({etag_of("a", None), etag_of("a", "b"), etag_of("ab"), etag_of(["a"], None)}) == 4


@pytest.mark.parametrize("header", ['"one"', ' "one" ', '"other", "one"', "*"])
def test_a_header_that_names_the_tag(header: str) -> None:
    assert names_tag(header, '"one"')


@pytest.mark.parametrize("header", ['"other"', 'W/"one"', "one", "", '"one'])
def test_a_header_that_does_not(header: str) -> None:
    assert not names_tag(header, '"one"')


def test_a_stale_tag_is_refused_with_the_current_one() -> None:
    require_current(None, '"now"')
    with pytest.raises(Stale) as refusal:
        require_current('"then"', '"now"')
    assert refusal.value.facts["current"] == '"now"'

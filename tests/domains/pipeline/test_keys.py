"""Keys of documents that are made from others."""

from hypothesis import assume, given
from hypothesis import strategies as st

from atrium.engine.repository.object_keys import LONGEST_KEY, is_writable, require_key
from atrium.product.pipeline.model import derived_key

KEYS = st.text(min_size=1, max_size=1100).filter(lambda key: len(key.encode()) <= LONGEST_KEY and is_writable(key))
LONG = st.builds(
    lambda end, fill: (fill * 1100).encode()[: LONGEST_KEY - 8].decode("utf-8", "ignore") + end,
    st.text("ab/.", max_size=8),
    st.sampled_from("aþ€😀"),
)
ENDINGS = st.sampled_from(["fields.json", "form.md", "es.md", "pt-BR.md", "zh-Hant-TW.md"])


@given(key=KEYS | LONG, ending=ENDINGS)
def test_it_is_a_key_beside_its_source(key: str, ending: str) -> None:
    made = derived_key(key, ending)

    assert require_key(made) == made
    assert made.endswith(f".{ending}")
    assert made != key
    if len(key.encode()) + len(ending) < LONGEST_KEY:
        assert made == f"{key}.{ending}"
    # In the same folder, as far as the name of the source was not cut.
    assert made.startswith(key[:200])


@given(one=LONG, other=LONG, ending=ENDINGS)
def test_two_sources_never_have_one(one: str, other: str, ending: str) -> None:
    assume(one != other)

    assert derived_key(one, ending) != derived_key(other, ending)
